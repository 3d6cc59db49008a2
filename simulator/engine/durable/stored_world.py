"""Classes that track the unsaved changes to worlds and to the state of the server."""

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
"""A world's entries (saved changes) are not merged into its base (full state) while their total size is below this."""
COMPACT_TIMES = 2
"""Entries are merged into the base when their total size exceeds this multiple of the size of the base."""

DRIFT_MS = 1_000
"""The maximum difference between a running clock and its expected time.

If the difference is larger, a caller has set the clock.
"""


class TrackedWorld:
    """A world in memory whose changes are saved."""

    def __init__(self, world: World, number: int, note: Callable[[str], None], clock: ClockState | None = None) -> None:
        """Start tracking a world. `note` is called with the world id when the world has unsaved changes."""
        self.world = world
        self.number = number
        """The number of the world's latest entry in the store."""
        self.begins = clock is None
        """True if the whole world must be written, not only its changes."""
        self.clock = clock
        """The clock as it was last saved."""
        self.base_bytes = self.entry_bytes = 0
        self.used_ms = 0
        """The last-used time that is saved."""
        self.is_large = False
        """True if the world's entries (saved changes) must be merged into a new base (full state)."""
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
        """Return True if the clock was set or advanced since it was last saved."""
        clock, before = self.world.clock, self.clock
        if before is None or (clock.mode, clock.rate) != (before.mode, before.rate):
            return True
        if clock.mode == "manual":
            return clock.now_ms != before.now_ms
        rate = float(clock.rate) if clock.mode == "scaled" else 1.0
        by_itself = before.now_ms + before.passed_seconds(wall_ms) * 1000 * rate
        return abs(present_ms - by_itself) > DRIFT_MS * max(rate, 1.0)

    def measure(self, base_bytes: int, entry_bytes: int) -> None:
        """Record the sizes of the saved base and entries, in bytes."""
        self.base_bytes, self.entry_bytes = base_bytes, entry_bytes
        self.is_large = entry_bytes > max(COMPACT_BYTES, COMPACT_TIMES * base_bytes)


@dataclass(frozen=True)
class Folding:
    """A request to merge a world's entries (saved changes) into a new base. `base` is the full state of the world after
    the entry `number`.
    """

    tracked: TrackedWorld
    number: int
    base: Base


def base_of(snapshot: Snapshot) -> Base:
    """Convert a snapshot to the form in which it is saved."""
    state = snapshot.state
    clock = ClockState(state.mode, state.now_ms, state.rate, 0)
    return Base(state, clock, snapshot=(snapshot.id, snapshot.name))


class OfServer:
    """The saved state that belongs to a server and not to a world.

    This state consists of the number of issued tokens, and the scenarios with which the server was started.
    """

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator
        self._issued = b"0"
        self._changed: dict[str, bytes] = {}

    def changes(self) -> Mapping[str, bytes]:
        """Return the unsaved changes to the server's state, by name."""
        issued = dumps(self._simulator.directory.tokens_issued)
        changed, self._changed = self._changed, {}
        if issued != self._issued:
            self._issued = changed["tokens_issued"] = issued
        return changed

    def take_in(self, server: Mapping[str, bytes]) -> None:
        """Add the saved state to the state of this server.

        A scenario with which this server was started replaces a saved scenario with the same name.
        """
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
    """Set the exception `Unavailable` on a future. Do not log the exception if no task awaits the future."""
    waiting.set_exception(Unavailable(why))
    waiting.exception()  # Otherwise, asyncio would log that the exception was never retrieved.
