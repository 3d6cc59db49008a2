"""Whole worlds as values: how one was made, its state at an instant, and the snapshots that are kept of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from decimal import Decimal
from operator import is_
from typing import Any

from simulator.engine.records.requests import JournalEntry
from simulator.engine.scenario.files.library import ScenarioFile
from simulator.engine.worlds.settings import DEFAULTS, MANUAL_START
from simulator.kernel.clock import parse_timestamp
from simulator.kernel.dataclass import dataclass


@dataclass(frozen=True)
class Blueprint:
    """How a world was made, so that a reset makes it again. `keys_of`: what its keys are derived from ("" = its id).

    `at_wall_time`: it began at the wall clock of its making, as a real clock does unless another start was given; a
    reset begins at the wall clock again.
    """

    id: str
    seed: int
    mode: str = "manual"
    now_ms: int = parse_timestamp(MANUAL_START)
    rate: Decimal = Decimal(1)
    scenarios: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=lambda: {**DEFAULTS})
    keys_of: str = ""
    at_wall_time: bool = False


@dataclass(frozen=True)
class WorldState:
    """The whole state of a world at one instant. Worlds share its tables, so nobody may change them.

    `requests_size`: about how many bytes the journal of calls takes; None where nobody has added it up.
    `requests_dropped`: how many calls it had dropped, which documents do not say.
    """

    blueprint: Blueprint
    world_id: str
    keys_of: str
    seed: int
    mode: str
    now_ms: int
    rate: Decimal
    started_at_ms: int
    tables: Mapping[str, dict[str, Any]]
    requests: tuple[JournalEntry, ...]
    requests_size: int | None = None
    requests_dropped: int = 0


@dataclass(frozen=True)
class Beginning:
    """The state in which a world began, and what it was made of, so that it is not made once more from the same."""

    state: WorldState
    uploaded: Mapping[str, Any]
    files: Sequence[ScenarioFile | None]

    def fits(self, blueprint: Blueprint, uploaded: Mapping[str, Any], files: Sequence[ScenarioFile | None]) -> bool:
        """Whether the same would be made of this again: of these very objects, for 1 and 1.0 are equal, not alike."""
        given, known = (*uploaded.values(), *files), (*self.uploaded.values(), *self.files)
        return (
            self.state.blueprint is blueprint and list(self.uploaded) == list(uploaded) and all(map(is_, given, known))
        )


@dataclass(frozen=True)
class Snapshot:
    """A state that is kept to go back to, or to fork from."""

    id: str
    name: str | None
    state: WorldState
