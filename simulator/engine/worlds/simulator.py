"""The simulator. It collects the packages of a provider and connects them to every world. There is no global state."""

from __future__ import annotations

import dataclasses
import logging
import random
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import field
from decimal import Decimal
from typing import Any

from simulator.engine import webhooks
from simulator.engine.faults.in_force import FAULTS, UNDER_KEYS
from simulator.engine.records.advice import ADVICE, advise
from simulator.engine.records.origins import ORIGINS
from simulator.engine.records.records import INDEX
from simulator.engine.records.requests import requests_of
from simulator.engine.rows.provider import Provider
from simulator.engine.scenario.files.library import Library, ScenarioFile
from simulator.engine.scenario.files.shipped import shipped_library
from simulator.engine.scenario.play.catalogue import UPLOADED, row_of
from simulator.engine.scenario.play.engine import TABLES as SCENARIO_TABLES
from simulator.engine.scenario.play.engine import Engine
from simulator.engine.scenario.play.pending import KINDS
from simulator.engine.vocabulary.vocabulary import Vocabulary, by_name, collected, wiring_of
from simulator.engine.worlds import observations, quotas
from simulator.engine.worlds.directory import Directory, enter_into, forget, register
from simulator.engine.worlds.observer import Observer
from simulator.engine.worlds.settings import ASSUMED, DEFAULTS, MANUAL_START, SETTINGS, bound_journal, put_settings
from simulator.engine.worlds.world_states import Blueprint as Blueprint
from simulator.engine.worlds.world_states import InitialState
from simulator.engine.worlds.world_states import Snapshot as Snapshot
from simulator.engine.worlds.world_states import WorldState as WorldState
from simulator.kernel.agenda import Timer
from simulator.kernel.clock import Clock, parse_timestamp
from simulator.kernel.dataclass import dataclass
from simulator.kernel.ids import derive, text_of
from simulator.kernel.journal import Cause
from simulator.kernel.store import TableKey
from simulator.kernel.world import DEFAULT_WORLD, World
from simulator.kernel.world import TABLES as WORLD_TABLES

_log = logging.getLogger(__name__)

DEFAULT_SCENARIOS = ("autopilot", "test-values")


def tables_of(vocabulary: Vocabulary) -> tuple[TableKey[Any], ...]:
    """Return every table of the service and of the engine. Raise `ValueError` if two tables have the same name."""
    around = (*WORLD_TABLES, ADVICE, ASSUMED, FAULTS, INDEX, ORIGINS, SETTINGS, UNDER_KEYS)
    tables = dict.fromkeys((*around, *vocabulary.tables, *SCENARIO_TABLES))
    return tuple(by_name("tables", tables, lambda table: table.name).values())


@dataclass(frozen=True)
class Inherited:
    """The defaults for new worlds, which are set when the server starts."""

    settings: Mapping[str, Any] = field(default_factory=lambda: {**DEFAULTS})
    now_ms: int | None = None
    """The start time of the clock, or None: `MANUAL_START` for a manual clock, the current time for other clocks."""
    rate: Decimal = Decimal(1)
    scenarios: tuple[str, ...] = DEFAULT_SCENARIOS
    observed: tuple[observations.Observed, ...] = ()
    """The observed files (files of observations of the real service) that worlds are based on."""

    def start_ms(self, mode: str, present_ms: int) -> int:
        """Return the start time of a clock with this mode."""
        if self.now_ms is not None:
            return self.now_ms
        return parse_timestamp(MANUAL_START) if mode == "manual" else present_ms


class WorldExists(Exception):
    """The id of a world or one of its keys is already in use."""


class Simulator:
    """All worlds in a process, with a provider's declarations and the scenarios that the worlds share."""

    def __init__(self, provider: Provider, library: Library | None = None, inherited: Inherited | None = None) -> None:
        self.vocabulary = vocabulary = collected(provider)
        self.provider = provider
        self.rooms = provider.rooms
        self.operations = vocabulary.operations
        self.actions = vocabulary.actions
        self.tables = tables_of(vocabulary)
        self.library = library if library is not None else shipped_library(vocabulary)
        self.shipped = frozenset(self.library)
        self.engine = Engine(self.actions, self.library, provider.outages)
        called = (self.engine.on_event,), (self.engine.on_created,)
        wiring = wiring_of(vocabulary, self.engine.timers, *called, self._failed)
        self.wiring = dataclasses.replace(wiring, tables=frozenset(self.tables))
        self.inherited = inherited or Inherited()
        self.worlds: dict[str, World] = {}
        self.blueprints: dict[str, Blueprint] = {}
        self.directory = Directory()
        self.snapshots: dict[str, Snapshot] = {}
        self._snapshots_taken: dict[str, int] = {}
        self._initial_states: dict[str, InitialState] = {}
        self._observers: list[Observer] = []
        self.away: Container[str] = frozenset()
        """The ids of the worlds in a store that are not in memory."""
        self.stand_in: World | None = None
        """A substitute for the world `default` while this process cannot use the saved one. It is never saved."""

    def observe(self, observer: Observer) -> None:
        """Register an observer. From now on, it is called when a world is created or ends."""
        self._observers.append(observer)

    def lives(self, world: World) -> bool:
        """Return True if a world is in this simulator and has not been deleted or replaced."""
        return self.worlds.get(world.id) is world

    def _failed(self, world: World, timer: Timer, error: Exception) -> None:
        """Handle a timer that raised an exception: a failed scenario step, or a defect in the simulator."""
        _log.error("the timer %s of the world %s failed", timer.key, world.id, exc_info=error)
        if timer.kind in KINDS:
            self.engine.on_failure(world, timer, error)
            return
        advise(
            world,
            "timer_failed",
            "error",
            f"The timer {timer.kind} failed and was removed: {type(error).__name__}: {error}"[:500],
            "This is a defect of the simulator, not of your code. Report it with the traceback in the server's log.",
            timer.target,
        )

    @property
    def default(self) -> World:
        """The world for requests whose key or token does not belong to another world (decision S26)."""
        if self.stand_in is not None:
            return self.worlds.get(DEFAULT_WORLD, self.stand_in)
        return self.worlds[DEFAULT_WORLD]

    def create_world(
        self, blueprint: Blueprint, uploaded: Iterable[ScenarioFile] = (), *, replace: bool = False
    ) -> World:
        """Create a world with the scenarios in `uploaded` and in the library.

        If `replace` is True, the new world replaces the world with the same id. Raise `WorldExists` if its id or one of
        its keys is in use. Raise `UnknownScenario` or `ControlError` if its scenarios cannot be activated. After an
        error, nothing has changed.
        """
        self._require_free(blueprint.id, replace)
        world = self._build(blueprint, {file.name: row_of(file) for file in uploaded})
        self._begin(world, blueprint)
        return world

    def _require_free(self, world_id: str, replace: bool) -> None:
        if not replace and (world_id in self.worlds or world_id in self.away):
            raise WorldExists(world_id)

    def _begin(self, world: World, blueprint: Blueprint) -> None:
        """Register a new world. If it replaces another one, delete the snapshots of the old world."""
        self.register(world, blueprint)
        self._forget_snapshots(world.id)

    def _build(self, blueprint: Blueprint, uploaded: Mapping[str, Any] | None = None) -> World:
        clock = Clock(blueprint.now_ms, blueprint.mode, blueprint.rate)
        world = World(blueprint.id, blueprint.seed, clock, self.wiring, keys_of=blueprint.keys_of)
        with world.change(Cause("start", "world")):
            put_settings(world, blueprint.settings_in_force())
            for room in self.rooms:
                if room.setup is not None:
                    room.setup(world)
            if blueprint.observed and (facts := observations.facts_in(blueprint.observed)):
                self.provider.put_facts(world, facts)
            for name, scenario in (uploaded or {}).items():
                world.store[UPLOADED].put(name, scenario)
            self.engine.activate(world, list(blueprint.scenarios))
        bound_journal(world)
        return world

    def register(self, world: World, blueprint: Blueprint) -> None:
        """Register a world that was built separately. It replaces the world with the same id.

        Raise `WorldExists` if another world has one of its keys, or `QuotaExceeded` if it has more objects than a world
        on this server may have. After an error, nothing has changed.
        """
        quotas.hold_to(world, self.inherited.settings)
        quotas.require_room(world)
        self._let_in(world, blueprint)

    def _let_in(self, world: World, blueprint: Blueprint) -> None:
        identity = self.provider.identity
        for key in identity.public_keys(world):
            holder_id = self.directory.get(key, world.id)
            holder = self.worlds.get(holder_id)
            if holder_id != world.id and (key in identity.public_keys(holder) if holder else holder_id in self.away):
                raise WorldExists(holder_id)
        old = self.worlds.get(world.id)
        if old is not None:
            forget(old, identity.directory_entries(old))
        enter_into(self.directory, world)
        register(world, identity.directory_entries(world))
        self.worlds[world.id] = world
        self.blueprints[world.id] = blueprint
        for observer in self._observers:
            if old is not None:
                observer.detach(old)
            observer.attach(world)

    def reset_world(self, world_id: str, wall_ms: int | None = None) -> World:
        """Reset a world to its initial state, with its uploaded scenarios. `wall_ms` is the current wall-clock time."""
        old, blueprint = self.worlds[world_id], self.blueprints[world_id]
        if blueprint.at_wall_time and wall_ms is not None:
            blueprint = dataclasses.replace(blueprint, now_ms=wall_ms)
        world = self._build_cached(blueprint, dict(old.store[UPLOADED].items()))
        self.register(world, blueprint)
        return world

    def _build_cached(self, blueprint: Blueprint, uploaded: Mapping[str, Any]) -> World:
        """Like `_build`, but cached. A repeated call takes a third of the time."""
        files = [self.library.get(name) for name in blueprint.scenarios]
        initial = self._initial_states.get(blueprint.id)
        if initial is not None and initial.built_from(blueprint, uploaded, files):
            return self.from_state(initial.state, blueprint.id)
        world = self._build(blueprint, uploaded)
        state = self._state(world, blueprint, world.store.tables(empty=True))
        self._initial_states[blueprint.id] = InitialState(state, uploaded, files)
        return world

    def delete_world(self, world_id: str) -> None:
        """Delete a world together with its keys, tokens and snapshots."""
        world = self._take_out(world_id)
        for observer in self._observers:
            observer.detach(world)

    def release_world(self, world_id: str) -> None:
        """Remove a saved world and its snapshots from memory. `adopt` adds it again."""
        world = self._take_out(world_id)
        for observer in self._observers:
            observer.release(world)

    def adopt(self, world: World, blueprint: Blueprint, snapshots: Iterable[Snapshot], taken: int) -> None:
        """Register a world from a store, even with too many objects. `taken` is the number of snapshots ever taken of
        it.
        """
        quotas.hold_to(world, self.inherited.settings)
        self._let_in(world, blueprint)
        self.snapshots.update((snapshot.id, snapshot) for snapshot in snapshots)
        self._snapshots_taken[world.id] = taken

    def _take_out(self, world_id: str) -> World:
        world = self.worlds.pop(world_id)
        del self.blueprints[world_id]
        self._initial_states.pop(world_id, None)
        self._forget_snapshots(world_id)
        forget(world, self.provider.identity.directory_entries(world))
        return world

    def snapshots_of(self, world_id: str) -> list[Snapshot]:
        """Return the snapshots of a world, oldest first."""
        return [snapshot for snapshot in self.snapshots.values() if snapshot.state.world_id == world_id]

    def snapshots_taken(self, world_id: str) -> int:
        """Return the number of snapshots that were ever taken of a world."""
        return self._snapshots_taken.get(world_id, 0)

    def forget_snapshot(self, snapshot_id: str) -> None:
        """Delete one snapshot. Raise `KeyError` if it does not exist."""
        self._tell_snapshots(self.snapshots.pop(snapshot_id).state.world_id)

    def _forget_snapshots(self, world_id: str) -> None:
        before = len(self.snapshots)
        self.snapshots = {key: row for key, row in self.snapshots.items() if row.state.world_id != world_id}
        self._snapshots_taken.pop(world_id, None)
        if len(self.snapshots) != before:
            self._tell_snapshots(world_id)

    def _tell_snapshots(self, world_id: str) -> None:
        for observer in self._observers:
            observer.snapshots_changed(world_id)

    def state_of(self, world: World) -> WorldState:
        """Return the current state of a world."""
        return self._state(world, self.blueprints[world.id], world.store.tables())

    @staticmethod
    def _state(world: World, blueprint: Blueprint, tables: Mapping[str, dict[str, Any]]) -> WorldState:
        return WorldState(
            blueprint=blueprint,
            world_id=world.id,
            keys_of=world.keys_of,
            seed=world.seed,
            mode=world.clock.mode,
            now_ms=world.now_ms,
            rate=world.clock.rate,
            started_at_ms=world.started_at_ms,
            tables=tables,
            requests=tuple(requests_of(world).entries),
            requests_size=requests_of(world).size,
            requests_dropped=requests_of(world).dropped,
        )

    def keep_snapshot(self, state: WorldState, name: str | None) -> Snapshot:
        """Save a state as a snapshot. Its id depends only on the world's id and the number of its earlier snapshots."""
        number = self._snapshots_taken[state.world_id] = self._snapshots_taken.get(state.world_id, 0) + 1
        snapshot = Snapshot("snap_" + text_of(derive("snapshot", state.world_id, number)), name, state)
        self.snapshots[snapshot.id] = snapshot
        self._tell_snapshots(state.world_id)
        return snapshot

    def from_state(self, state: WorldState, world_id: str) -> World:
        """Build a world with this state and id. It receives no requests until it is registered."""
        clock = Clock(state.now_ms, state.mode, state.rate)
        world = World(world_id, state.seed, clock, self.wiring, keys_of=state.keys_of)
        world.started_at_ms = state.started_at_ms
        world.store.replace(state.tables)
        world.agenda.rebuild()
        bound_journal(world)
        requests_of(world).put_back(state.requests, state.requests_size, state.requests_dropped)
        return world

    def restore(self, state: WorldState, world_id: str, keys_of: str | None = None) -> World:
        """Replace the state of a world, including its keys and tokens. Raise `WorldExists` like `register`. If
        `keys_of` is given, new keys are derived from it, and the restored world has no tokens.
        """
        world = self._rekeyed(state, world_id, keys_of) if keys_of is not None else self.from_state(state, world_id)
        self.register(world, dataclasses.replace(state.blueprint, id=world_id, keys_of=world.keys_of))
        return world

    def fork(
        self,
        state: WorldState,
        world_id: str,
        seed: int | None,
        *,
        prepare: Callable[[World], None],
        replace: bool,
        keys_of: str = "",
    ) -> World:
        """Create a world with this state, new keys and no tokens. Raise `WorldExists` if its id or a key is in use.

        A different seed changes later random values. `prepare` changes the world before it is registered; if it raises,
        nothing has changed. `replace` is as in `create_world`. The keys are derived from `keys_of` (default:
        `world_id`).
        """
        self._require_free(world_id, replace)
        seed = state.seed if seed is None else seed
        world = self._rekeyed(dataclasses.replace(state, seed=seed), world_id, keys_of or world_id, prepare)
        self._begin(world, dataclasses.replace(state.blueprint, id=world_id, seed=seed, keys_of=keys_of))
        return world

    def _rekeyed(
        self, state: WorldState, world_id: str, keys_of: str, prepare: Callable[[World], None] = lambda world: None
    ) -> World:
        """Build a world with this state, newly derived keys and no tokens."""
        world = self.from_state(dataclasses.replace(state, keys_of=keys_of), world_id)
        with world.change(Cause("start", "fork")):
            self.provider.identity.rekey(world)
            webhooks.set_up_keys(world)
            prepare(world)
        world.store.drop_row_numbers()  # Replacing the keys deleted rows, and deletions number all rows.
        bound_journal(world)
        return world

    def world_of(self, credential: str) -> World | None:
        """Return the world to which a public key or token belongs, or None if there is none."""
        world_id = self.directory.get(credential)
        return None if world_id is None else self.worlds.get(world_id)

    @staticmethod
    def draw_seed() -> int:
        return random.SystemRandom().getrandbits(32)

    def draw_world_id(self, prefix: str = "w_") -> str:
        while (world_id := f"{prefix}{random.SystemRandom().getrandbits(48):012x}") in self.worlds:
            pass
        return world_id

    @staticmethod
    def draw_keys_of(world_id: str) -> str:
        """Return an unguessable id from which to derive the keys of a world."""
        return f"{world_id}~{random.SystemRandom().getrandbits(128):032x}"
