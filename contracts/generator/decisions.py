"""Decisions on the interface as a whole: `simulator/providers/ramp/decisions.yaml`."""

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
    """A point that had to be decided: an id (unique among all), the whole text, and what rests on it.

    An assumption about the interface says why it was needed and how to find out against the real service. One without
    `find_out` is the simulator's own: the real service has no such thing.
    """

    id: str
    text: str
    rests_on: str
    why: str = ""
    find_out: str = ""
    named_at: tuple[str, ...] = ()
    """Patterns of the operations and events at which the contract names it; see `named.at_operations`."""

    @property
    def own(self) -> bool:
        return not self.find_out


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision(Assumption):
    """An assumption about the interface as a whole: also the point it settles."""

    point: str


def data_of(file: Path) -> Any:
    """What a YAML file says; ValueError for one that cannot be read, or in which a name stands twice."""
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
"""By chapter, in the order of the page."""
