"""The times at which worlds were last used, in real time. These times are not stored in the worlds, because worlds
contain only simulated time.
"""

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
    """The times at which all worlds were last used. `seconds` returns the time of a monotonic clock."""

    __slots__ = ("_uses", "seconds")

    def __init__(self, seconds: Callable[[], float] = perf_counter) -> None:
        self.seconds = seconds
        self._uses: PerWorld[_Use] = PerWorld(_Use)

    def touch(self, world: World, at: float | None = None) -> None:
        """Record that a world was used at the time `at` on the monotonic clock. The default is the current time."""
        self._uses[world].at = self.seconds() if at is None else at

    def idle_seconds(self, world: World) -> float:
        """Return the number of seconds since a world was last used."""
        return max(self.seconds() - self._uses[world].at, 0.0)
