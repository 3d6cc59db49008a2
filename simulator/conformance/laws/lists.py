"""Lists: pages, order, filters, dates and search, on every list operation that has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from simulator.conformance.laws import stock
from simulator.conformance.laws.bench import Answer, Bench, Lacking, always, law
from simulator.conformance.laws.listed import LISTS, SEARCHED, VALUES, Listed, amount_of
from simulator.conformance.service import pages
from simulator.wire.json import Shown

COMMON = "Common list parameters"
WHOLE = 500
"""A list with more rows than this is not read whole."""


def _stocked(bench: Bench) -> None:
    """Enough of everything for a list to have something to leave out."""
    if not bench.writes or (bench.total("GET /transactions") >= 12 and bench.total("GET /beneficiaries") >= 5):
        return
    stock.onramp(bench)
    stock.offramp(bench)
    stock.beneficiary(bench, stock.BANK_BENEFICIARY)
    stock.beneficiary(bench, stock.ADDRESS_BENEFICIARY)
    for _ in range(3):
        bench.done("POST /wallet/send", {**stock.SEND, "reference": bench.fresh()})
    bench.done("POST /wallet/swap", {"quote_id": stock.swap_quote(bench).text("id")})
    bench.done("POST /wallet/buy", stock.buy_details(stock.buy_quote(bench)))
    bench.done("POST /wallet/withdraw", {"quote_id": stock.withdraw_quote(bench).text("id")})
    for network in ("stellar", "celo", "bitcoin"):
        stock.wallet(bench, network)
    stock.recurring(bench)


def _whole(bench: Bench, one: Listed, query: Mapping[str, object] | None = None) -> list[Shown]:
    if bench.total(one.operation, query) > WHOLE:
        raise Lacking(f"{one.operation} has more than {WHOLE} rows")
    return [row for page in pages(bench.service, one.operation, query) for row in page.items]


@always("page.total_pages", clause="Pagination envelope")
def total_pages(answer: Answer) -> Iterator[tuple[str, str | None]]:
    """A list tells of as many pages as its total fills, of none when it is empty."""
    if answer.ok and "pagination" in answer.body:
        wanted = -(-int(answer.number("pagination.total")) // int(answer.number("pagination.size")))
        told = answer.at("pagination.total_pages")
        yield "pagination.total_pages", None if told == wanted else f"total_pages is {told}, not {wanted}"


@always("page.rows", clause="Pagination envelope")
def page_rows(answer: Answer) -> Iterator[tuple[str, str | None]]:
    """A page has as many rows as its total leaves for it, and its size allows."""
    if answer.ok and "pagination" in answer.body:
        number, size, total = (int(answer.number(f"pagination.{name}")) for name in ("page", "size", "total"))
        due = max(0, min(size, total - (number - 1) * size))
        got = len(answer.items)
        yield "data", None if got == due else f"{got} rows on page {number} of size {size}; of {total} it has {due}"


@law("page.partition", clause=COMMON)
def partition(bench: Bench) -> None:
    """Pages have the size asked for, and together each row once."""
    _stocked(bench)
    for one in LISTS:
        whole = [row[one.key] for row in _whole(bench, one)]
        size = max(1, min(len(whole) // 3, 40))
        seen: list[object] = []
        number = 1
        while True:
            page = bench.done(one.operation, query={"size": size, "page": number})
            bench.holds(len(page.items) <= size, page, f"{len(page.items)} rows on a page of {size}", "data")
            bench.equal(page, "pagination.page", number)
            bench.equal(page, "pagination.size", size)
            bench.equal(page, "pagination.total", len(whole))
            bench.equal(page, "pagination.total_pages", -(-len(whole) // size))
            seen += [row[one.key] for row in page.items]
            if number * size >= len(whole):
                break
            number += 1
        held = seen == whole
        bench.holds(held, page, f"pages of {size} give {len(seen)} rows, not the {len(whole)} of the list", "data")


@law("page.beyond", clause=COMMON)
def beyond(bench: Bench) -> None:
    """A page beyond the last has no rows."""
    for one in LISTS:
        page = bench.call(one.operation, query={"page": 9999})
        if bench.accepted(page):
            bench.holds(page.items == [], page, f"page 9999 has {len(page.items)} rows", "data")


@law("page.default_size", clause=COMMON)
def defaults(bench: Bench) -> None:
    """Without parameters a list answers page 1 of 20 rows."""
    for one in LISTS:
        page = bench.done(one.operation)
        bench.equal(page, "pagination.page", 1)
        bench.equal(page, "pagination.size", 20)
        bench.holds(len(page.items) <= 20, page, f"{len(page.items)} rows", "data")


@law("page.size_bound", clause=COMMON)
def too_large(bench: Bench) -> None:
    """A page of more than 100 rows is refused with 400 invalid_parameter."""
    for one in LISTS:
        bench.refused(bench.call(one.operation, query={"size": 101}), 400, "invalid_parameter", param="size")


@law("page.limit", clause=COMMON)
def limit(bench: Bench) -> None:
    """limit is another name of size, and size wins."""
    for one in LISTS:
        alone = bench.done(one.operation, query={"limit": 2})
        bench.equal(alone, "pagination.size", 2)
        bench.holds(len(alone.items) <= 2, alone, f"{len(alone.items)} rows for limit 2", "data")
        both = bench.done(one.operation, query={"limit": 2, "size": 3})
        bench.equal(both, "pagination.size", 3)


def _order_key(name: str) -> Callable[[Shown], object]:
    if name == "amount":
        return amount_of
    return lambda row: str(row.get(name) or row.get("created_at"))


@law("sort.order", clause=COMMON)
def order(bench: Bench) -> None:
    """Rows come newest first, and in the order that sort_by and sort_order ask for."""
    _stocked(bench)
    if bench.writes:
        # Amounts that text and numbers put in another order.
        for amount in ("3", "20"):
            bench.done("POST /wallet/send", {**stock.SEND, "amount": amount})
    for one in LISTS:
        for name in one.sorts:
            for query in ({"sort_by": name, "sort_order": "asc"}, {"sort_by": name, "sort_order": "desc"}, {}):
                if not query and name != "created_at":
                    continue
                page = bench.done(one.operation, query={**query, "size": 100})
                keys = [_order_key(name)(row) for row in page.items]
                falling = query.get("sort_order", "desc") == "desc"
                right = _sorted(keys, falling)
                words = f"{name} does not {'fall' if falling else 'rise'} from row to row"
                bench.holds(right, page, words, "data")


def _sorted(keys: list[object], falling: bool) -> bool:
    return keys == sorted(keys, reverse=falling)  # type: ignore[type-var]


@law("errors.sort_by", clause=COMMON)
def unknown_sort(bench: Bench) -> None:
    """An unknown sort_by is refused with 400 invalid_parameter."""
    for one in LISTS:
        if one.sorts:
            answer = bench.call(one.operation, query={"sort_by": "colour"})
            bench.refused(answer, 400, "invalid_parameter", param="sort_by")


def _filtered(bench: Bench, one: Listed) -> list[tuple[str, str, Answer]]:
    """The list under each value of each of its filters that it takes."""
    found = []
    for name in one.filters:
        for value in VALUES[name]:
            answer = bench.call(one.operation, query={name: value, "size": 100})
            if answer.ok:
                found.append((name, value, answer))
    return found


@law("filter.holds", clause="Extra filters per list")
def filter_holds(bench: Bench) -> None:
    """Every row of a filtered list fits the filter."""
    _stocked(bench)
    for one in LISTS:
        for name, value, page in _filtered(bench, one):
            misfits = [row.get(one.key) for row in page.items if not one.filters[name](row, value)]
            words = f"{len(misfits)} of {len(page.items)} rows do not fit {name}={value}"
            bench.holds(not misfits, page, words, f"query.{name}")


@law("filter.complete", clause="Extra filters per list")
def filter_complete(bench: Bench) -> None:
    """A filtered list has every row of the whole list that fits."""
    _stocked(bench)
    for one in LISTS:
        everything = {"status": "all"} if one.operation == "GET /fees" else {}
        whole = _whole(bench, one, everything)
        for name, value, page in _filtered(bench, one):
            rows = whole if name == "status" else [row for row in whole if row.get("status") != "inactive"]
            due = sum(1 for row in rows if one.filters[name](row, value))
            total = page.number("pagination.total")
            bench.holds(total == due, page, f"{total} rows for {name}={value}, {due} fit", f"query.{name}")


@law("errors.filter_value", clause="Errors: invalid_parameter")
def wrong_value(bench: Bench) -> None:
    """A filter value outside its set is refused with 400 invalid_parameter that names the filter."""
    for one in LISTS:
        for name in one.filters:
            if name in ("type", "status", "order_type", "product", "payment_method"):
                answer = bench.call(one.operation, query={name: "nonsense"})
                bench.refused(answer, 400, "invalid_parameter", param=name)


@law("filter.dates", clause=COMMON)
def dates(bench: Bench) -> None:
    """start_date and end_date bound created_at."""
    _stocked(bench)
    for one in LISTS:
        rows = _whole(bench, one) if one.dates else []
        if not rows:
            continue
        middle = str(sorted(str(row["created_at"]) for row in rows)[len(rows) // 2])
        for name in ("start_date", "end_date"):
            due = sum(1 for row in rows if _within(row, name, middle))
            page = bench.done(one.operation, query={name: middle, "size": 100})
            total = page.number("pagination.total")
            bench.holds(total == due, page, f"{total} rows for {name}={middle}, {due} fit", f"query.{name}")
            wrong = sum(1 for row in page.items if not _within(row, name, middle))
            bench.holds(not wrong, page, f"{wrong} rows lie outside {name}={middle}", f"query.{name}")


def _within(row: Shown, name: str, bound: str) -> bool:
    at = str(row["created_at"])
    return at >= bound if name == "start_date" else at <= bound


@law("filter.whole_days", clause=COMMON)
def whole_days(bench: Bench) -> None:
    """A date without a time means the start of its day as start_date and the end of it as end_date, in UTC."""
    _stocked(bench)
    for one in LISTS:
        rows = _whole(bench, one) if one.dates else []
        if not rows:
            continue
        day = str(rows[0]["created_at"])[:10]
        page = bench.done(one.operation, query={"start_date": day, "end_date": day})
        due = sum(1 for row in rows if str(row["created_at"])[:10] == day)
        bench.equal(page, "pagination.total", due)


@law("errors.date_range", clause=COMMON)
def date_range(bench: Bench) -> None:
    """An end_date before the start_date is refused with 400 invalid_date_range."""
    for one in LISTS:
        if one.dates:
            query = {"start_date": "2026-02-01", "end_date": "2026-01-01"}
            bench.refused(bench.call(one.operation, query=query), 400, "invalid_date_range")


@law("errors.malformed_date", clause=COMMON)
def malformed_date(bench: Bench) -> None:
    """A malformed date is refused with 400 invalid_parameter that names the parameter."""
    for one in LISTS:
        if one.dates:
            for name in ("start_date", "end_date"):
                answer = bench.call(one.operation, query={name: "yesterday"})
                bench.refused(answer, 400, "invalid_parameter", param=name)


@law("search.holds", clause=COMMON)
def search(bench: Bench) -> None:
    """search finds what bears the text, without regard to case, and nothing else."""
    _stocked(bench)
    for one in LISTS:
        if one.operation not in SEARCHED:
            continue
        rows = _whole(bench, one)
        for field in SEARCHED[one.operation]:
            text = next((found for row in rows if (found := _member(row, field))), None)
            if text is not None:
                _judge_search(bench, one, rows, field, text)
        nothing = bench.done(one.operation, query={"search": "zz-nothing-bears-this"})
        bench.holds(nothing.items == [], nothing, "rows are found that do not bear the text", "query.search")


def _judge_search(bench: Bench, one: Listed, rows: list[Shown], field: str, text: str) -> None:
    for asked in (text, text.upper()):
        page = bench.done(one.operation, query={"search": asked, "size": 100})
        due = sum(1 for row in rows if text.lower() in _member(row, field).lower())
        found = sum(1 for row in page.items if text.lower() in str(row).lower())
        held = found == len(page.items) and page.number("pagination.total") >= due
        words = f"search={asked}, the {field} of a row, gives {len(page.items)} rows; {found} bear it, {due} are due"
        bench.holds(held, page, words, "query.search")


def _member(row: Shown, place: str) -> str:
    """The text at a dotted place of a row; empty where there is none."""
    value: object = row
    for name in place.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return str(value or "")


@law("search.too_short", clause=COMMON)
def short_search(bench: Bench) -> None:
    """A search for a single character is refused with 400."""
    for one in LISTS:
        if one.operation in ("GET /transactions", "GET /beneficiaries"):
            bench.refused(bench.call(one.operation, query={"search": "a"}), 400, "invalid_parameter", param="search")


@law("list.equals_get", clause="List responses; GET by id")
def rows_as_read(bench: Bench) -> None:
    """A row of a list is what GET by its id shows."""
    _stocked(bench)
    for one in LISTS:
        if one.shown:
            page = bench.done(one.operation, query={"size": 10})
            for row in page.items:
                full = bench.call(one.shown, id=str(row["id"]))
                if bench.accepted(full, 200, after=(page,)):
                    bench.like(full, full.body, row)
