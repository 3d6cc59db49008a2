"""New worlds, resets of a used world, the memory of a thousand idle worlds, and a history of ninety days."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from statistics import median

from tests.campaigns.benchmarks.client import PAYEE, QUOTE, Client
from tests.campaigns.benchmarks.plan import Plan, sample, sides
from tests.campaigns.benchmarks.results import Sample
from tests.campaigns.benchmarks.servers import Subject

IDLE = 1_000
HISTORY = {"days": 90, "per_day": 40}


def _reset(client: Client) -> float:
    """The cost of resetting a world with an open ramp."""
    client.sign_in()
    quote = client.call("POST", "/v1/quotes", QUOTE)
    client.call("POST", f"/v1/quotes/{quote['id']}/confirm", PAYEE)
    return client.cost_ms("POST", "/_simulator/reset")


def measure(simulators: Sequence[Subject], plan: Plan) -> Iterator[Sample]:
    times, idle = (3, 20) if plan.quick else (20, IDLE)
    with ExitStack() as stack:
        found = sides(stack, simulators)
        for side in found:
            side.client.call("POST", "/v1/quotes", QUOTE)
            side.client.call("POST", "/_simulator/worlds", {"id": "first"})
        for _ in range(plan.rounds):
            for side in found:
                yield sample("reset", side.subject, median(_reset(side.client) for _ in range(times)))
        for side in found if plan.wants("world", "idle-worlds") else ():
            memory = side.server.resident
            for _ in range(10):
                costs = [side.client.cost_ms("POST", "/_simulator/worlds", {}) for _ in range(idle // 10)]
                yield sample("world", side.subject, median(costs))
            yield sample("idle-worlds", side.subject, (side.server.resident - memory) / 1e6 * IDLE / idle)
        history = {**HISTORY, "days": 2} if plan.quick else HISTORY
        for side in found if plan.wants("seed") else ():
            yield sample("seed", side.subject, side.client.cost_ms("POST", "/_simulator/seed", history) / 1e3)
