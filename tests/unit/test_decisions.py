"""Decisions cited by code and tests are in `simulator/providers/ramp/decisions.yaml`, and each one there has a test."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from contracts.generator.decisions import DECISIONS
from tests.places import ROOT

IDS = {entry.id for rows in DECISIONS.values() for entry in rows}
_ID = r"(?:[A-Z][0-9]{1,2}|simulator\b)"
_SOME = rf"{_ID}(?:(?:,| and|, and| to)\s+{_ID})*"
_CITED = re.compile(
    rf"\b[Dd]ecisions?\s+{_SOME}|\({_SOME}[;,)]|basis=\"{_ID}\"|\bdef test_(?P<name>[a-z][0-9]{{1,2}})_"
)


def cited(text: str) -> Iterator[str]:
    """Every decision that a text cites: "decision H2", "decisions H4 to H6", "(H2, S9)" or a test's name, test_h2_…"""
    for match in _CITED.finditer(text):
        if match["name"]:
            yield match["name"].upper()
        for first, last in re.findall(rf"({_ID})(?:\s+to\s+({_ID}))?", match[0]):
            numbers = range(int(first[1:]), int(last[1:]) + 1) if last else ()
            yield from (f"{first[0]}{number}" for number in numbers) if last else (first,)


def sources(*folders: str) -> Iterator[tuple[str, str]]:
    """The path and the text of every module below some folders."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), path.read_text("utf-8")


def _tests_of(text: str) -> Iterator[str]:
    """The text of each test of a module."""
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield "\n".join(lines[node.lineno - 1 : node.end_lineno])


def test_every_decision_that_is_cited_is_written_down() -> None:
    found = {name: path for path, text in sources("simulator", "contracts/generator", "tests") for name in cited(text)}
    assert len(found) > 60
    assert {name: path for name, path in found.items() if name not in IDS} == {}


def test_every_decision_is_cited_by_a_test_that_holds_it() -> None:
    """What stands at the head of a module says what it is about; here the name or the text of a test itself counts."""
    own = Path(__file__).relative_to(ROOT).as_posix()
    texts = [text for path, text in sources("tests") if path != own]
    held = {name for text in texts if any(cited(text)) for test in _tests_of(text) for name in cited(test)}
    assert IDS - held == set()


def test_a_citation_is_read_in_all_its_forms() -> None:
    assert list(cited("decisions H4 to H6, and H9")) == ["H4", "H5", "H6", "H9"]
    assert list(cited("Decision S12: deposits.")) == ["S12"]
    assert list(cited("the order of checks (H2, S9)")) == ["H2", "S9"]
    assert list(cited("def test_h20_names() -> None:")) == ["H20"]
    assert list(cited("an action (X)")) == []
