"""Paging in lists, including filtered lists and lists that belong to a resource."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from datetime import datetime

from simulator.conformance.bench import Bench
from simulator.conformance.laws import Checked, Refusal, always_promise, promise, refusals
from simulator.conformance.service import Answer
from simulator.providers.ramp.laws import stock
from simulator.providers.ramp.laws.account.webhooks import receiving
from simulator.providers.ramp.laws.conventions.listed import LISTS, stocked, whole
from simulator.providers.ramp.laws.money import recurring
from simulator.providers.ramp.laws.money.quotes import instant

COMMON = "Common list parameters"


@always_promise("page.total_pages", "Pagination envelope")
def total_pages(answer: Answer) -> Checked:
    """total_pages is total divided by size, rounded up."""
    if answer.ok and "pagination" in answer.body:
        wanted = -(-int(answer.number("pagination.total")) // int(answer.number("pagination.size")))
        got = answer.at("pagination.total_pages")
        yield "pagination.total_pages", None if got == wanted else f"total_pages is {got}, not {wanted}"


@always_promise("page.rows", "Pagination envelope")
def page_rows(answer: Answer) -> Checked:
    """Each page contains `size` items, except for the last page, which contains the rest."""
    if answer.ok and "pagination" in answer.body:
        number, size, total = (int(answer.number(f"pagination.{name}")) for name in ("page", "size", "total"))
        due = max(0, min(size, total - (number - 1) * size))
        got = len(answer.items)
        yield ("data", None if got == due else f"{got} rows on page {number}, size {size}, total {total}; not {due}")


LARGEST_WALKED = 40
"""The maximum page size when reading all pages. The specification allows 100."""


def _walk(
    bench: Bench, operation: str, key: str, keys: list[object], size: int,
    query: Mapping[str, object] | None = None, **ids: str,
) -> None:  # fmt: skip
    """Check that pages of the given size together contain the items with these keys, each once and in this order."""
    seen: list[object] = []
    total, last = len(keys), -(-len(keys) // size)
    for number in range(1, max(last, 1) + 1):
        page = bench.done(operation, query={**(query or {}), "size": size, "page": number}, path=ids)
        bench.holds(len(page.items) <= size, page, f"{len(page.items)} rows on a page of {size}", "data")
        for name, due in (("page", number), ("size", size), ("total", total), ("total_pages", last)):
            bench.equal(page, f"pagination.{name}", due)
        seen += [row[key] for row in page.items]
    bench.holds(seen == keys, page, f"pages of {size} have {len(seen)} rows, not the {total} of the list", "data")


@promise("page.partition", COMMON)
def partition(bench: Bench) -> None:
    """Pages have the requested size, and together they contain each item once."""
    stocked(bench)
    for one in LISTS:
        keys = [row[one.key] for row in whole(bench, one)]
        _walk(bench, one.operation, one.key, keys, max(1, min(len(keys) // 3, LARGEST_WALKED)))


NARROWED: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("GET /transactions", {"type": "send"}), ("GET /transactions", {"search": "conform", "sort_order": "asc"}),
    ("GET /transactions", {"min_amount": "10", "sort_by": "amount", "sort_order": "asc"}),
    ("GET /orders", {"order_type": "send"}), ("GET /beneficiaries", {"country": "KE", "sort_by": "name"}),
    ("GET /wallets", {"network": "celo"}), ("GET /recurring-payments", {"type": "withdraw"}),
    ("GET /fees", {"product": "swap,send"}),
)  # fmt: skip
"""Lists restricted by a filter or a search. Some of them use a different sort order."""


@promise("page.filtered", COMMON)
def filtered(bench: Bench) -> None:
    """The pages of a filtered list together contain each matching item once, in the requested order."""
    stocked(bench)
    lists = {one.operation: one for one in LISTS}
    for operation, query in NARROWED:
        one = lists[operation]
        keys = [row[one.key] for row in whole(bench, one, query)]
        _walk(bench, operation, one.key, keys, max(1, min(-(-len(keys) // 3), LARGEST_WALKED)), query)


def _thrice(bench: Bench, make: Callable[[], object]) -> None:
    """Create three items at different times, because items with equal times can be listed in any sequence."""
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
    _thrice(bench, lambda: stock.deposit(bench, home, "USDT", "30.77"))
    return home


def _runs(bench: Bench, stack: ExitStack) -> str:
    name = recurring.active(bench, end={"type": "after_occurrences", "occurrences": 3})
    recurring.past(bench, name, 3)
    return name


def _deliveries(bench: Bench, stack: ExitStack) -> str:
    receiver = stack.enter_context(receiving(bench, "beneficiary.created"))
    _thrice(bench, lambda: (stock.beneficiary(bench), receiver.got()))
    return receiver.id


SUBLISTS: Mapping[str, Callable[[Bench, ExitStack], str]] = {
    "GET /wallets/{id}/lightning": _invoices,
    "GET /wallets/{id}/deposits": _deposits,
    "GET /recurring-payments/{id}/transactions": _runs,
    "GET /webhooks/{id}/deliveries": _deliveries,
}
"""Lists that belong to a resource, each with a function that creates three items and returns the resource's id."""


def _times(page: Answer) -> list[datetime]:
    """Return the times of the items on a page. For a delivery, this is the time of the attempt."""
    return [instant(str(row.get("created_at") or row.get("attempted_at"))) for row in page.items]


@promise("page.sublists", COMMON, "writes")
def sublists(bench: Bench) -> None:
    """A list that belongs to a resource supports paging, sort_order and date filters."""
    for operation, fill in SUBLISTS.items():
        if not bench.controlled and fill is not _invoices:
            continue
        with ExitStack() as stack:
            name = fill(bench, stack)
            page = bench.done(operation, id=name)
            bench.holds(len(page.items) == 3, page, f"{len(page.items)} rows, not 3", "data")
            _walk(bench, operation, "id", [row["id"] for row in page.items], 2, id=name)
            rising = bench.done(operation, query={"sort_order": "asc"}, id=name)
            for shown, times in ((page, _times(page)[::-1]), (rising, _times(rising))):
                bench.holds(times == sorted(times), shown, "rows are not in the order of their time", "data")
            late = bench.done(operation, query={"start_date": "2999-01-01"}, id=name)
            bench.holds(late.items == [], late, "rows from after 2999", "query.start_date")
            large = bench.call(operation, query={"size": 101}, id=name)
            bench.refused(large, 400, "invalid_parameter", param="size")


@promise("page.beyond", COMMON)
def beyond(bench: Bench) -> None:
    """A page after the last page is empty."""
    for one in LISTS:
        page = bench.call(one.operation, query={"page": 9999})
        if bench.accepted(page):
            bench.holds(page.items == [], page, f"page 9999 has {len(page.items)} rows", "data")


@promise("page.default_size", COMMON)
def defaults(bench: Bench) -> None:
    """Without parameters, a list returns page 1 with up to 20 items."""
    for one in LISTS:
        page = bench.done(one.operation)
        bench.equal(page, "pagination.page", 1)
        bench.equal(page, "pagination.size", 20)
        bench.holds(len(page.items) <= 20, page, f"{len(page.items)} rows", "data")


@promise("page.limit", COMMON)
def limit(bench: Bench) -> None:
    """limit is an alias for size. If both are sent, size takes precedence."""
    for one in LISTS:
        alone = bench.done(one.operation, query={"limit": 2})
        bench.equal(alone, "pagination.size", 2)
        bench.holds(len(alone.items) <= 2, alone, f"{len(alone.items)} rows for limit 2", "data")
        both = bench.done(one.operation, query={"limit": 2, "size": 3})
        bench.equal(both, "pagination.size", 3)


size_bound = refusals(
    "page.size_bound", COMMON, "A page size above 100 is refused with 400 invalid_parameter.",
    *(Refusal("400 invalid_parameter", one.operation, query={"size": 101}, param="size") for one in LISTS),
    needs=(),
)  # fmt: skip
