"""What code and tests cite as a decision, by its id, is written down in `simulator/decisions.yaml`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from contracts.generator.decisions import DECISIONS

ROOT = Path(__file__).resolve().parents[1]
IDS = {entry.id for rows in DECISIONS.values() for entry in rows}
_ID = r"[A-Z][0-9]{1,2}"
_SOME = rf"{_ID}(?:(?:,| and|, and| to)\s+{_ID})*"
_CITED = re.compile(rf"\b[Dd]ecisions?\s+{_SOME}|\({_SOME}[;,)]|basis=\"{_ID}\"")

UNCITED = "H1 H3 H8 H11 H13 H16 H19 L3 L4 M1 M4 M7 M15 R2 R3 R7 S3 S4 S6 S11 S12 S13 S15 S16 S17 S19 S20 S21"
"""Decisions that no test cites yet: whoever makes a test cite one takes it out here."""


def citations(*folders: str) -> Iterator[tuple[str, str]]:
    """Every decision that is cited below some folders, with the file that cites it."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for match in _CITED.finditer(path.read_text("utf-8")):
                for identifier in re.findall(_ID, match[0]):
                    yield identifier, path.relative_to(ROOT).as_posix()


def test_every_decision_that_is_cited_is_written_down() -> None:
    cited = dict(citations("simulator", "contracts/generator", "tests"))
    assert len(cited) > 60
    assert {name: place for name, place in cited.items() if name not in IDS} == {}


def test_every_decision_is_cited_by_a_test_but_those_that_are_known() -> None:
    assert IDS - {name for name, _ in citations("tests")} - {"simulator"} <= set(UNCITED.split())
