"""The decisions on the interface as a whole (`simulator/decisions.yaml`): what the specification leaves open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import simulator
from simulator.scenario.document import read
from simulator.wire.assumptions import Assumption

FILE = Path(simulator.__file__).with_name("decisions.yaml")


@dataclass(frozen=True, slots=True)
class Decision(Assumption):
    """A decision: also the point it settles, and why it was needed."""

    point: str
    why: str


def _read() -> Mapping[str, tuple[Decision, ...]]:
    chapters: dict[str, list[dict[str, str]]] = read(FILE.read_text("utf-8")).value
    return {chapter: tuple(Decision(**row) for row in rows) for chapter, rows in chapters.items()}


DECISIONS: Mapping[str, tuple[Decision, ...]] = _read()
"""By chapter, in the order of the page."""
