"""Value objects for whole worlds: blueprints, states and snapshots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from decimal import Decimal
from operator import is_
from typing import Any

from simulator.engine.records.requests import JournalEntry
from simulator.engine.scenario.files.library import ScenarioFile
from simulator.engine.worlds import observations
from simulator.engine.worlds.settings import DEFAULTS, MANUAL_START
from simulator.kernel.clock import parse_timestamp
from simulator.kernel.dataclass import dataclass


@dataclass(frozen=True)
class Blueprint:
    """The parameters with which a world was created. They are used to reset it."""

    id: str
    seed: int
    mode: str = "manual"
    now_ms: int = parse_timestamp(MANUAL_START)
    rate: Decimal = Decimal(1)
    scenarios: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=lambda: {**DEFAULTS})
    keys_of: str = ""
    """The id from which keys are derived, or "" for the world's own id."""
    at_wall_time: bool = False
    """True if a reset sets the clock to the current wall-clock time, as for a real clock without a given start time."""
    observed: tuple[observations.Observed, ...] = ()
    """The observed files (files of observations of the real service) that the world is based on."""

    def settings_in_force(self) -> Mapping[str, Any]:
        """Return the settings. The observed alternatives apply to assumptions without a selected alternative."""
        if not self.observed:
            return self.settings
        seen = observations.alternatives_in(self.observed)
        return {**self.settings, "assumptions": {**seen, **self.settings.get("assumptions", {})}}


@dataclass(frozen=True)
class WorldState:
    """The whole state of a world at one time. Worlds share its tables, so the caller must not change them."""

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
    """The approximate size of the request journal in bytes, or None if it is not known."""
    requests_dropped: int = 0
    """The number of requests that the journal had dropped. It is not part of documents."""


@dataclass(frozen=True)
class InitialState:
    """The initial state of a world and the inputs from which it was built, so that a reset need not build it again."""

    state: WorldState
    uploaded: Mapping[str, Any]
    files: Sequence[ScenarioFile | None]

    def built_from(
        self, blueprint: Blueprint, uploaded: Mapping[str, Any], files: Sequence[ScenarioFile | None]
    ) -> bool:
        """Return True if the state was built from these same objects. They are compared by identity, because 1 and 1.0
        are equal but produce different states.
        """
        given, known = (*uploaded.values(), *files), (*self.uploaded.values(), *self.files)
        return (
            self.state.blueprint is blueprint and list(self.uploaded) == list(uploaded) and all(map(is_, given, known))
        )


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A saved state from which a world can be restored or forked."""

    id: str
    name: str | None
    state: WorldState
