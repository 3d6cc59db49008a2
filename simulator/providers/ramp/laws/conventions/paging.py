"""Pages: how lists are cut into pages, under filters and below a resource too."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from datetime import datetime

from simulator.conformance.bench import Bench
from simulator.conformance.laws import always_promise, promise
from simulator.conformance.service import Answer
from simulator.kernel.dataclass import dataclass
from simulator.providers.ramp.laws import stock
from simulator.providers.ramp.laws.account.webhooks import receiving
from simulator.providers.ramp.laws.conventions.listed import LISTS, stocked, whole
from simulator.providers.ramp.laws.money import recurring
from simulator.providers.ramp.laws.money.quotes import instant

COMMON = "Common list parameters"


@always_promise("page.total_pages", "Pagination envelope")
def total_pages(answer: Answer) -> Iterator[tuple[str, str | None]]:
    """A list tells of as many pages as its total fills, of none when it is empty."""
    if answer.ok and "pagination" in answer.body:
        wanted = -(-int(answer.number("pagination.total")) // int(answer.number("pagination.size")))
        told = answer.at("pagination.total_pages")
        yield "pagination.total_pages", None if told == wanted else f"total_pages is {told}, not {wanted}"


@always_promise("page.rows", "Pagination envelope")
def page_rows(answer: Answer) -> Iterator[tuple[str, str | None]]:
    """A page has as many rows as its total leaves for it, and its size allows."""
    if answer.ok and "pagination" in answer.body:
        number, size, total = (int(answer.number(f"pagination.{name}")) for name in ("page", "size", "total"))
        due = max(0, min(size, total - (number - 1) * size))
        got = len(answer.items)
        yield "data", None if got == due else f"{got} rows on page {number} of size {size}; of {total} it has {due}"


LARGEST_WALKED = 40
"""The largest page that a walk asks for; the specification allows 100 rows at most."""


def _walk(
    bench: Bench, operation: str, key: str, keys: list[object], size: int,
    query: Mapping[str, object] | None = None, **ids: str,
) -> None:  # fmt: skip
    """Judge that the pages of a size give these rows, each once and in this order."""
    seen: list[object] = []
    number = 1
    while True:
        page = bench.done(operation, query={**(query or {}), "size": size, "page": number}, path=ids)
        bench.holds(len(page.items) <= size, page, f"{len(page.items)} rows on a page of {size}", "data")
        bench.equal(page, "pagination.page", number)
        bench.equal(page, "pagination.size", size)
        bench.equal(page, "pagination.total", len(keys))
        bench.equal(page, "pagination.total_pages", -(-len(keys) // size))
        seen += [row[key] for row in page.items]
        if number * size >= len(keys):
            break
        number += 1
    held = seen == keys
    bench.holds(held, page, f"pages of {size} give {len(seen)} rows, not the {len(keys)} of the list", "data")


@promise("page.partition", COMMON)
def partition(bench: Bench) -> None:
    """Pages have the size asked for, and together each row once."""
    stocked(bench)
    for one in LISTS:
        keys = [row[one.key] for row in whole(bench, one)]
        _walk(bench, one.operation, one.key, keys, max(1, min(len(keys) // 3, LARGEST_WALKED)))


NARROWED: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("GET /transactions", {"type": "send"}),
    ("GET /transactions", {"search": "conform", "sort_order": "asc"}),
    ("GET /transactions", {"min_amount": "10", "sort_by": "amount", "sort_order": "asc"}),
    ("GET /orders", {"order_type": "send"}),
    ("GET /beneficiaries", {"country": "KE", "sort_by": "name"}),
    ("GET /wallets", {"network": "celo"}),
    ("GET /recurring-payments", {"type": "withdraw"}),
    ("GET /fees", {"product": "swap,send"}),
)
"""Lists that are narrowed down by a filter or a search, some of them in an order of their own."""


@promise("page.filtered", COMMON)
def filtered(bench: Bench) -> None:
    """The pages of a filtered list have together each row that fits once, in the order asked for."""
    stocked(bench)
    lists = {one.operation: one for one in LISTS}
    for operation, query in NARROWED:
        one = lists[operation]
        keys = [row[one.key] for row in whole(bench, one, query)]
        _walk(bench, operation, one.key, keys, max(1, min(-(-len(keys) // 3), LARGEST_WALKED)), query)


@dataclass(frozen=True)
class Sublist:
    """A list below a resource. `fill` makes one with three rows and returns the resource's id."""

    operation: str
    controlled: bool
    fill: Callable[[Bench, ExitStack], str]


def _thrice(bench: Bench, make: Callable[[], object]) -> None:
    """Make three rows, at three times where the clock can be moved, since the order of equal times is not promised."""
    for _ in range(3):
        make()
        if bench.controlled:
            bench.world.advance("1s")


def _invoices(bench: Bench, stack: ExitStack) -> str:
    home = stock.wallet(bench, "bitcoin").text("id")
    body = {"type": "invoice", "amount_sats": 1000}
    _thrice(bench, lambda: bench.done("POST /wallets/{id}/lightning", body, id=home))
    return home


def _deposits(bench: Bench, stack: ExitStack) -> str:
    home = stock.wallet(bench, "celo").text("id")
    _thrice(bench, lambda: bench.world.act("deposit_arrives", home, asset="USDT", amount="30.77"))
    return home


def _runs(bench: Bench, stack: ExitStack) -> str:
    name = recurring.active(bench, end={"type": "after_occurrences", "occurrences": 3})
    recurring.past(bench, name, 3)
    return name


def _deliveries(bench: Bench, stack: ExitStack) -> str:
    receiver = stack.enter_context(receiving(bench, "beneficiary.created"))
    _thrice(bench, lambda: (stock.beneficiary(bench), receiver.got()))
    return receiver.id


SUBLISTS = (
    Sublist("GET /wallets/{id}/lightning", False, _invoices),
    Sublist("GET /wallets/{id}/deposits", True, _deposits),
    Sublist("GET /recurring-payments/{id}/transactions", True, _runs),
    Sublist("GET /webhooks/{id}/deliveries", True, _deliveries),
)


def _times(page: Answer) -> list[datetime]:
    """When the rows of a page were made; a delivery is an attempt, and tells when that was."""
    return [instant(str(row.get("created_at") or row.get("attempted_at"))) for row in page.items]


@promise("page.sublists", COMMON, "writes")
def sublists(bench: Bench) -> None:
    """A list below a resource has pages, an order and bounds of time as every list."""
    for one in SUBLISTS:
        if one.controlled and not bench.controlled:
            continue
        with ExitStack() as stack:
            name = one.fill(bench, stack)
            page = bench.done(one.operation, id=name)
            bench.holds(len(page.items) == 3, page, f"{len(page.items)} rows, 3 were made", "data")
            _walk(bench, one.operation, "id", [row["id"] for row in page.items], 2, id=name)
            rising = bench.done(one.operation, query={"sort_order": "asc"}, id=name)
            for shown, times in ((page, _times(page)[::-1]), (rising, _times(rising))):
                bench.holds(times == sorted(times), shown, "rows do not stand in the order of their time", "data")
            late = bench.done(one.operation, query={"start_date": "2999-01-01"}, id=name)
            bench.holds(late.items == [], late, "rows from after 2999", "query.start_date")
            large = bench.call(one.operation, query={"size": 101}, id=name)
            bench.refused(large, 400, "invalid_parameter", param="size")


@promise("page.beyond", COMMON)
def beyond(bench: Bench) -> None:
    """A page beyond the last has no rows."""
    for one in LISTS:
        page = bench.call(one.operation, query={"page": 9999})
        if bench.accepted(page):
            bench.holds(page.items == [], page, f"page 9999 has {len(page.items)} rows", "data")


@promise("page.default_size", COMMON)
def defaults(bench: Bench) -> None:
    """Without parameters a list answers page 1 of 20 rows."""
    for one in LISTS:
        page = bench.done(one.operation)
        bench.equal(page, "pagination.page", 1)
        bench.equal(page, "pagination.size", 20)
        bench.holds(len(page.items) <= 20, page, f"{len(page.items)} rows", "data")


@promise("page.size_bound", COMMON)
def too_large(bench: Bench) -> None:
    """A page of more than 100 rows is refused with 400 invalid_parameter."""
    for one in LISTS:
        bench.refuses(400, "invalid_parameter", one.operation, param="size", query={"size": 101})


@promise("page.limit", COMMON)
def limit(bench: Bench) -> None:
    """limit is another name of size, and size wins."""
    for one in LISTS:
        alone = bench.done(one.operation, query={"limit": 2})
        bench.equal(alone, "pagination.size", 2)
        bench.holds(len(alone.items) <= 2, alone, f"{len(alone.items)} rows for limit 2", "data")
        both = bench.done(one.operation, query={"limit": 2, "size": 3})
        bench.equal(both, "pagination.size", 3)


LAWS = (partition, filtered, sublists, beyond, defaults, too_large, limit)


ALWAYS = (total_pages, page_rows)
