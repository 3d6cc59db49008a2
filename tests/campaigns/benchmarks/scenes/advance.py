"""One advance of the clock over a year of weekly runs of 1,000 or 100 recurring payments, with calls during the
advance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing
from itertools import cycle
from time import perf_counter

from tests.campaigns.benchmarks.client import QUOTE, Client, signed_in
from tests.campaigns.benchmarks.machine import waited_seconds
from tests.campaigns.benchmarks.plan import Plan, sample
from tests.campaigns.benchmarks.recurring import advance, begin, check_runs, endow
from tests.campaigns.benchmarks.results import Sample
from tests.campaigns.benchmarks.servers import Server, Subject

WEEKS = 52
BETWEEN_CALLS_SECONDS = 0.025
"""Seldom enough that what these calls cost the server counts for next to nothing in the cost of the advance."""


def measure(simulators: Sequence[Subject], plan: Plan) -> Iterator[Sample]:
    few, many = (2, 10) if plan.quick else (100, 1_000)
    for _ in range(min(plan.rounds, 2)):
        for subject in simulators:
            cost, _ = _advanced(subject, few)
            yield sample("advance-linear", subject, cost * 1000, few * WEEKS)
        for subject in simulators:
            cost, worst = _advanced(subject, many)
            yield sample("advance-linear", subject, cost * 1000, many * WEEKS)
            yield sample("advance", subject, 1 / cost)
            yield sample("advance-answer", subject, worst * 1000)


def _advanced(subject: Subject, payments: int) -> tuple[float, float]:
    """Seconds that a run took, and that the slowest of the other calls took meanwhile."""
    with ExitStack() as stack:
        server = stack.enter_context(subject.running())
        client = stack.enter_context(signed_in(server))
        endow(client)
        begin(client, 0, payments)
        calls = _of_others(stack, server, client)
        before = server.cpu
        with ThreadPoolExecutor(1) as pool:
            under_way = pool.submit(advance, client, WEEKS)
            worst = _worst_answer_during(under_way, server, calls)
        spent = server.cpu - before
        under_way.result()
        check_runs(client, payments * WEEKS)
        return spent / (payments * WEEKS), worst


def _of_others(stack: ExitStack, server: Server, client: Client) -> list[tuple[Client, str]]:
    """Calls during the advance: a read in another world, and a control call and an API call in the same world."""
    world = client.call("POST", "/_simulator/worlds", {})
    elsewhere = stack.enter_context(signed_in(server, world["id"], world["credentials"]["sandbox"]))
    here = stack.enter_context(closing(Client(server)))
    quote = elsewhere.call("POST", "/v1/quotes", QUOTE)
    return [(elsewhere, f"/v1/quotes/{quote['id']}"), (here, "/_simulator/clock"), (here, "/v1/currencies")]


def _worst_answer_during(under_way: Future[None], server: Server, calls: list[tuple[Client, str]]) -> float:
    """Seconds that the slowest of these calls took, without what both processes waited for a processor."""
    worst = 0.0
    for client, path in cycle(calls):
        if wait([under_way], BETWEEN_CALLS_SECONDS).done:
            break
        waited, began = _waited(server), perf_counter()
        client.send("GET", path)  # without a token 401 is an answer, too
        worst = max(worst, perf_counter() - began - (_waited(server) - waited))
    return worst


def _waited(server: Server) -> float:
    return waited_seconds(server.pid) + waited_seconds("self")
