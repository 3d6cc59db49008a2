"""Whole worlds as values: blueprints, states and snapshots."""

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
    """The parameters of a world's creation, for resets."""

    id: str
    seed: int
    mode: str = "manual"
    now_ms: int = parse_timestamp(MANUAL_START)
    rate: Decimal = Decimal(1)
    scenarios: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=lambda: {**DEFAULTS})
    keys_of: str = ""
    """The id that keys are derived from; "" for its own."""
    at_wall_time: bool = False
    """Whether a reset starts at the present wall clock, like a real clock without a given start."""


@dataclass(frozen=True)
class WorldState:
    """The whole state of a world at one instant. Worlds share its tables, so the caller must not change them."""

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
    """The approximate size of the journal of calls in bytes; None if it is not known."""
    requests_dropped: int = 0
    """How many calls the journal had dropped. Documents do not contain it."""


@dataclass(frozen=True)
class InitialState:
    """The initial state of a world and its inputs, so that a reset does not build it again from equal inputs."""

    state: WorldState
    uploaded: Mapping[str, Any]
    files: Sequence[ScenarioFile | None]

    def built_from(
        self, blueprint: Blueprint, uploaded: Mapping[str, Any], files: Sequence[ScenarioFile | None]
    ) -> bool:
        """Return True if these are the very same inputs.

        Identity is required because 1 and 1.0 are equal but not alike.
        """
        given, known = (*uploaded.values(), *files), (*self.uploaded.values(), *self.files)
        return (
            self.state.blueprint is blueprint and list(self.uploaded) == list(uploaded) and all(map(is_, given, known))
        )


@dataclass(frozen=True)
class Snapshot:
    """A saved state to restore or fork from."""

    id: str
    name: str | None
    state: WorldState
