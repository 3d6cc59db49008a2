"""The committed files in contracts/ are up to date, and each one can be used alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema_rs
import orjson
import pytest
from click.testing import CliRunner
from ruamel.yaml import YAML

from contracts.generator import writer
from contracts.generator.__main__ import main
from simulator.contract.files import contract_file, contracts_directory
from simulator.engine.scenario.files.shipped import shipped_directory
from simulator.engine.text.json import JsonObject
from simulator.host import vocabulary
from tests.shipped import generated


def test_committed_contract_is_up_to_date(files: dict[str, bytes]) -> None:
    assert writer.differences(contracts_directory(), files) == [], "run: python -m contracts.generator write"


def test_yaml_round_trips(document: dict[str, Any]) -> None:
    assert generated("openapi.yaml") == document


def test_yaml_1_1_and_1_2_readers_agree(files: dict[str, bytes]) -> None:
    assert YAML(typ="safe", pure=True).load(files["control.yaml"]) == orjson.loads(files["control.json"])


def test_every_event_type_has_its_own_schema(files: dict[str, bytes]) -> None:
    assert all(vocabulary().shapes_of(event) for event in vocabulary().events)
    assert {name for name in files if name.startswith("events/") and name.endswith(".json")} == {
        f"events/{event_type}.schema.json" for event_type in vocabulary().events
    }


@pytest.mark.parametrize("event_type", vocabulary().events)
def test_event_schema_validates_real_envelopes(
    event_type: str, files: dict[str, bytes], events: Sequence[JsonObject]
) -> None:
    schema = orjson.loads(files[f"events/{event_type}.schema.json"])
    validator = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)
    envelopes = [event for event in events if event["type"] == event_type]
    assert envelopes
    for envelope in envelopes:
        assert [error.message for error in validator.iter_errors(envelope)] == []
    broken = {**envelopes[0], "type": "nothing.happened"}
    assert not validator.is_valid(broken)


def test_every_shipped_scenario_matches_and_names_its_schema(files: dict[str, bytes]) -> None:
    validator = jsonschema_rs.Draft202012Validator(orjson.loads(files["scenario.schema.json"]))
    paths = sorted(shipped_directory().glob("*.yaml"))
    assert paths
    for path in paths:
        text = path.read_text("utf-8")
        assert text.splitlines()[0] == "# yaml-language-server: $schema=../contracts/scenario.schema.json"
        scenario = YAML(typ="safe", pure=True).load(text)
        assert [error.message for error in validator.iter_errors(scenario)] == [], path.name


def test_stale_file_is_reported_and_rewritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, bytes]
) -> None:
    monkeypatch.setattr(writer, "generate", lambda: files)
    assert "missing: openapi.yaml" in writer.differences(tmp_path, files)
    writer.write(tmp_path)
    (tmp_path / "README.md").write_text("by hand")
    (tmp_path / "stray.txt").write_text("?")
    runner = CliRunner()
    refused = runner.invoke(main, ["check", str(tmp_path)])
    assert (refused.exit_code, refused.output) == (1, "does not belong: stray.txt\ndiffers: README.md\n")
    assert runner.invoke(main, ["write", str(tmp_path)]).exit_code == 0
    assert runner.invoke(main, ["check", str(tmp_path)]).output == "up to date\n"


def test_shipped_files_are_found() -> None:
    for name in ("openapi.yaml", "control.yaml", "scenario.schema.json", "assumptions.md"):
        assert contract_file(name) == (contracts_directory() / name).read_bytes()
