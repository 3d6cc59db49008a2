"""A world that lives, as the keeper knows it."""

from __future__ import annotations

from collections.abc import Callable

from simulator.durable.writes import Base, ClockState, Gathering
from simulator.kernel.dataclass import dataclass
from simulator.kernel.table import Write
from simulator.kernel.world import World

COMPACT_BYTES = 16 * 1024 * 1024
"""So many bytes of entries a world may have at least before they are folded into its base."""
COMPACT_TIMES = 2
"""So many times as many as its base has."""

DRIFT_MS = 1_000
"""A running clock that is further than this from where it would have come by itself was set."""


class Kept:
    """What the keeper knows of a world that lives: the number of its last entry, and what it wrote since.

    `begins`: all of it is to be written. `is_large`: its entries are to be folded into a new base.
    """

    def __init__(self, world: World, number: int, note: Callable[[str], None], clock: ClockState | None = None) -> None:
        self.world = world
        self.number = number
        self.begins = clock is None
        self.clock = clock
        self.base_bytes = self.entry_bytes = 0
        self.is_large = False
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
        """Whether the clock stands elsewhere than it would by itself."""
        clock, before = self.world.clock, self.clock
        if before is None or (clock.mode, clock.rate) != (before.mode, before.rate):
            return True
        if clock.mode == "manual":
            return clock.now_ms != before.now_ms
        rate = float(clock.rate) if clock.mode == "scaled" else 1.0
        by_itself = before.now_ms + before.passed_seconds(wall_ms) * 1000 * rate
        return abs(present_ms - by_itself) > DRIFT_MS * max(rate, 1.0)

    def measure(self, base_bytes: int, entry_bytes: int) -> None:
        """Note how much is kept of it."""
        self.base_bytes, self.entry_bytes = base_bytes, entry_bytes
        self.is_large = entry_bytes > max(COMPACT_BYTES, COMPACT_TIMES * base_bytes)


@dataclass(frozen=True)
class Folding:
    """A world whose entries up to a number are to be folded into its state as it was then."""

    kept: Kept
    number: int
    base: Base
