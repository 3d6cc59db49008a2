"""The quota of calls: how many interface calls a world gets answered in a second of real time.

It is asked before anything else and leaves no trace in the world, as if it stood in a proxy before the server: real
time must not show in what a world answers later.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from simulator.engine.worlds.quotas import QuotaExceeded
from simulator.engine.worlds.settings import settings_of
from simulator.kernel.dataclass import dataclass
from simulator.kernel.per_world import PerWorld
from simulator.kernel.world import World

RETRY_SECONDS = "1"


@dataclass(slots=True)
class _Second:
    """The second that is counted, and the calls in it."""

    opened: float = -1.0
    calls: int = 0


class CallQuota:
    """Counts the calls of every world. `seconds`: a clock that tells distances only."""

    def __init__(self, seconds: Callable[[], float] = perf_counter) -> None:
        self._seconds = seconds
        self._kept: PerWorld[_Second] = PerWorld(_Second)

    def refusal(self, world: World) -> QuotaExceeded | None:
        """429 for a call beyond the quota of its world; None counts it."""
        most = settings_of(world)["quota_calls_per_second"]
        if most is None:
            return None
        second, now = self._kept[world], self._seconds()
        if not 0 <= now - second.opened < 1:
            second.opened, second.calls = now, 0
        if second.calls < most:
            second.calls += 1
            return None
        message = (
            f"This world of the simulator may be called {most} times a second of real time "
            "(its setting quota_calls_per_second), and this call was not looked at. This is a quota of the simulator, "
            f"not the rate limit of the service. Call again after {RETRY_SECONDS} s."
        )
        return QuotaExceeded(429, "quota_calls_per_second", message, {"Retry-After": RETRY_SECONDS})
