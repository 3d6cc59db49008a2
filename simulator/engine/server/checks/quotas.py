"""Limits the number of API calls to a world per second of real time, like a proxy in front of the server.

The quota is checked first, and nothing is recorded in the world. Otherwise, real time would affect later responses.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from simulator.engine.worlds.quotas import QuotaExceeded
from simulator.engine.worlds.settings import settings_of
from simulator.kernel.dataclass import dataclass
from simulator.kernel.world import PerWorld, World

RETRY_SECONDS = "1"


@dataclass(slots=True)
class _Second:
    """The current second, and the number of calls in this second."""

    opened: float = -1.0
    calls: int = 0


class CallQuota:
    """Counts the API calls to each world in the current second."""

    def __init__(self, seconds: Callable[[], float] = perf_counter) -> None:
        """Create the counters. `seconds` is a monotonic clock."""
        self._seconds = seconds
        self._kept: PerWorld[_Second] = PerWorld(_Second)

    def refusal(self, world: World) -> QuotaExceeded | None:
        """Count a call to a world. Return an error 429 if the call exceeds the world's quota, otherwise None."""
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
            f"This world of the simulator takes {most} calls per second of real time "
            "(its setting quota_calls_per_second), so this call was ignored. This is a quota of the simulator, "
            f"not the rate limit of the service. Call again after {RETRY_SECONDS} s."
        )
        return QuotaExceeded(429, "quota_calls_per_second", message, {"Retry-After": RETRY_SECONDS})
