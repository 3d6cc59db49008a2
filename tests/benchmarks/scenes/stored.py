"""A world with more and more in it: what calls cost at each size, what a run keeps, and how quick the clock moves.

Weekly recurring payments to another user fill it, a thousand of them: each run makes a transaction, its order and four
events. The advance of 52 weeks on the way is that of the row; other calls are made meanwhile, and their answers timed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import cycle
from statistics import median
from threading import Thread
from time import perf_counter

from tests.benchmarks.client import PAYEE, QUOTE, Client, signed_in
from tests.benchmarks.machine import waited_seconds
from tests.benchmarks.plan import Plan, Side, sample, sides
from tests.benchmarks.results import Sample
from tests.benchmarks.servers import Subject

EVENTS_OF_A_RUN = 4
TIMED_WEEKS = 52
BETWEEN_CALLS_SECONDS = 0.025
"""Seldom enough that what these calls cost the server counts for next to nothing in the cost of the advance."""


@dataclass(frozen=True)
class Stage:
    """So many further payments begin, then so many weeks go by; `size` is how many transactions there are then."""

    payments: int
    weeks: int
    size: int


STAGES = (
    Stage(100, 1, 100),
    Stage(800, 1, 1_000),
    Stage(0, 10, 10_000),
    Stage(100, TIMED_WEEKS, 62_000),
    Stage(0, 38, 100_000),
)
QUICK_STAGES = (Stage(10, 1, 10), Stage(0, TIMED_WEEKS, 530))

LISTS = {
    "list-status": ("/v1/transactions?status=completed", "/v1/transactions?status=awaiting_payment"),
    "list-sort": ("/v1/transactions?sort_by=amount",),
    "list-nothing": (
        "/v1/transactions?status=refunded",
        "/v1/transactions?network=stellar",
        "/v1/transactions?min_amount=90000000",
    ),
    "search": ("/v1/transactions?search=ref-00007", "/v1/orders?search=ORD-00000042", "/v1/transactions?search=nobody"),
    "events": ("/_simulator/events?limit=100",),
    "events-found": ("/_simulator/events?type=transaction.failed&limit=100", "/_simulator/events?object_id=txn_nobody"),
    "growth-list": ("/v1/transactions",),
}
"""The row's figure is that of the slowest of its calls."""

CHAIN = ("growth-create", "growth-confirm", "growth-action", "growth-read")


def measure(simulators: Sequence[Subject], plan: Plan) -> Iterator[Sample]:
    with ExitStack() as stack:
        found = sides(stack, simulators)
        for side in found:
            side.client.act("set_balance", symbol="USDC", network="CELO", amount="1000000000")
            list(_costs(side, plan, 0))  # what only first calls cost
        stored, begun, memories = 0, 0, list[tuple[int, list[int]]]()
        for stage in QUICK_STAGES if plan.quick else STAGES:
            for side in found:
                _begin(side.client, begun, stage.payments)
                yield from _advance(stack, side, stage, stage.size - stored)
            stored, begun = stage.size, begun + stage.payments
            memories.append((stored, [side.server.resident for side in found]))
            for _ in range(plan.rounds):
                for side in found:
                    yield from _costs(side, plan, stored)
        (low, before), (high, after) = memories[-3 if len(memories) > 2 else 0], memories[-1]
        for side, first, last in zip(found, before, after, strict=True):
            yield sample("memory-run", side.subject, (last - first) / (high - low) / 1000)


def _begin(client: Client, begun: int, more: int) -> None:
    today = client.call("GET", "/_simulator/clock")["now"][:10]
    for each in range(begun, begun + more):
        payment = client.call("POST", "/v1/recurring-payments", {
            "name": f"Savings {each}", "type": "send", "source": {"symbol": "USDC", "network": "CELO"},
            "amount": f"{1 + each / 100:.2f}", "amount_currency": "USDC", "reference": f"ref-{each:05}",
            "recipient": {"destination": {"type": "platform_user", "email": "amina@example.test"}},
        })  # fmt: skip
        path = f"/v1/recurring-payments/{payment['id']}"
        weekly = {"frequency": "weekly", "day_of_week": "monday", "start_date": today, "end": {"type": "never"}}
        client.call("PUT", f"{path}/schedule", weekly)
        client.call("GET", f"{path}/review")
        client.call("POST", f"{path}/activate")


def _advance(stack: ExitStack, side: Side, stage: Stage, runs: int) -> Iterator[Sample]:
    """Let the weeks go by, and time what another caller waits meanwhile."""
    before, worst = side.server.cpu, _worst_answer_while(stack, side, stage.weeks)
    spent = side.server.cpu - before
    side.client.sign_in()
    yield sample("advance-linear", side.subject, spent * 1000 / runs, runs)
    if stage.weeks == TIMED_WEEKS:
        yield sample("advance", side.subject, runs / spent)
        yield sample("advance-answer", side.subject, worst * 1000)


def _worst_answer_while(stack: ExitStack, side: Side, weeks: int) -> float:
    """Seconds that the slowest of the other calls took, without what both processes waited for a processor."""
    world = side.client.call("POST", "/_simulator/worlds", {})
    elsewhere = stack.enter_context(signed_in(side.server, world["id"], world["credentials"]["sandbox"]))
    here = Client(side.server)
    quote = elsewhere.call("POST", "/v1/quotes", QUOTE)
    calls = ((elsewhere, f"/v1/quotes/{quote['id']}"), (here, "/_simulator/clock"), (here, "/v1/currencies"))
    advance = {"by": f"{7 * weeks}d"}
    thread = Thread(target=side.client.call, args=("POST", "/_simulator/clock/advance", advance))
    thread.start()
    worst = 0.0
    for client, path in cycle(calls):
        thread.join(BETWEEN_CALLS_SECONDS)
        if not thread.is_alive():
            break
        waited, began = _waited(side), perf_counter()
        client.send("GET", path)  # without a token 401 is an answer, too
        worst = max(worst, perf_counter() - began - (_waited(side) - waited))
    here.close()
    return worst


def _waited(side: Side) -> float:
    return waited_seconds(side.server.pid) + waited_seconds("self")


def _costs(side: Side, plan: Plan, stored: int) -> Iterator[Sample]:
    times = 2 if plan.quick else 10
    if plan.wants("list-status", *CHAIN):
        for row, costs in _chain(side.client, times).items():
            yield sample(row, side.subject, median(costs), stored)
    for row, paths in LISTS.items():
        if plan.wants(row):
            size = stored * EVENTS_OF_A_RUN if row.startswith("events") else stored
            cost = max(side.client.median_cost_ms(times, "GET", path) for path in paths)
            yield sample(row, side.subject, cost, size)


def _chain(client: Client, times: int) -> dict[str, list[float]]:
    """Some ramps, each call of theirs timed; every second one stays where it waits for its payer."""
    costs: dict[str, list[float]] = {row: [] for row in CHAIN}
    for number in range(times):
        before = client.server.cpu
        quote = client.call("POST", "/v1/quotes", QUOTE)
        confirmed_at = client.server.cpu
        ramp = client.call("POST", f"/v1/quotes/{quote['id']}/confirm", PAYEE)["id"]
        costs["growth-create"].append((confirmed_at - before) * 1000)
        costs["growth-confirm"].append((client.server.cpu - confirmed_at) * 1000)
        if number % 2:
            pay = {"target": ramp}
            costs["growth-action"].append(client.cost_ms("POST", "/_simulator/actions/payment_arrives", pay))
        costs["growth-read"].append(client.cost_ms("GET", f"/v1/transactions/{ramp}"))
    return costs
