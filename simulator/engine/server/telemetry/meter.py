"""Counters of calls by operation and status, with durations, for the metrics page.

They count for the whole process and never decrease, even if worlds end. A call costs one look-up, one bisection and two
additions: about 0.3 µs, a three-hundredth of the cheapest call.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from time import perf_counter
from typing import Protocol

from simulator.engine.server.http.messages import Outgoing
from simulator.engine.server.http.request import Request
from simulator.engine.server.running.last_used import LastUses
from simulator.engine.webhooks.courier import port
from simulator.kernel.dataclass import dataclass


class Tracing(port.Tracing, Protocol):
    """A span exporter. It receives every call and every delivery attempt, and never raises."""

    def called(self, request: Request, outgoing: Outgoing) -> None:
        """An API call is about to be answered."""


BOUNDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""The upper bounds of the buckets in seconds. One further bucket has no bound."""


@dataclass(slots=True)
class Observed:
    """The calls of an operation with a status: counts by bucket, and the total duration."""

    buckets: list[int]
    seconds: float = 0.0


class Meter:
    """The counters of a process."""

    __slots__ = ("_observed", "over_quota", "tracing", "uses")

    def __init__(self) -> None:
        self._observed: dict[tuple[str, int], Observed] = {}
        self.over_quota = 0
        """Calls that were refused for the quota of calls."""
        self.uses = LastUses()
        self.tracing: Tracing | None = None

    def measure(self, request: Request, outgoing: Outgoing) -> None:
        """Count a call that is about to be answered."""
        self.uses.touch(request.world, request.started)
        operation, status = request.operation, 0 if outgoing.cut else outgoing.status
        self.observe("" if operation is None else operation.name, status, perf_counter() - request.started)
        if self.tracing is not None:
            self.tracing.called(request, outgoing)

    def observe(self, operation: str, status: int, seconds: float) -> None:
        """Count a call. `operation` is "" for an unknown path, `status` 0 for a dropped connection."""
        observed = self._observed.get((operation, status))
        if observed is None:
            observed = self._observed[operation, status] = Observed([0] * (len(BOUNDS) + 1))
        observed.buckets[bisect_left(BOUNDS, seconds)] += 1
        observed.seconds += seconds

    @property
    def observed(self) -> Mapping[tuple[str, int], Observed]:
        """The counters by operation and status."""
        return self._observed
