"""The decisions on the interface as a whole (`simulator/decisions.yaml`): what the specification leaves open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import simulator
from simulator.scenario.document import read

FILE = Path(simulator.__file__).with_name("decisions.yaml")


@dataclass(frozen=True, slots=True)
class Assumption:
    """What had to be decided: its id (unique among all), its whole text, what rests on it, how to find out."""

    id: str
    text: str
    rests_on: str
    find_out: str


@dataclass(frozen=True, slots=True)
class Decision(Assumption):
    """A decision: also the point it settles, and why it was needed."""

    point: str
    why: str


def data_of(file: Path) -> Any:
    """What a YAML file says; ValueError for one that cannot be read, or in which a name stands twice."""
    document = read(file.read_text("utf-8"))
    for problem in document.problems:
        raise ValueError(f"{file}:{problem.line}: {problem.message}")
    return document.value


def _read() -> Mapping[str, tuple[Decision, ...]]:
    chapters: dict[str, list[dict[str, str]]] = data_of(FILE)
    return {chapter: tuple(Decision(**row) for row in rows) for chapter, rows in chapters.items()}


DECISIONS: Mapping[str, tuple[Decision, ...]] = _read()
"""By chapter, in the order of the page."""
