"""Lists that do not match their parameters."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from tests.tools.conformance.mutants.errors import refusal
from tests.tools.conformance.mutants.service import Answer, Call, Service, answer, service
from tests.tools.conformance.mutants.times import later

LISTS = (
    "GET /beneficiaries", "GET /transactions", "GET /orders", "GET /wallets", "GET /recurring-payments",
    "GET /wallets/{id}/deposits", "GET /webhooks/{id}/deliveries", "GET /fees",
)  # fmt: skip


async def without(call: Call, ask: Service, *names: str) -> Answer:
    return await ask(call.but(query={name: value for name, value in call.query.items() if name not in names}))


@service("Filters and pages are ignored.", *LISTS, found_by="filter.holds")
async def query_ignored(call: Call, ask: Service) -> Answer:
    return await ask(call.but(query={}))


@service("Page 2 is page 1.", *LISTS, found_by="page.partition")
async def second_page_is_first(call: Call, ask: Service) -> Answer:
    found = await without(call, ask, "page")
    if found.status == 200 and call.query.get("page", "").isdigit():
        found.body["pagination"]["page"] = int(call.query["page"])
    return found


@answer("The total is that of the page.", *LISTS, found_by="page.partition")
def total_of_the_page(body: Any, call: Call) -> None:
    body["pagination"]["total"] = len(body["data"])


@answer("An empty list has one page.", *LISTS, found_by="page.total_pages")
def empty_list_has_a_page(body: Any, call: Call) -> None:
    body["pagination"]["total_pages"] = max(1, body["pagination"]["total_pages"])


@service("The size of pages is fixed.", *LISTS, found_by="page.partition")
async def size_ignored(call: Call, ask: Service) -> Answer:
    return await without(call, ask, "size", "limit")


@service("`limit` is not known as another name of `size`.", *LISTS, found_by="page.limit")
async def limit_unknown(call: Call, ask: Service) -> Answer:
    return await without(call, ask, "limit")


@service("A size over 100 is cut to 100 instead of refused.", *LISTS, found_by="page.size_bound")
async def large_size_taken(call: Call, ask: Service) -> Answer:
    size = call.query.get("size", "")
    return await ask(call.but(query={**call.query, "size": "100"}) if size.isdigit() and int(size) > 100 else call)


@service("`sort_order` is ignored.", *LISTS, found_by="sort.order")
async def sort_order_ignored(call: Call, ask: Service) -> Answer:
    return await without(call, ask, "sort_order")


@service("`sort_by` is ignored.", *LISTS, found_by="sort.order")
async def sort_by_ignored(call: Call, ask: Service) -> Answer:
    return await without(call, ask, "sort_by")


@service("Lists begin with what is oldest.", *LISTS, found_by="sort.order")
async def oldest_first(call: Call, ask: Service) -> Answer:
    return await ask(call if "sort_order" in call.query else call.but(query={**call.query, "sort_order": "asc"}))


@service("`start_date` is a day off.", *LISTS, found_by="filter.dates")
async def dates_a_day_off(call: Call, ask: Service) -> Answer:
    date = call.query.get("start_date", "")
    try:
        shifted = later(date, days=-1)
    except ValueError:
        return await ask(call)
    return await ask(call.but(query={**call.query, "start_date": shifted if "T" in date else shifted[:10]}))


@service("`end_date` means the day's beginning.", *LISTS, found_by="filter.whole_days")
async def end_date_is_midnight(call: Call, ask: Service) -> Answer:
    date = call.query.get("end_date", "")
    return await ask(call.but(query={**call.query, "end_date": f"{date}T00:00:00Z"}) if len(date) == 10 else call)


@service("`status` is ignored.", *LISTS, found_by="filter.holds")
async def status_ignored(call: Call, ask: Service) -> Answer:
    return await without(call, ask, "status")


@service("Of several types the first counts.", "GET /beneficiaries", found_by="filter.complete")
async def first_type_counts(call: Call, ask: Service) -> Answer:
    return await ask(call.but(query={name: value.split(",")[0] for name, value in call.query.items()}))


@service("`search` finds everything.", *LISTS, found_by="search.holds")
async def search_ignored(call: Call, ask: Service) -> Answer:
    return await without(call, ask, "search")


@service("`min_amount` and `max_amount` are ignored.", "GET /transactions", found_by="filter.holds")
async def amounts_ignored(call: Call, ask: Service) -> Answer:
    return await without(call, ask, "min_amount", "max_amount")


@answer("The newest object is missing in lists.", "GET /beneficiaries", "GET /wallets", found_by="list.contains")
def newest_missing(body: Any, call: Call) -> None:
    if call.query.get("page", "1") == "1" and call.query.get("sort_order") != "asc" and body["data"]:
        del body["data"][0]


@service("Pages have ten rows unless asked otherwise.", *LISTS, found_by="page.default_size")
async def ten_by_default(call: Call, ask: Service) -> Answer:
    plain = not call.query.keys() & {"size", "limit"}
    return await ask(call.but(query={**call.query, "size": "10"}) if plain else call)


@service("When size and limit are both sent, limit wins.", *LISTS, found_by="page.limit")
async def limit_wins(call: Call, ask: Service) -> Answer:
    both = {"size", "limit"} <= call.query.keys()
    return await ask(call.but(query={**call.query, "size": call.query["limit"]}) if both else call)


@service("A page beyond the last is not found.", *LISTS, found_by="page.beyond")
async def no_page_beyond(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    beyond = found.status == 200 and not found.body["data"] and call.query.get("page", "1") != "1"
    return refusal(404, "not_found", found) if beyond else found


@service("Searching minds upper and lower case.", *LISTS, found_by="search.holds")
async def search_minds_case(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    text = call.query.get("search", "")
    if found.status == 200 and text != text.lower():
        found.body |= {"data": [], "pagination": {**found.body["pagination"], "total": 0, "total_pages": 0}}
    return found


@service("An offramp is not among the transactions of its currency.", "GET /transactions", found_by="filter.complete")
async def offramps_left_out(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    if found.status == 200 and "currency" in call.query:
        rows = [row for row in found.body["data"] if row["type"] != "offramp"]
        left = len(found.body["data"]) - len(rows)
        total = found.body["pagination"]["total"] - left
        found.body |= {"data": rows, "pagination": {**found.body["pagination"], "total": total}}
    return found


@service("`end_date` leaves out what was made at that very moment.", *LISTS, found_by="page.rows")
async def end_date_is_exclusive(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    if found.status == 200 and "T" in call.query.get("end_date", ""):
        found.body["data"] = [row for row in found.body["data"] if row["created_at"] != call.query["end_date"]]
    return found


@service("Amounts are sorted as texts.", "GET /transactions", found_by="sort.order")
async def amounts_sorted_as_text(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    if found.status == 200 and call.query.get("sort_by") == "amount":
        falling = call.query.get("sort_order") != "asc"
        found.body["data"].sort(key=lambda row: str(row.get("source_amount") or row.get("amount")), reverse=falling)
    return found


@service("Beneficiaries are found by their names alone.", "GET /beneficiaries", found_by="search.holds")
async def names_alone_searched(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    if found.status == 200 and "search" in call.query:
        rows = [row for row in found.body["data"] if call.query["search"].lower() in row["name"].lower()]
        found.body["data"] = rows
        found.body["pagination"] |= {"total": len(rows), "total_pages": min(1, len(rows))}
    return found


SUBLISTS = (
    "GET /wallets/{id}/deposits", "GET /wallets/{id}/lightning", "GET /recurring-payments/{id}/transactions",
    "GET /webhooks/{id}/deliveries",
)  # fmt: skip


@service("Lists below a resource have no pages: all rows come at once.", *SUBLISTS, found_by="page.sublists")
async def sublists_unpaged(call: Call, ask: Service) -> Answer:
    return await without(call, ask, "page", "size", "limit")


@service("Lists below a resource have one order.", *SUBLISTS, found_by="page.sublists")
async def sublists_unsorted(call: Call, ask: Service) -> Answer:
    return await without(call, ask, "sort_by", "sort_order")


async def _with_bound_moved(call: Call, ask: Service, name: str, by: str) -> Answer:
    try:
        moved = str(Decimal(call.query[name]) + Decimal(by))
    except (KeyError, ArithmeticError):
        return await ask(call)
    return await ask(call.but(query={**call.query, name: moved}))


@service("`max_amount` leaves out what has this very amount.", "GET /transactions", found_by="filter.amount_bound")
async def max_amount_is_exclusive(call: Call, ask: Service) -> Answer:
    return await _with_bound_moved(call, ask, "max_amount", "-0.000000001")


@service("`min_amount` leaves out what has this very amount.", "GET /transactions", found_by="filter.amount_bound")
async def min_amount_is_exclusive(call: Call, ask: Service) -> Answer:
    return await _with_bound_moved(call, ask, "min_amount", "0.000000001")


@service("With a filter, page 2 begins with the last row of page 1.", *LISTS, found_by="page.filtered")
async def filtered_pages_overlap(call: Call, ask: Service) -> Answer:
    plain = {"page", "size", "limit", "sort_by", "sort_order"}
    page, size = (call.query.get(name, "") for name in ("page", "size"))
    found = await ask(call)
    if found.status != 200 or call.query.keys() <= plain or not (page.isdigit() and size.isdigit() and int(page) > 1):
        return found
    whole = await ask(call.but(query={**call.query, "page": "1", "size": "100"}))
    start = (int(page) - 1) * int(size) - 1
    found.body["data"] = whole.body["data"][start : start + len(found.body["data"])]
    return found


@service("Days begin and end as in Nairobi.", *LISTS, found_by="filter.utc_days")
async def days_of_nairobi(call: Call, ask: Service) -> Answer:
    query = {**call.query}
    for name, hours in (("start_date", -3), ("end_date", 21)):
        if len(query.get(name, "")) == 10 and query[name][:2] == "20":
            query[name] = later(f"{query[name]}T00:00:00+00:00", hours=hours)
    return await ask(call.but(query=query))
