"""`contracts/reference.json`: what the reference page says beside the contract itself.

By event the scenario that shows it; by operation and code the one that shows this refusal; by code a few; and the
beginning of every assumption that the contract rests on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from textwrap import shorten
from typing import Any

from contracts.generator.assumptions import all_assumptions
from contracts.generator.coverage_page import SCENARIOS_NAMED, Coverage
from contracts.generator.evidence import Evidence
from contracts.generator.reference_page.fields import Reader
from simulator.contract.files import operations_of
from simulator.engine.text.json import JsonObject, Shown
from simulator.host import vocabulary

_LONGEST = 60
"""The length of an assumption in this file; assumptions.md has the full text."""


def build(document: Shown, found: Iterable[Evidence]) -> JsonObject:
    coverage = Coverage(found)
    texts = {entry.id: entry.text for entry in all_assumptions()}
    used = set(_bases(document))
    reader = Reader(document)
    codes = {
        operation["operationId"]: [
            code for answer in operation["responses"].values() for code in reader.follow(answer).get("x-codes", {})
        ]
        for _, _, operation in operations_of(document)
    }
    return {
        "refusals": {
            row.name: {code: name for code in codes[row.name] if (name := _first(coverage.refusal(row, code)))}
            for row in coverage.operations
            if row.name in codes
        },
        "codes": {code: _scenarios(coverage.code(code))[:SCENARIOS_NAMED] for code in vocabulary().errors},
        "events": {name: _first(coverage.event(name)) for name in vocabulary().events},
        "assumptions": {
            name: shorten(text, _LONGEST, placeholder=" …") for name, text in texts.items() if name in used
        },
    }


def _scenarios(names: list[str]) -> list[str]:
    """The names of scenarios among what shows something."""
    return [name for name in names if " " not in name]


def _first(names: list[str]) -> str:
    return next(iter(_scenarios(names)), "")


def _bases(part: Any) -> Iterator[str]:
    if isinstance(part, Mapping):
        if part.get("x-provenance") == "assumed":
            yield str(part.get("x-basis", ""))
        if isinstance(part.get("x-assumed-basis"), Mapping):
            yield from map(str, part["x-assumed-basis"].values())
        for member in part.values():
            yield from _bases(member)
    elif isinstance(part, list):
        for member in part:
            yield from _bases(member)
