"""The metrics of a server in Prometheus text format. Only durations and delivery results are counted for them, other
values are read on request. Labels contain no world ids, keys or request data.
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

_NO_OPERATION = "none"


def text_of(runtime: Runtime) -> bytes:
    """Return the metrics of a server in Prometheus text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Metrics(runtime))
    ProcessCollector(registry=registry)
    return generate_latest(registry)


class _Metrics(Collector):
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def collect(self) -> Iterator[CounterMetricFamily | GaugeMetricFamily | HistogramMetricFamily | InfoMetricFamily]:
        runtime, persistence = self._runtime, self._runtime.persistence
        worlds = list(runtime.simulator.worlds.values())
        yield InfoMetricFamily("rampsim_build", "The version of the simulator.", {"version": __version__})
        yield from self._requests()
        over_quota = "API requests refused because of quota_calls_per_second."
        yield CounterMetricFamily("rampsim_requests_over_quota", over_quota, runtime.meter.over_quota)
        yield GaugeMetricFamily("rampsim_worlds", "Worlds of this server.", len(runtime.world_ids()))
        pending = sum(len(world.agenda) for world in worlds)
        yield GaugeMetricFamily("rampsim_timers_pending", "Planned timers.", pending)
        due = sum(map(self._due, worlds))
        yield GaugeMetricFamily("rampsim_timers_due", "Timers that are due but have not fired yet.", due)
        attempts = "Webhook delivery attempts: delivered, refused (a response other than 2xx), or unanswered."
        deliveries = CounterMetricFamily("rampsim_deliveries", attempts, labels=("outcome",))
        for outcome, count in runtime.courier.outcomes.items():
            deliveries.add_metric((outcome,), count)
        yield deliveries
        lag = "The age of the oldest change that is not in the store yet; 0 without a store."
        lag_seconds = 0.0 if persistence is None else persistence.lag_seconds()
        yield GaugeMetricFamily("rampsim_journal_lag_seconds", lag, lag_seconds)
        is_ready = persistence is None or persistence.refusal is None
        handled = "1 if calls are handled, 0 if the store cannot save changes."
        yield GaugeMetricFamily("rampsim_ready", handled, float(is_ready))

    def _requests(self) -> Iterator[CounterMetricFamily | HistogramMetricFamily]:
        counts = CounterMetricFamily(
            "rampsim_requests", "API requests by operation and status.", labels=("operation", "status")
        )
        durations = HistogramMetricFamily(
            "rampsim_request_duration_seconds", "The duration of API requests.", labels=("operation",)
        )
        by_operation: dict[str, tuple[list[int], float]] = {}
        for (operation, status), observed in sorted(self._runtime.meter.observed.items()):
            counts.add_metric((operation or _NO_OPERATION, str(status)), sum(observed.buckets))
            buckets, seconds = by_operation.get(operation, ([0] * len(observed.buckets), 0.0))
            both = [one + other for one, other in zip(buckets, observed.buckets, strict=True)]
            by_operation[operation] = both, seconds + observed.seconds
        for operation, (buckets, seconds) in by_operation.items():
            durations.add_metric((operation or _NO_OPERATION,), list(_cumulative(buckets)), seconds)
        yield counts
        yield durations

    def _due(self, world: World) -> int:
        now_ms, timer = self._runtime.driver.present_ms(world), world.agenda.next()
        if timer is None or timer.due_at_ms > now_ms:
            return 0
        return sum(timer.due_at_ms <= now_ms for timer in world.agenda.all())


def _cumulative(buckets: Iterable[int]) -> Iterator[tuple[str, float]]:
    total = 0
    for bound, count in zip((*map(str, BOUNDS), "+Inf"), buckets, strict=True):
        total += count
        yield bound, total
