"""How many calls were answered how, and how long it took: what a metrics page tells of a process.

It counts for the whole process and never back, whatever becomes of worlds. Per call it takes one look-up, one search
among the bounds and two additions: about 0.3 µs, a three-hundredth of the cheapest call.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from time import perf_counter

from simulator.engine.server.http.messages import Outgoing
from simulator.engine.server.http.request import Request
from simulator.engine.server.running.last_used import LastUses
from simulator.engine.server.telemetry import spans
from simulator.kernel.dataclass import dataclass

BOUNDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""The upper bounds of the buckets, in seconds; one more is without bound."""


@dataclass(slots=True)
class Observed:
    """The calls of an operation that were answered with a status: how many in each bucket, and how long in all."""

    buckets: list[int]
    seconds: float = 0.0


class Meter:
    """What is counted of the calls of a process. `over_quota`: calls that were refused for the quota of calls.

    `uses` knows when each world was called last; `tracing` is told of every call.
    """

    __slots__ = ("_observed", "over_quota", "tracing", "uses")

    def __init__(self) -> None:
        self._observed: dict[tuple[str, int], Observed] = {}
        self.over_quota = 0
        self.uses = LastUses()
        self.tracing: spans.Tracing | None = None

    def measure(self, request: Request, outgoing: Outgoing) -> None:
        """Count a call that is about to be answered."""
        self.uses.touch(request.world, request.started)
        operation, status = request.operation, 0 if outgoing.cut else outgoing.status
        self.observe("" if operation is None else operation.name, status, perf_counter() - request.started)
        if self.tracing is not None:
            self.tracing.called(request, outgoing)

    def observe(self, operation: str, status: int, seconds: float) -> None:
        """Count a call: `operation` is "" where there is none, `status` 0 where the connection was cut."""
        observed = self._observed.get((operation, status))
        if observed is None:
            observed = self._observed[operation, status] = Observed([0] * (len(BOUNDS) + 1))
        observed.buckets[bisect_left(BOUNDS, seconds)] += 1
        observed.seconds += seconds

    @property
    def observed(self) -> Mapping[tuple[str, int], Observed]:
        """The calls by operation and status."""
        return self._observed
