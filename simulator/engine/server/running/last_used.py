"""Last-used times of worlds, in real time. They are not part of a world, which has simulated time only."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from simulator.kernel.dataclass import dataclass
from simulator.kernel.per_world import PerWorld
from simulator.kernel.world import World


@dataclass(slots=True)
class _Use:
    at: float = 0.0


class LastUses:
    """Last-used times of all worlds. `seconds` is a monotonic clock."""

    __slots__ = ("_uses", "seconds")

    def __init__(self, seconds: Callable[[], float] = perf_counter) -> None:
        self.seconds = seconds
        self._uses: PerWorld[_Use] = PerWorld(_Use)

    def touch(self, world: World, at: float | None = None) -> None:
        """Note that a world is used, now or at a time of that clock."""
        self._uses[world].at = self.seconds() if at is None else at

    def idle_seconds(self, world: World) -> float:
        """Return how long a world has not been used."""
        return max(self.seconds() - self._uses[world].at, 0.0)
