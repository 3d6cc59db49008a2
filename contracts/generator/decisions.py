"""Decisions about the API as a whole, from `simulator/providers/ramp/decisions.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import simulator
from simulator.engine.scenario.language.document import read

FILE = Path(simulator.__file__).parent / "providers" / "ramp" / "decisions.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumption:
    """A choice where the specification is silent.

    An assumption about the API has a reason and a way to settle it with the real service. Without `find_out` it
    concerns only the simulator.
    """

    id: str
    text: str
    rests_on: str
    why: str = ""
    find_out: str = ""
    named_at: tuple[str, ...] = ()
    """Patterns of operations and events in the contract that cite it; see `named.at_operations`."""

    @property
    def own(self) -> bool:
        return not self.find_out


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision(Assumption):
    """An assumption about the API as a whole, with the point that it settles."""

    point: str


def data_of(file: Path) -> Any:
    """Return the content of a YAML file. Raises ValueError for invalid YAML or duplicate keys."""
    document = read(file.read_text("utf-8"))
    for problem in document.problems:
        raise ValueError(f"{file}:{problem.line}: {problem.message}")
    return document.value


def _read() -> Mapping[str, tuple[Decision, ...]]:
    chapters: dict[str, list[dict[str, Any]]] = data_of(FILE)
    return {
        chapter: tuple(Decision(**{**row, "named_at": tuple(row.get("named_at", ()))}) for row in rows)
        for chapter, rows in chapters.items()
    }


DECISIONS: Mapping[str, tuple[Decision, ...]] = _read()
"""The decisions by chapter, in the order of the page."""
