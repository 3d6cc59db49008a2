"""The composition root: one place collects the rooms and wires every world.

Nothing registers itself by import, nothing is global: a `Simulator` is made, and all worlds live in it. Tests build
the same root.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from simulator.kernel.clock import Clock, parse_timestamp
from simulator.kernel.journal import Cause
from simulator.kernel.world import Wiring, World
from simulator.resources import (
    auth,
    balance,
    beneficiaries,
    deposit_wallets,
    fees,
    history,
    profile,
    ramps,
    recurring,
    reference,
    transactions,
    webhooks,
)
from simulator.scenario.engine import Engine
from simulator.scenario.loader import shipped_library
from simulator.scenario.schema import Library
from simulator.wire.operation import Operation
from simulator.wire.room import Room
from simulator.wire.settings import Settings, shown
from simulator.wire.triggers import TriggerTable

DEFAULT_WORLD = "default"
MANUAL_START = "2026-01-05T08:00:00.000Z"
DEFAULT_SCENARIOS = ("autopilot", "test-values")

ROOMS: tuple[Room, ...] = (
    reference.ROOM,
    profile.ROOM,
    auth.ROOM,
    beneficiaries.ROOM,
    fees.ROOM,
    transactions.ROOM,
    ramps.ROOM,
    deposit_wallets.ROOM,
    balance.ROOM,
    recurring.ROOM,
    history.ROOM,
    webhooks.ROOM,
)


@dataclass(frozen=True)
class Blueprint:
    """How a world was made, so that a reset makes it again."""

    id: str
    seed: int
    mode: str = "manual"
    now_ms: int = parse_timestamp(MANUAL_START)
    rate: Decimal = Decimal(1)
    scenarios: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=lambda: shown(Settings()))


class WorldExists(Exception):
    """A world with that id, or with one of those keys, lives already."""


class Simulator:
    """All worlds of a process, and what they share: rooms, operations, actions, scenarios."""

    def __init__(self, rooms: Iterable[Room] = ROOMS, library: Library | None = None) -> None:
        self.rooms = tuple(rooms)
        self.triggers = TriggerTable(trigger for room in self.rooms for trigger in room.triggers)
        self.library = library if library is not None else shipped_library(self.triggers)
        self.engine = Engine(self.triggers, self.library)
        self.operations: tuple[Operation, ...] = tuple(row for room in self.rooms for row in room.operations)
        self.wiring = Wiring(
            timers={kind: handler for room in self.rooms for kind, handler in room.timers.items()}
            | dict(self.engine.timers),
            on_event=(*(listener for room in self.rooms for listener in room.on_event), self.engine.on_event),
            on_created=(*(listener for room in self.rooms for listener in room.on_created), self.engine.on_created),
            kinds={kind.name: kind for room in self.rooms for kind in room.kinds},
        )
        self.worlds: dict[str, World] = {}
        self.blueprints: dict[str, Blueprint] = {}
        self.directory: dict[str, str] = {}

    @property
    def default(self) -> World:
        """The world of requests that no key or token ties to another (decision S26)."""
        return self.worlds[DEFAULT_WORLD]

    def create_world(self, blueprint: Blueprint) -> World:
        """Make a world; WorldExists when its id is taken, KeyError for an unknown scenario."""
        if blueprint.id in self.worlds:
            raise WorldExists(blueprint.id)
        world = self._build(blueprint)
        self.worlds[world.id] = world
        self.blueprints[world.id] = blueprint
        return world

    def _build(self, blueprint: Blueprint, uploaded: Mapping[str, Any] | None = None) -> World:
        clock = Clock(blueprint.now_ms, blueprint.mode, blueprint.rate)
        limit = blueprint.settings["journal_limit"]
        world = World(blueprint.id, blueprint.seed, clock, self.wiring, self.directory, limit)
        with world.change(Cause("start", "world")):
            world.store.table("settings").put("settings", dict(blueprint.settings))
            for room in self.rooms:
                if room.lay is not None:
                    room.lay(world)
            for name, scenario in (uploaded or {}).items():
                world.store.table("uploaded_scenarios").put(name, scenario)
            self.engine.activate(world, list(blueprint.scenarios))
        return world

    def reset_world(self, world_id: str) -> World:
        """Make a world again as at its creation; uploaded scenarios stay."""
        old = self.worlds[world_id]
        uploaded = dict(old.store.table("uploaded_scenarios").items())
        world = self._build(self.blueprints[world_id], uploaded)
        self.worlds[world_id] = world
        return world

    def delete_world(self, world_id: str) -> None:
        """Forget a world; its keys and tokens belong to no world any more."""
        del self.worlds[world_id]
        del self.blueprints[world_id]
        for key in [key for key, owner in self.directory.items() if owner == world_id]:
            del self.directory[key]

    def world_of(self, credential: str) -> World | None:
        """The world of a public key or a token."""
        world_id = self.directory.get(credential)
        return None if world_id is None else self.worlds.get(world_id)

    @staticmethod
    def draw_seed() -> int:
        return random.SystemRandom().getrandbits(32)

    def draw_world_id(self) -> str:
        while (world_id := f"w_{random.SystemRandom().getrandbits(48):012x}") in self.worlds:
            pass
        return world_id
