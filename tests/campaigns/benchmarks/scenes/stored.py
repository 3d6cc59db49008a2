"""A growing world: the cost of calls at each size, and the memory for each recurring run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median

from tests.campaigns.benchmarks.client import PAYEE, QUOTE, Client
from tests.campaigns.benchmarks.plan import Plan, Side, sample, sides
from tests.campaigns.benchmarks.recurring import EVENTS_OF_A_RUN, advance, begin, check_runs, endow
from tests.campaigns.benchmarks.results import Sample
from tests.campaigns.benchmarks.servers import Subject


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
    Stage(100, 52, 62_000),
    Stage(0, 38, 100_000),
)
QUICK_STAGES = (Stage(10, 1, 10), Stage(0, 9, 100), Stage(0, 40, 500))

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
    "advice": ("/_simulator/advice",),
    "coverage": ("/_simulator/coverage",),
    "ledger": ("/_simulator/ledger?entries=100",),
    "growth-list": ("/v1/transactions",),
}
"""The row's figure is that of the slowest of its calls."""

CHAIN = ("growth-create", "growth-confirm", "growth-action", "growth-read")


def measure(simulators: Sequence[Subject], plan: Plan) -> Iterator[Sample]:
    """The smallest size has servers of its own, measured in the rounds of the largest: the machine changes."""
    first, *rest = QUICK_STAGES if plan.quick else STAGES
    with ExitStack() as stack:
        large, small = _prepared(stack, simulators, plan, first), _prepared(stack, simulators, plan, first)
        memories, begun, stored = {}, first.payments, first.size
        for stage in rest:
            for side in large:
                begin(side.client, begun, stage.payments)
                advance(side.client, stage.weeks)
                check_runs(side.client, stage.size)
            begun, stored = begun + stage.payments, stage.size
            memories[stored] = [side.server.resident for side in large]
            turns = [(side, stored) for side in large]
            if stage is rest[-1]:
                for side in small:
                    side.client.sign_in()
                turns += [(side, first.size) for side in small]
            for _ in range(plan.rounds):
                for side, size in turns:
                    yield from _costs(side, plan, size)
        low = rest[(len(rest) - 1) // 2].size  # below it what only begins to be kept would count as what a run keeps
        for side, before, after in zip(large, memories[low], memories[stored], strict=True):
            yield sample("memory-run", side.subject, (after - before) / (stored - low) / 1000)


def _prepared(stack: ExitStack, simulators: Sequence[Subject], plan: Plan, first: Stage) -> list[Side]:
    """Servers at the first stage, that have made all calls before."""
    found = sides(stack, simulators)
    for side in found:
        endow(side.client)
        begin(side.client, 0, first.payments)
        advance(side.client, first.weeks)
        check_runs(side.client, first.size)
        list(_costs(side, plan, 0))
    return found


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
