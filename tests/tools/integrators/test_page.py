"""The tests on the page "In your tests" work in every way in which they can be run.

`tests/tools/docs/test_snippets.py` checks that each block works unchanged, as on all pages.
"""

from __future__ import annotations

import re
import subprocess
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests import snippets
from tests.places import ROOT

PAGE = (ROOT / "simulator/docs/how-to/in-your-tests.md").read_text("utf-8")
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
FILES = {block.said: block.text for block in snippets.blocks(PAGE) if block.mark == "file"}
TESTS = [name for name in FILES if name.endswith(".py") and "/" not in name]  # applications have folders of their own
_INSTALLS = re.compile(r"pip install .*")


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A project of its own with the page's tests in it."""
    for name in TESTS:
        (tmp_path / name).write_text(FILES[name])
    # What else is installed here is no part of the page; importing that one takes longer than all of its tests.
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider -p no:schemathesis\n")
    return tmp_path


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return snippets.surroundings(tmp_path)


def run(words: list[str], directory: Path, environment: Mapping[str, str]) -> str:
    """Return a command's output. Fail with the output if the exit code is not 0."""
    done = subprocess.run(words, cwd=directory, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{words}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout + done.stderr


@pytest.mark.farm
@pytest.mark.parametrize("words", [(), ("-n", "2"), ("--simulator=inprocess",)], ids=["alone", "workers", "inprocess"])
def test_every_test_of_the_page_passes(words: tuple[str, ...], directory: Path, environment: dict[str, str]) -> None:
    report = directory / "report.xml"
    run(["pytest", *words, f"--junitxml={report}"], directory, environment)
    suites = ET.parse(report).getroot().iter("testcase")
    passed = {f"{case.get('classname')}.{case.get('name')}".rpartition(".")[2] for case in suites}
    written = {name for text in (FILES[file] for file in TESTS) for name in re.findall(r"def (test_\w+)", text)}
    assert passed == written


@pytest.mark.farm
def test_the_unittest_runs_by_itself(directory: Path, environment: dict[str, str]) -> None:
    assert "OK" in run(["python", "test_unittest.py"], directory, environment)


def requirements() -> Iterator[str]:
    """What `pip install` is told, on every line of the page that has one."""
    for line in PAGE.splitlines():
        if _INSTALLS.fullmatch(line):
            yield from re.findall(r'"([^"]*)"', line)


def test_what_is_installed_is_this_project_with_an_extra_that_it_has() -> None:
    found = list(requirements())
    assert len(found) == 3
    for requirement in found:
        named = re.fullmatch(r"(\w+)\[(\w+)\] @ git\+https://\S+", requirement)
        file = re.fullmatch(r"[./][^\[]*/(?:(\w+)-[\d.]+-py3-none-any\.whl|the/checkout)\[(\w+)\]", requirement)
        match = named or file
        assert match is not None, requirement
        assert match[1] in (PROJECT["name"], None)
        assert match[2] in PROJECT["optional-dependencies"]
