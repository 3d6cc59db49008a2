"""Calls under load: the number that the server handles per second of its CPU time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack

from tests.campaigns.benchmarks.client import QUOTE
from tests.campaigns.benchmarks.load import Load, run
from tests.campaigns.benchmarks.plan import Plan, Side, sample, sides
from tests.campaigns.benchmarks.results import Sample
from tests.campaigns.benchmarks.servers import TWIN, Subject


def measure(simulators: Sequence[Subject], plan: Plan) -> Iterator[Sample]:
    with ExitStack() as stack:
        loads = [(side, _loads(side)) for side in sides(stack, [TWIN, *simulators])]
        for _, kinds in () if plan.quick else loads:
            for load in kinds.values():
                run(load, plan.seconds / 2)
        for _ in range(plan.rounds):
            for row in ("create", "read"):
                for side, kinds in loads if plan.wants(row) else ():
                    before = side.server.cpu
                    answered = run(kinds[row], plan.seconds)
                    yield sample(row, side.subject, answered / (side.server.cpu - before))


def _loads(side: Side) -> dict[str, Load]:
    quote, headers = side.client.call("POST", "/v1/quotes", QUOTE), side.client.headers
    kept = {name: headers[name] for name in ("content-type", "authorization")}
    return {
        "create": Load(side.server.origin, "POST", "/v1/quotes", kept, json.dumps(QUOTE).encode()),
        "read": Load(side.server.origin, "GET", f"/v1/quotes/{quote['id']}", kept),
    }
