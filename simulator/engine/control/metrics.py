"""The metrics of a server in Prometheus text format.

Only request durations and delivery results are counted for these metrics. All other values are read when the metrics
are requested. Labels contain no world ids, keys or request data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, InfoMetricFamily
from prometheus_client.registry import Collector

from simulator.engine.server.runtime import Runtime
from simulator.engine.server.telemetry.meter import BOUNDS
from simulator.kernel.world import World
from simulator.version import __version__

Metric = CounterMetricFamily | GaugeMetricFamily | HistogramMetricFamily | InfoMetricFamily

_NO_OPERATION = "none"


class Metrics(Collector):
    """The metrics of one server."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)
        ProcessCollector(registry=self._registry)

    def text(self) -> bytes:
        """Return the metrics in Prometheus text format."""
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        yield InfoMetricFamily("rampsim_build", "The version of the simulator.", {"version": __version__})
        yield from self._requests()
        yield from self._worlds()
        yield self._deliveries()
        yield GaugeMetricFamily(
            "rampsim_journal_lag_seconds",
            "The age of the oldest change that is not in the store yet; 0 without a store.",
            0.0 if self._runtime.persistence is None else self._runtime.persistence.lag_seconds(),
        )
        yield GaugeMetricFamily(
            "rampsim_ready", "1 if calls are handled, 0 if the store cannot save changes.", float(self._is_ready)
        )

    @property
    def _is_ready(self) -> bool:
        return self._runtime.persistence is None or self._runtime.persistence.refusal is None

    def _requests(self) -> Iterator[Metric]:
        meter = self._runtime.meter
        counts = CounterMetricFamily(
            "rampsim_requests", "API requests by operation and status.", labels=("operation", "status")
        )
        durations = HistogramMetricFamily(
            "rampsim_request_duration_seconds", "The duration of API requests.", labels=("operation",)
        )
        by_operation: dict[str, tuple[list[int], float]] = {}
        for (operation, status), observed in sorted(meter.observed.items()):
            counts.add_metric((operation or _NO_OPERATION, str(status)), sum(observed.buckets))
            buckets, seconds = by_operation.get(operation, ([0] * len(observed.buckets), 0.0))
            both = [one + other for one, other in zip(buckets, observed.buckets, strict=True)]
            by_operation[operation] = both, seconds + observed.seconds
        for operation, (buckets, seconds) in by_operation.items():
            durations.add_metric((operation or _NO_OPERATION,), list(_cumulative(buckets)), seconds)
        yield counts
        yield durations
        yield CounterMetricFamily(
            "rampsim_requests_over_quota", "API requests refused because of quota_calls_per_second.", meter.over_quota
        )

    def _worlds(self) -> Iterator[Metric]:
        worlds = list(self._runtime.simulator.worlds.values())
        yield GaugeMetricFamily("rampsim_worlds", "Worlds of this server.", len(self._runtime.world_ids()))
        pending = sum(len(world.agenda) for world in worlds)
        yield GaugeMetricFamily("rampsim_timers_pending", "Planned timers.", pending)
        due = sum(map(self._due, worlds))
        yield GaugeMetricFamily("rampsim_timers_due", "Timers that are due but have not fired yet.", due)

    def _due(self, world: World) -> int:
        now_ms, timer = self._runtime.driver.present_ms(world), world.agenda.next()
        if timer is None or timer.due_at_ms > now_ms:
            return 0
        return sum(timer.due_at_ms <= now_ms for timer in world.agenda.all())

    def _deliveries(self) -> Metric:
        counts = CounterMetricFamily(
            "rampsim_deliveries",
            "Webhook delivery attempts: delivered, refused (a response other than 2xx), or unanswered.",
            labels=("outcome",),
        )
        for outcome, count in self._runtime.courier.outcomes.items():
            counts.add_metric((outcome,), count)
        return counts


def _cumulative(buckets: Iterable[int]) -> Iterator[tuple[str, float]]:
    total = 0
    for bound, count in zip((*map(str, BOUNDS), "+Inf"), buckets, strict=True):
        total += count
        yield bound, total
