"""Lists: sorting, filters, dates and search. Each rule is checked with every list operation that it applies to."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from simulator.conformance.bench import Bench
from simulator.conformance.laws import Refusal, guess, promise, refusals
from simulator.conformance.service import Answer
from simulator.engine.text.json import Shown
from simulator.providers.ramp.laws import stock
from simulator.providers.ramp.laws.conventions.listed import (
    LISTS,
    SEARCHED,
    VALUES,
    Listed,
    amount_of,
    stocked,
    string_at,
    whole,
)  # fmt: skip
from simulator.providers.ramp.laws.money.quotes import instant

COMMON = "Common list parameters"


def _order_key(row: Shown, name: str) -> object:
    if name in ("amount", "name"):
        return amount_of(row) if name == "amount" else str(row["name"])
    return instant(str(row.get(name) or row.get("created_at")))


@promise("sort.order", COMMON)
def order(bench: Bench) -> None:
    """Items are sorted newest first, or as sort_by and sort_order specify."""
    stocked(bench)
    if bench.writes:
        # Amounts that are sorted differently as strings and as numbers.
        for amount in ("3", "20"):
            stock.sent(bench, amount)
    for one in LISTS:
        for name in one.sorts:
            for query in ({"sort_by": name, "sort_order": "asc"}, {"sort_by": name, "sort_order": "desc"}, {}):
                if not query and name != "created_at":
                    continue
                page = bench.done(one.operation, query={**query, "size": 100})
                keys = [_order_key(row, name) for row in page.items]
                falling = query.get("sort_order", "desc") == "desc"
                words = f"rows are not in {'descending' if falling else 'ascending'} order of {name}"
                bench.holds(_sorted(keys, falling), page, words, "data")


def _sorted(keys: list[object], falling: bool) -> bool:
    """Return True if keys are in ascending order, or in descending order if `falling` is True. For strings, both orders
    are accepted: with and without regard to case and punctuation.
    """
    ways: list[Callable[[object], object]] = [lambda key: key]
    if any(isinstance(key, str) for key in keys):
        ways += [lambda key: str(key).casefold(), lambda key: [one for one in str(key).casefold() if one.isalnum()]]
    ordered = [[way(key) for key in keys] for way in ways]
    return any(one == sorted(one, reverse=falling) for one in ordered)  # type: ignore[type-var]  # keys of one list can be compared


def _filtered(bench: Bench, one: Listed) -> list[tuple[str, str, Answer]]:
    """Request a list with each value of each filter. Return filter, value and response if it was accepted."""
    asked = [(name, value) for name in one.filters for value in VALUES[name]]
    found = [(*each, bench.call(one.operation, query={each[0]: each[1], "size": 100})) for each in asked]
    return [row for row in found if row[2].ok]


@promise("filter.holds", "Extra filters per list")
def filter_holds(bench: Bench) -> None:
    """Every item in a filtered list matches the filter."""
    stocked(bench)
    for one in LISTS:
        for name, value, page in _filtered(bench, one):
            wrong = sum(not one.filters[name](row, value) for row in page.items)
            words = f"{wrong} of {len(page.items)} rows do not match {name}={value}"
            bench.holds(not wrong, page, words, f"query.{name}")


@promise("filter.complete", "Extra filters per list")
def filter_complete(bench: Bench) -> None:
    """A filtered list contains all matching items of the unfiltered list."""
    stocked(bench)
    for one in LISTS:
        every = whole(bench, one, {"status": "all"} if one.operation == "GET /fees" else {})
        for name, value, page in _filtered(bench, one):
            rows = every if name == "status" else [row for row in every if row.get("status") != "inactive"]
            due, total = sum(one.filters[name](row, value) for row in rows), page.number("pagination.total")
            bench.holds(total == due, page, f"{total} rows for {name}={value}, {due} match", f"query.{name}")


@guess("filter.amount_bound", "L3", "writes")
def amount_bound(bench: Bench) -> None:
    """min_amount and max_amount are inclusive."""
    # The other amounts are close to the bound, so that a bound in the wrong direction is noticed.
    amount, below, above = "11.57", "11.56", "11.58"
    sent = [stock.sent(bench, one).text("id") for one in (below, amount, above)]
    for query, due in (
        ({"min_amount": amount, "max_amount": amount}, sent[1:2]), ({"max_amount": amount}, sent[:2]),
        ({"min_amount": amount}, sent[1:]),
    ):  # fmt: skip
        page = bench.done("GET /transactions", query={**query, "type": "send", "size": 100})
        there = [str(row.get("id")) for row in page.items]
        found = [name for name in sent if name in there]
        words = f"{len(found)} of the sends of {below}, {amount} and {above} are found, not {len(due)}"
        bench.holds(found == due, page, words, f"query.{'-'.join(query)}")


@promise("filter.dates", COMMON)
def dates(bench: Bench) -> None:
    """start_date and end_date limit created_at."""
    stocked(bench)
    for one, rows in _dated(bench):
        middle = sorted((str(row["created_at"]) for row in rows), key=instant)[len(rows) // 2]
        for name in ("start_date", "end_date"):
            due = sum(_within(row, name, middle) for row in rows)
            page = bench.done(one.operation, query={name: middle, "size": 100})
            total = page.number("pagination.total")
            bench.holds(total == due, page, f"{total} rows for {name}={middle}, {due} match", f"query.{name}")
            wrong = sum(not _within(row, name, middle) for row in page.items)
            bench.holds(not wrong, page, f"{wrong} rows are outside {name}={middle}", f"query.{name}")


def _dated(bench: Bench) -> list[tuple[Listed, list[Shown]]]:
    """Return the lists with date filters that are not empty, each with its items."""
    return [(one, rows) for one in LISTS if one.dates and (rows := whole(bench, one))]


def _within(row: Shown, name: str, bound: str) -> bool:
    at, limit = instant(str(row["created_at"])), instant(bound)
    return at >= limit if name == "start_date" else at <= limit


@promise("filter.whole_days", COMMON)
def whole_days(bench: Bench) -> None:
    """In start_date, a date without a time means the start of that day in UTC. In end_date, it means the end of that
    day.
    """
    stocked(bench)
    for one, rows in _dated(bench):
        day = str(rows[0]["created_at"])[:10]
        page = bench.done(one.operation, query={"start_date": day, "end_date": day})
        bench.equal(page, "pagination.total", sum(str(row["created_at"])[:10] == day for row in rows))


DAILY = (
    ("GET /beneficiaries", stock.beneficiary), ("GET /transactions", stock.onramp), ("GET /orders", stock.onramp),
    ("GET /wallets", stock.wallet), ("GET /recurring-payments", stock.recurring),
)  # fmt: skip
"""Lists with date filters, and for each a function that adds an item."""
LATE, EARLY = timedelta(hours=22, minutes=30), timedelta(hours=25, minutes=30)
"""At 22:30 UTC it is already the next day in Nairobi, and at 01:30 UTC it is still the previous day in New York."""


@promise("filter.utc_days", COMMON, "writes", "control")
def utc_days(bench: Bench) -> None:
    """A date without a time means a day in UTC."""
    day = bench.world.next_midnight()
    for moment in (LATE, EARLY):
        bench.world.advance_to(day + moment)
        for make in dict.fromkeys(make for _, make in DAILY):
            make(bench)
    for operation, _ in DAILY:
        for date in (str((day + timedelta(days=more)).date()) for more in (0, 1)):
            bounds = {"start_date": f"{date}T00:00:00.000Z", "end_date": f"{date}T23:59:59.999Z"}
            due = bench.total(operation, bounds)
            page = bench.done(operation, query={"start_date": date, "end_date": date, "size": 100})
            bench.holds(due > 0, page, f"no rows on {date}", "data")
            bench.equal(page, "pagination.total", due)
            wrong = sum(str(row["created_at"])[:10] != date for row in page.items)
            bench.holds(not wrong, page, f"{wrong} rows were not created on {date} in UTC", "query.start_date")


@promise("search.holds", COMMON)
def search(bench: Bench) -> None:
    """A search finds exactly the items that contain the string, ignoring case."""
    stocked(bench)
    for one in LISTS:
        if one.operation not in SEARCHED:
            continue
        rows = whole(bench, one)
        for field in SEARCHED[one.operation]:
            text = next(filter(None, (string_at(row, field) for row in rows)), None)
            for asked in () if text is None else (text, text.upper()):
                page = bench.done(one.operation, query={"search": asked, "size": 100})
                due = sum(asked.lower() in string_at(row, field).lower() for row in rows)
                found, got = sum(asked.lower() in str(row).lower() for row in page.items), len(page.items)
                held = found == got and page.number("pagination.total") >= due
                words = f"search={asked}, the {field} of a row, finds {got} rows; {found} contain it, {due} should"
                bench.holds(held, page, words, "query.search")
        nothing = bench.done(one.operation, query={"search": "zz-nothing-has-this"})
        bench.holds(nothing.items == [], nothing, "rows without the string are found", "query.search")


@promise("list.equals_get", "List responses; GET by id")
def rows_as_read(bench: Bench) -> None:
    """An item in a list equals the GET response for its id."""
    stocked(bench)
    for one in LISTS:
        if one.shown:
            page = bench.done(one.operation, query={"size": 10})
            for row in page.items:
                full = bench.call(one.shown, id=str(row["id"]))
                if bench.accepted(full, 200, after=(page,)):
                    bench.like(full, full.body, row)


def _invalid(operation: str, name: str, value: str) -> Refusal:
    return Refusal("400 invalid_parameter", operation, query={name: value}, param=name)


DATED = [one.operation for one in LISTS if one.dates]
CLOSED_FILTERS = ("type", "status", "order_type", "product", "payment_method")
"""Filters with a fixed set of possible values."""


sort_by = refusals(
    "errors.sort_by", COMMON, "An unknown sort_by is refused with 400 invalid_parameter.",
    *(_invalid(one.operation, "sort_by", "colour") for one in LISTS if one.sorts), needs=(),
)  # fmt: skip
filter_value = refusals(
    "errors.filter_value", "Errors: invalid_parameter",
    "An unknown value of a filter is refused with 400 invalid_parameter that names the filter.",
    *(_invalid(one.operation, name, "nonsense") for one in LISTS for name in one.filters if name in CLOSED_FILTERS),
    needs=(),
)  # fmt: skip
date_range = refusals(
    "errors.date_range", COMMON, "An end_date before the start_date is refused with 400 invalid_date_range.",
    *(Refusal("400 invalid_date_range", operation, query={"start_date": "2026-02-01", "end_date": "2026-01-01"})
      for operation in DATED),
    needs=(),
)  # fmt: skip
malformed_date = refusals(
    "errors.malformed_date", COMMON, "A malformed date is refused with 400 invalid_parameter that names the parameter.",
    *(_invalid(operation, name, "yesterday") for operation in DATED for name in ("start_date", "end_date")), needs=(),
)  # fmt: skip
too_short = refusals(
    "search.too_short", COMMON, "A search for a single character is refused with 400.",
    *(_invalid(operation, "search", "a") for operation in ("GET /transactions", "GET /beneficiaries")), needs=(),
)  # fmt: skip
