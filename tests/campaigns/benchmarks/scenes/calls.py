"""Memory after many calls that create nothing: reads, refusals and control calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack

from tests.campaigns.benchmarks.client import QUOTE
from tests.campaigns.benchmarks.load import Load, run_times
from tests.campaigns.benchmarks.plan import Plan, Side, sample, sides
from tests.campaigns.benchmarks.results import Sample
from tests.campaigns.benchmarks.servers import Subject

SIZES = {"quick": (300, 600), "usual": (60_000, 150_000), "full": (100_000, 1_000_000)}


def measure(simulators: Sequence[Subject], plan: Plan) -> Iterator[Sample]:
    with ExitStack() as stack:
        found = [(side, _loads(side)) for side in sides(stack, simulators)]
        taken = 0
        for size in SIZES[plan.length]:
            for side, loads in found:
                for load in loads:
                    run_times(load, (size - taken) // len(loads))
                yield sample("memory-calls", side.subject, side.server.resident / 1e6, size)
            taken = size


def _loads(side: Side) -> list[Load]:
    quote, origin = side.client.call("POST", "/v1/quotes", QUOTE)["id"], side.server.origin
    headers = {name: side.client.headers[name] for name in ("content-type", "authorization")}
    return [
        Load(origin, "GET", f"/v1/quotes/{quote}", headers),
        Load(origin, "GET", "/v1/transactions", headers),
        Load(origin, "POST", "/v1/quotes", headers, b'{"type": "neither"}', refused=True),
        Load(origin, "GET", "/_simulator/clock"),
        Load(origin, "POST", "/_simulator/clock/advance", headers, b'{"by": 0}'),
    ]
