"""Completed ramps, each with a quote, its confirmation and two actions: memory for each ramp, and snapshots of many
ramps.

The memory is the slope between two numbers of ramps at which the bounded journals are full. Before each reading, the
clock advances until everything that a ramp has planned is over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack

from tests.campaigns.benchmarks.client import PAYEE, QUOTE
from tests.campaigns.benchmarks.plan import Plan, Side, sample, sides
from tests.campaigns.benchmarks.results import Sample
from tests.campaigns.benchmarks.servers import Subject


def measure(simulators: Sequence[Subject], plan: Plan) -> Iterator[Sample]:
    first, last = (50, 100) if plan.quick else (6_000, 10_000)
    with ExitStack() as stack:
        found = sides(stack, simulators)
        for side in found:
            side.client.act("set_limits", daily="900000000000", monthly="900000000000")
        if plan.wants("memory-ramp"):
            before = [_memory_after(side, first) for side in found]
            after = [_memory_after(side, last - first) for side in found]
            for side, low, high in zip(found, before, after, strict=True):
                yield sample("memory-ramp", side.subject, (high - low) / (last - first) / 1000)
        elif plan.wants("snapshot", "restore"):
            for side in found:
                _complete(side, last)
        for _ in range(plan.rounds):
            for side in found if plan.wants("snapshot", "restore") else ():
                yield from _snapshot(side)


def _complete(side: Side, times: int) -> None:
    client = side.client
    for number in range(times):
        if number % 1_000 == 0:
            client.call("POST", "/_simulator/clock/advance", {"by": "2h"})
            client.sign_in()
        quote = client.call("POST", "/v1/quotes", QUOTE)
        ramp = client.call("POST", f"/v1/quotes/{quote['id']}/confirm", PAYEE)
        client.act("payment_arrives", ramp["id"])
        client.act("complete", ramp["id"])


def _memory_after(side: Side, times: int) -> int:
    _complete(side, times)
    side.client.call("POST", "/_simulator/clock/advance", {"by": "2h"})
    side.client.sign_in()
    return side.server.resident


def _snapshot(side: Side) -> Iterator[Sample]:
    before = side.server.cpu
    snapshot = side.client.call("POST", "/_simulator/snapshots", {})
    yield sample("snapshot", side.subject, (side.server.cpu - before) * 1000)
    path = f"/_simulator/snapshots/{snapshot['id']}/restore"
    yield sample("restore", side.subject, side.client.cost_ms("POST", path))
