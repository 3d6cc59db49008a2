"""The shipped scenarios: known by name, and read from their compiled form or from the file."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from simulator.engine.scenario.files.library import Library
from simulator.engine.scenario.files.loader import ScenarioError
from simulator.engine.scenario.files.shipped import line_of, shipped_library
from tests.library import vocabulary

VOCABULARY = vocabulary()
RAIN = "name: rain\ndescription: It rains.\nrules:\n  - on: created\n    do: []\n"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "rain.yaml").write_text(RAIN)
    return tmp_path / "scenarios"


def library(directory: Path) -> Library:
    return shipped_library(VOCABULARY, directory, directory.parent / "read.json")


def compile_file(directory: Path, **changes: object) -> None:
    """Write a compiled form that differs from the file."""
    line = orjson.loads(b"{%s}" % line_of(directory / "rain.yaml", library(directory)["rain"]))
    line["rain"]["document"] |= {"description": "Kept.", **changes}
    (directory.parent / "read.json").write_bytes(b"{\n%s\n}\n" % orjson.dumps(line)[1:-1])


def test_unchanged_file_uses_its_compiled_form(directory: Path) -> None:
    assert library(directory)["rain"].description == "It rains."
    compile_file(directory)
    kept = library(directory)["rain"]
    assert (kept.description, kept.source, kept.lines) == ("Kept.", "scenarios/rain.yaml", {"rules[0]": 4})
    (directory / "rain.yaml").write_text(RAIN.replace("rains", "pours"))
    assert library(directory)["rain"].description == "It pours."


def test_file_without_compiled_form_is_parsed(directory: Path) -> None:
    compile_file(directory)
    (directory / "snow.yaml").write_text("name: snow\nwith: [rain]\n")
    assert list(library(directory)) == ["rain", "snow"]
    assert library(directory)["snow"].scenario.below == ["rain"]


def test_names_are_known_without_reading(directory: Path) -> None:
    (directory / "snow.yaml").write_text("name: [")
    names = library(directory)
    assert list(names) == ["rain", "snow"]
    assert "snow" in names
    with pytest.raises(ScenarioError, match=r"scenarios/snow\.yaml:2:1"):
        _ = names["snow"]


def test_a_file_has_the_name_of_its_scenario(directory: Path) -> None:
    (directory / "snow.yaml").write_text("name: hail\n")
    with pytest.raises(ScenarioError, match="must be `snow`"):
        _ = library(directory)["snow"]
