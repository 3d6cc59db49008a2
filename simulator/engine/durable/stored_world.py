"""The state of saving: of each world in memory, and of what belongs to no world."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from simulator.engine.durable.writes import Base, ClockState, Gathering
from simulator.engine.scenario.play.catalogue import file_of, row_of
from simulator.engine.server.storage import Unavailable
from simulator.engine.text.json import dumps
from simulator.engine.worlds.simulator import Simulator, Snapshot
from simulator.kernel.dataclass import dataclass
from simulator.kernel.table import Write
from simulator.kernel.world import World

COMPACT_BYTES = 16 * 1024 * 1024
"""Entries of fewer bytes are never folded into the base."""
COMPACT_TIMES = 2
"""Entries are folded when they have more than this many times the bytes of the base."""

DRIFT_MS = 1_000
"""A running clock that is further than this from its expected time was set."""


class TrackedWorld:
    """The saving of one world in memory."""

    def __init__(self, world: World, number: int, note: Callable[[str], None], clock: ClockState | None = None) -> None:
        """`note` is called with the id of the world when it has something to write."""
        self.world = world
        self.number = number
        """The number of its last entry in the store."""
        self.begins = clock is None
        """True if all of the world is to be written, not only its changes."""
        self.clock = clock
        """The clock as it was last written."""
        self.base_bytes = self.entry_bytes = 0
        self.used_ms = 0
        """The last-used time that the store has."""
        self.is_large = False
        """True if the entries are to be folded into a new base."""
        self.gathering = Gathering(world)
        self._note = note
        world.store.listen(self.heard)

    def heard(self, writes: list[Write]) -> None:
        if writes:
            self.gathering.hear(writes)
            self._note(self.world.id)

    def let_go(self) -> None:
        self.world.store.stop_listening(self.heard)

    def clock_was_set(self, present_ms: int, wall_ms: int) -> bool:
        """Return True if the clock is not where it would be by itself since it was last written."""
        clock, before = self.world.clock, self.clock
        if before is None or (clock.mode, clock.rate) != (before.mode, before.rate):
            return True
        if clock.mode == "manual":
            return clock.now_ms != before.now_ms
        rate = float(clock.rate) if clock.mode == "scaled" else 1.0
        by_itself = before.now_ms + before.passed_seconds(wall_ms) * 1000 * rate
        return abs(present_ms - by_itself) > DRIFT_MS * max(rate, 1.0)

    def measure(self, base_bytes: int, entry_bytes: int) -> None:
        """Note the saved sizes."""
        self.base_bytes, self.entry_bytes = base_bytes, entry_bytes
        self.is_large = entry_bytes > max(COMPACT_BYTES, COMPACT_TIMES * base_bytes)


@dataclass(frozen=True)
class Folding:
    """A world whose entries up to a number are to be folded into a base, its state at that number."""

    tracked: TrackedWorld
    number: int
    base: Base


def base_of(snapshot: Snapshot) -> Base:
    """Return a snapshot as the base that is saved."""
    state = snapshot.state
    clock = ClockState(state.mode, state.now_ms, state.rate, 0)
    return Base(state, clock, snapshot=(snapshot.id, snapshot.name))


class OfServer:
    """State that belongs to no world: the number of issued tokens, and scenarios that servers were started with."""

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator
        self._issued = b"0"
        self._changed: dict[str, bytes] = {}

    def changes(self) -> Mapping[str, bytes]:
        """Return the changes to write now."""
        issued = dumps(self._simulator.directory.tokens_issued)
        changed, self._changed = self._changed, {}
        if issued != self._issued:
            self._issued = changed["tokens_issued"] = issued
        return changed

    def take_in(self, server: Mapping[str, bytes]) -> None:
        """Read the saved state. A scenario that this server was started with replaces a saved one of the same name."""
        directory, library = self._simulator.directory, self._simulator.library
        self._issued = server.get("tokens_issued", b"0")
        directory.tokens_issued = max(directory.tokens_issued, int(self._issued))
        saved: dict[str, Any] = orjson.loads(server.get("scenarios", b"{}"))
        for name, row in saved.items():
            if name not in library:
                library[name] = file_of(row)
        own = {name: row_of(library[name]) for name in library if name not in self._simulator.shipped}
        if own != saved:
            self._changed["scenarios"] = dumps(own)


def refuse(waiting: asyncio.Future[None], why: str) -> None:
    """Fail all waiters. Waiting is optional."""
    waiting.set_exception(Unavailable(why))
    waiting.exception()  # asyncio would log an exception that nobody waited for
