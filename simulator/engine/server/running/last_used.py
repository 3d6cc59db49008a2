"""When each world was last used, in real time: no part of any world, which knows simulated time alone."""

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
    """`seconds` is a clock that tells distances only, as `perf_counter` does."""

    __slots__ = ("_uses", "seconds")

    def __init__(self, seconds: Callable[[], float] = perf_counter) -> None:
        self.seconds = seconds
        self._uses: PerWorld[_Use] = PerWorld(_Use)

    def touch(self, world: World, at: float | None = None) -> None:
        """A world is used: now, or at a moment of that clock."""
        self._uses[world].at = self.seconds() if at is None else at

    def idle_seconds(self, world: World) -> float:
        """How long nobody has used a world."""
        return max(self.seconds() - self._uses[world].at, 0.0)
