"""Lists: the common parameters, filters, order and pages (subsection "Common list parameters", decisions L1 and L2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.engine.records.conditions import field_getter
from simulator.engine.records.listing import (
    DATES,
    Bound,
    Filter,
    Listing,
    Records,
    by_field,
    page_of,
    paginate,
    parse_list,
)
from simulator.engine.rows.error import ApiError
from simulator.kernel.clock import DAY_MS, parse_timestamp

DAY_START = parse_timestamp("2026-01-05T00:00:00Z")


@dataclass(frozen=True)
class Row:
    """A listed resource."""

    id: str
    sequence: int
    created_at_ms: int = DAY_START
    updated_at_ms: int = DAY_START
    status: str = "active"
    name: str | None = None
    amount: Decimal = Decimal(0)


def table_of(*rows: Row) -> list[Row]:
    return list(rows)


def counted(total: int, **members: Any) -> list[Row]:
    """Rows `r1`, `r2` … in the order of their creation."""
    return table_of(*(Row(f"r{number}", number, **members) for number in range(1, total + 1)))


SEARCHED = Listing(search=lambda row: (row.id, row.name), statuses=("active", "gone", "lost"))
AMOUNTS = Listing(
    filters=(
        Bound("min_amount", field_getter("amount"), "least"),
        by_field("name", ("a", "b")),
        by_field("id"),
        by_field("status", ("active", "gone"), many=True),
    ),
    sorts={**DATES, "amount": field_getter("amount")},
)
PLAIN = Listing()
SHELVES = Listing(filters=(by_field("name"),), common=False, newest_first=False)


def shown(listing: Listing, table: Records[Row], **query: str) -> list[str]:
    """The ids of the asked page."""
    found, _ = paginate(parse_list(listing, query), table)
    return [row.id for row in found]


def pagination(listing: Listing, table: Records[Row], **query: str) -> tuple[int, int, int, int]:
    _, page = paginate(parse_list(listing, query), table)
    assert list(page) == ["page", "size", "total", "total_pages"]
    return page["page"], page["size"], page["total"], page["total_pages"]


def refusal(listing: Listing, **query: str) -> tuple[str, str | None]:
    with pytest.raises(ApiError) as caught:
        parse_list(listing, query)
    assert caught.value.status == 400
    return caught.value.code, caught.value.param


# Pages


def test_a_list_begins_with_the_newest_twenty() -> None:
    table = counted(45)
    assert shown(PLAIN, table) == [f"r{number}" for number in range(45, 25, -1)]
    assert pagination(PLAIN, table) == (1, 20, 45, 3)


@pytest.mark.parametrize("sort", [{}, {"sort_by": "updated_at"}])
@pytest.mark.parametrize(
    ("page", "size", "ids", "pages"),
    [
        ("1", "2", ["r5", "r4"], 3),
        ("2", "2", ["r3", "r2"], 3),
        ("3", "2", ["r1"], 3),
        ("4", "2", [], 3),
        ("999999999999999999", "2", [], 3),
        ("999999999999999999", "100", [], 1),
        ("1", "5", ["r5", "r4", "r3", "r2", "r1"], 1),
        ("1", "100", ["r5", "r4", "r3", "r2", "r1"], 1),
        ("2", "5", [], 1),
        ("5", "1", ["r1"], 5),
        ("01", "1", ["r5"], 5),
    ],
)
def test_a_page_is_cut_out_of_the_list_and_one_beyond_the_end_is_empty(
    page: str, size: str, ids: list[str], pages: int, sort: dict[str, str]
) -> None:
    table = counted(5)
    assert shown(PLAIN, table, page=page, size=size, **sort) == ids
    assert pagination(PLAIN, table, page=page, size=size, **sort) == (int(page), int(size), 5, pages)


@pytest.mark.parametrize("query", [{}, {"status": "gone"}, {"page": "3"}])
def test_a_list_without_results_has_no_pages(query: dict[str, str]) -> None:
    table = counted(0)
    assert shown(SEARCHED, table, **query) == []
    assert pagination(SEARCHED, table, **query)[2:] == (0, 0)


def test_the_total_counts_what_matches_and_not_what_there_is() -> None:
    table = table_of(*(Row(f"r{n}", n, status="gone" if n % 3 else "active") for n in range(1, 31)))
    assert pagination(SEARCHED, table, status="gone", size="5") == (1, 5, 20, 4)
    assert shown(SEARCHED, table, status="gone", size="5", page="4") == ["r7", "r5", "r4", "r2", "r1"]


@pytest.mark.parametrize("name", ["page", "size", "limit"])
@pytest.mark.parametrize("value", ["0", "-1", "abc", "1.0", "1e2", " 1", "1 ", "+1", "٣", "1\n"])
def test_a_page_and_its_size_are_whole_numbers_from_one(name: str, value: str) -> None:
    """Decision L2: `param` names the parameter as sent."""
    assert refusal(PLAIN, **{name: value}) == ("invalid_parameter", name)


@pytest.mark.parametrize("name", ["size", "limit"])
def test_a_page_has_at_most_a_hundred_rows(name: str) -> None:
    assert refusal(PLAIN, **{name: "101"}) == ("invalid_parameter", name)
    assert refusal(PLAIN, **{name: "999999"}) == ("invalid_parameter", name)
    assert pagination(PLAIN, counted(3), **{name: "100"}) == (1, 100, 3, 1)


def test_limit_is_another_name_of_size() -> None:
    assert shown(PLAIN, counted(5), limit="2") == ["r5", "r4"]


def test_only_size_is_looked_at_when_limit_is_sent_too() -> None:
    """Decision L2."""
    assert shown(PLAIN, counted(5), limit="4", size="2") == ["r5", "r4"]
    assert shown(PLAIN, counted(5), limit="abc", size="2") == ["r5", "r4"]
    assert refusal(PLAIN, limit="2", size="abc") == ("invalid_parameter", "size")


class Watched(list[Row]):
    """A list that counts how many rows are taken out of it."""

    taken = 0

    def _count(self, rows: Iterator[Row]) -> Iterator[Row]:
        for row in rows:
            self.taken += 1
            yield row

    def __iter__(self) -> Iterator[Row]:
        return self._count(super().__iter__())

    def __reversed__(self) -> Iterator[Row]:
        return self._count(super().__reversed__())


@pytest.mark.parametrize(("query", "first"), [({}, "r5000"), ({"sort_order": "asc"}, "r1")])
def test_the_unfiltered_first_page_touches_no_more_rows_than_it_shows(query: dict[str, str], first: str) -> None:
    watched = Watched(counted(5_000))
    ids = shown(PLAIN, watched, **query)
    assert (len(ids), ids[0]) == (20, first)
    assert watched.taken == 20


@pytest.mark.parametrize("order", ["desc", "asc"])
@pytest.mark.parametrize(("page", "at_most"), [("2", 40), ("250", 20), ("249", 40), ("300", 0)])
def test_an_unfiltered_page_is_reached_from_the_nearer_end(page: str, at_most: int, order: str) -> None:
    naive = [f"r{number}" for number in range(1, 5_001)]
    if order == "desc":
        naive.reverse()
    watched = Watched(counted(5_000))
    start = (int(page) - 1) * 20
    assert shown(PLAIN, watched, page=page, sort_order=order) == naive[start : start + 20]
    assert watched.taken <= at_most


def test_a_refused_number_says_what_it_may_be() -> None:
    for query, limits in (({"page": "0"}, "at least 1"), ({"size": "101"}, "from 1 to 100")):
        with pytest.raises(ApiError) as caught:
            parse_list(PLAIN, query)
        assert caught.value.message.endswith(f"it must be a whole number, {limits}.")


# Order


def test_the_newest_come_first_by_default() -> None:
    table = counted(3)
    assert shown(PLAIN, table) == shown(PLAIN, table, sort_order="desc") == ["r3", "r2", "r1"]
    assert shown(PLAIN, table, sort_order="asc") == ["r1", "r2", "r3"]
    assert shown(PLAIN, table, sort_by="created_at", sort_order="asc") == ["r1", "r2", "r3"]


@pytest.mark.parametrize("query", [{}, {"status": "active"}, {"sort_by": "updated_at"}])
def test_rows_with_equal_times_are_sorted_by_creation(
    query: dict[str, str],
) -> None:
    """Decision L1."""
    table = counted(12)
    ids = [f"r{number}" for number in range(1, 13)]
    assert shown(SEARCHED, table, sort_order="asc", **query) == ids
    assert shown(SEARCHED, table, sort_order="desc", **query) == ids[::-1]


def test_rows_are_sorted_by_their_last_change() -> None:
    table = table_of(Row("a", 1, updated_at_ms=30), Row("b", 2, updated_at_ms=10), Row("c", 3, updated_at_ms=30))
    assert shown(PLAIN, table, sort_by="updated_at") == ["c", "a", "b"]
    assert shown(PLAIN, table, sort_by="updated_at", sort_order="asc") == ["b", "a", "c"]


def test_the_common_sorts_are_the_times_of_a_row() -> None:
    row = Row("a", 1, created_at_ms=5, updated_at_ms=7)
    assert {name: time(row) for name, time in DATES.items()} == {"created_at": 5, "updated_at": 7}


def test_amounts_are_sorted_as_numbers() -> None:
    table = table_of(*(Row(text, n, amount=Decimal(text)) for n, text in enumerate(["9", "10", "9.5", "100", "0.1"])))
    assert shown(AMOUNTS, table, sort_by="amount") == ["100", "10", "9.5", "9", "0.1"]
    assert shown(AMOUNTS, table, sort_by="amount", sort_order="asc") == ["0.1", "9", "9.5", "10", "100"]


@pytest.mark.parametrize("value", ["amount", "id", "CREATED_AT", "created_at,updated_at", "-created_at"])
def test_a_list_sorts_by_its_own_fields_only(value: str) -> None:
    assert refusal(PLAIN, sort_by=value) == ("invalid_parameter", "sort_by")


@pytest.mark.parametrize("value", ["up", "ASC", "descending"])
def test_a_sort_goes_up_or_down(value: str) -> None:
    assert refusal(PLAIN, sort_order=value) == ("invalid_parameter", "sort_order")


# Search


def test_a_search_finds_text_anywhere_in_any_searched_field_in_any_case() -> None:
    table = table_of(Row("ORD-1", 1, name="Straße"), Row("ORD-2", 2, name=None), Row("x", 3, name="my ord-7"))
    assert shown(SEARCHED, table, search="ord-") == ["x", "ORD-2", "ORD-1"]
    assert shown(SEARCHED, table, search="D-2") == ["ORD-2"]
    assert shown(SEARCHED, table, search="STRASSE") == ["ORD-1"]
    assert shown(SEARCHED, table, search="nothing") == []


@pytest.mark.parametrize("text", ["x", "é"])
def test_a_search_needs_two_characters(text: str) -> None:
    assert refusal(SEARCHED, search=text) == ("invalid_parameter", "search")
    assert shown(SEARCHED, counted(1), search="r1") == ["r1"]


def test_a_list_that_searches_nothing_finds_nothing() -> None:
    assert shown(PLAIN, counted(3), search="r1") == []


@given(st.text(min_size=2, max_size=10))
def test_any_text_may_be_searched_for(text: str) -> None:
    assert shown(SEARCHED, table_of(Row("a", 1, name=f"<{text}>")), search=text) == ["a"]


# Dates

FIVE = [
    Row("before", 1, created_at_ms=DAY_START - 1),
    Row("start", 2, created_at_ms=DAY_START),
    Row("noon", 3, created_at_ms=DAY_START + DAY_MS // 2),
    Row("end", 4, created_at_ms=DAY_START + DAY_MS - 1),
    Row("after", 5, created_at_ms=DAY_START + DAY_MS),
]


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ({"start_date": "2026-01-05"}, ["start", "noon", "end", "after"]),
        ({"end_date": "2026-01-05"}, ["before", "start", "noon", "end"]),
        ({"start_date": "2026-01-05", "end_date": "2026-01-05"}, ["start", "noon", "end"]),
        ({"start_date": "2026-01-05T12:00:00Z"}, ["noon", "end", "after"]),
        ({"start_date": "2026-01-05T12:00:00.001Z"}, ["end", "after"]),
        ({"start_date": "2026-01-05T12:00:00"}, ["noon", "end", "after"]),
        ({"end_date": "2026-01-05T11:59:59.999"}, ["before", "start"]),
        ({"start_date": "2026-01-05T10:00-0200"}, ["noon", "end", "after"]),
        ({"end_date": "2026-01-05T12:00:00.000Z"}, ["before", "start", "noon"]),
        ({"end_date": "2026-01-05T14:59:59.999+03:00"}, ["before", "start"]),
        ({"start_date": "2026-01-05T12:00:00Z", "end_date": "2026-01-05T12:00:00Z"}, ["noon"]),
        ({"start_date": "2026-01-05T12:00:00Z", "end_date": "2026-01-05"}, ["noon", "end"]),
        ({"start_date": "2030-01-01"}, []),
        ({"start_date": "2026-01-05T12:00:00.000001Z"}, ["end", "after"]),
        ({"start_date": "2026-01-05T12:00:00.000000001Z"}, ["end", "after"]),
        ({"start_date": "2026-01-05T15:00:00.000001+03:00"}, ["end", "after"]),
        ({"start_date": "2026-01-05T11:59:59.999001"}, ["noon", "end", "after"]),
        ({"end_date": "2026-01-05T12:00:00.000999Z"}, ["before", "start", "noon"]),
        ({"end_date": "2026-01-05T11:59:59.999999999Z"}, ["before", "start"]),
        ({"start_date": "2026-01-05T12:00:00.0001Z", "end_date": "2026-01-05T12:00:00.0002Z"}, []),
        ({"start_date": "2026-01-05T23:59:59.9995Z", "end_date": "2026-01-05"}, []),
    ],
)
def test_dates_bound_the_moment_of_creation_inclusively(query: dict[str, str], ids: list[str]) -> None:
    assert shown(PLAIN, table_of(*FIVE), sort_order="asc", **query) == ids


def test_l2_start_between_milliseconds_of_a_long_list() -> None:
    """Decision L2, where the rows are found by their index."""
    table = table_of(*(Row(f"r{ms}", ms + 1, created_at_ms=DAY_START + ms) for ms in range(600)))
    assert shown(PLAIN, table, start_date="2026-01-05T00:00:00.598000001Z") == ["r599"]
    assert shown(PLAIN, table, start_date="2026-01-05T00:00:00.3001Z", end_date="2026-01-05T00:00:00.3002Z") == []


def test_l2_range_reversed_within_a_millisecond_is_refused() -> None:
    query = {"start_date": "2026-01-05T00:00:00.0000002Z", "end_date": "2026-01-05T00:00:00.0000001Z"}
    assert refusal(PLAIN, **query) == ("invalid_date_range", "end_date")


@pytest.mark.parametrize("name", ["start_date", "end_date"])
@pytest.mark.parametrize(
    "value",
    [
        "yesterday",
        "2026-1-5",
        "2026-02-30",
        "05-01-2026",
        "2026-01-05T",
        "2026-01-05T08:00:00X",
        "2026-01-05T08:00:00Z\n",
        "T08:00:00",
        "2026-01-05T25:00:00",
        "2026-13-01",
        "20260105",
    ],
)
def test_a_malformed_date_is_named(name: str, value: str) -> None:
    assert refusal(PLAIN, **{name: value}) == ("invalid_parameter", name)


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("2026-01-06", "2026-01-05"),
        ("2026-01-05T12:00:00.001Z", "2026-01-05T12:00:00Z"),
        ("2026-01-06T00:00:00Z", "2026-01-05"),
    ],
)
def test_the_end_must_not_precede_the_start(start: str, end: str) -> None:
    assert refusal(PLAIN, start_date=start, end_date=end) == ("invalid_date_range", "end_date")


def test_a_malformed_date_comes_before_the_range() -> None:
    assert refusal(PLAIN, start_date="2026-01-06", end_date="never") == ("invalid_parameter", "end_date")


# Status and filters


def test_status_takes_one_value_or_a_comma_separated_list() -> None:
    table = table_of(Row("a", 1, status="active"), Row("b", 2, status="gone"), Row("c", 3, status="lost"))
    assert shown(SEARCHED, table, status="gone") == ["b"]
    assert shown(SEARCHED, table, status="active,lost") == ["c", "a"]
    assert shown(SEARCHED, table, status="gone,gone") == ["b"]


@pytest.mark.parametrize("value", ["open", "active,open", "ACTIVE", "active,", ",", "active, gone", " active"])
def test_an_unknown_status_is_refused(value: str) -> None:
    assert refusal(SEARCHED, status=value) == ("invalid_parameter", "status")


def test_a_list_without_statuses_refuses_any() -> None:
    assert refusal(PLAIN, status="active") == ("invalid_parameter", "status")


def test_a_list_may_have_its_own_status_filter() -> None:
    table = table_of(Row("a", 1, status="active"), Row("b", 2, status="gone"), Row("c", 3, status="lost"))
    assert shown(AMOUNTS, table, status="gone,active") == ["b", "a"]
    assert refusal(AMOUNTS, status="lost") == ("invalid_parameter", "status")


def test_only_a_filter_called_status_takes_the_place_of_the_common_one() -> None:
    table = table_of(Row("a", 1, status="active"), Row("b", 2, status="lost", name="x"))
    alone = Listing(filters=(by_field("status", ("lost",)),), statuses=("active",))
    assert shown(alone, table, status="lost") == ["b"]
    assert refusal(alone, status="active") == ("invalid_parameter", "status")
    beside = Listing(filters=(by_field("name"),), statuses=("active", "lost"))
    assert shown(beside, table, status="lost", name="x") == ["b"]
    assert shown(beside, table, status="active") == ["a"]


def test_a_filter_with_choices_takes_exactly_one_of_them() -> None:
    table = table_of(Row("1", 1, name="a"), Row("2", 2, name="b"), Row("3", 3, name="c"))
    assert shown(AMOUNTS, table, name="a") == ["1"]
    for value in ("c", "a,b", "A"):
        assert refusal(AMOUNTS, name=value) == ("invalid_parameter", "name")


def test_a_filter_without_choices_takes_any_text_as_one_value() -> None:
    table = table_of(Row("1", 1), Row("1,2", 2))
    assert shown(AMOUNTS, table, id="1,2") == ["1,2"]
    assert shown(AMOUNTS, table, id="x") == []


@pytest.mark.parametrize(
    ("bound", "ids"), [("9.5", ["c", "b"]), ("9.500", ["c", "b"]), ("10", ["c"]), ("0", ["c", "b", "a"])]
)
def test_a_bound_is_compared_as_a_number_inclusively(bound: str, ids: list[str]) -> None:
    table = table_of(
        Row("a", 1, amount=Decimal(9)), Row("b", 2, amount=Decimal("9.5")), Row("c", 3, amount=Decimal(10))
    )
    assert shown(AMOUNTS, table, min_amount=bound) == ids


@pytest.mark.parametrize("value", ["abc", "-1", "1e3", "1.", ".5", "NaN", " 1", "1\n", "1" * 19, "٣"])
def test_a_malformed_bound_is_named(value: str) -> None:
    assert refusal(AMOUNTS, min_amount=value) == ("invalid_parameter", "min_amount")


def test_all_conditions_hold_together() -> None:
    table = table_of(
        Row("a", 1, name="a", amount=Decimal(5)),
        Row("b", 2, name="a", amount=Decimal(1)),
        Row("c", 3, name="b", amount=Decimal(5)),
        Row("d", 4, name="a", amount=Decimal(5), created_at_ms=DAY_START - DAY_MS),
    )
    assert shown(AMOUNTS, table, name="a", min_amount="5", start_date="2026-01-05") == ["a"]


# Lists that are special


def test_list_without_common_parameters_ignores_them() -> None:
    table = counted(3, name="a")
    assert shown(SHELVES, table) == ["r1", "r2", "r3"]
    assert shown(SHELVES, table, sort_by="nonsense", search="x", start_date="never", status="?") == ["r1", "r2", "r3"]
    assert shown(SHELVES, table, name="a", size="2") == ["r1", "r2"]
    assert refusal(SHELVES, size="101") == ("invalid_parameter", "size")


def test_list_without_common_parameters_is_newest_first_by_default() -> None:
    assert shown(Listing(common=False), counted(3)) == ["r3", "r2", "r1"]


def test_a_filter_takes_one_value_by_default() -> None:
    one = Listing(filters=(Filter("name", lambda row: (row.name,), ("a", "b")),))
    assert shown(one, table_of(Row("1", 1, name="a"), Row("2", 2, name="b")), name="b") == ["2"]
    assert refusal(one, name="a,b") == ("invalid_parameter", "name")


def test_a_list_may_have_other_defaults_than_the_common_ones() -> None:
    upwards = Listing(defaults={"sort_order": "asc", "size": "2"})
    assert shown(upwards, counted(3)) == ["r1", "r2"]
    assert shown(upwards, counted(3), sort_order="desc", size="1") == ["r3"]


def test_a_list_knows_the_names_of_its_parameters() -> None:
    assert PLAIN.parameters() == (
        "page",
        "size",
        "limit",
        "search",
        "start_date",
        "end_date",
        "sort_by",
        "sort_order",
        "status",
    )
    assert AMOUNTS.parameters() == (*PLAIN.parameters(), "min_amount", "name", "id")
    assert SHELVES.parameters() == ("page", "size", "limit", "name")


def test_the_envelope_shows_the_rows_of_the_page() -> None:
    answer = page_of(parse_list(PLAIN, {"size": "2"}), counted(3), lambda row: {"id": row.id})
    assert answer == {
        "data": [{"id": "r3"}, {"id": "r2"}],
        "pagination": {"page": 1, "size": 2, "total": 3, "total_pages": 2},
    }


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["active", "gone"]), st.integers(0, 2)), max_size=30),
    st.sampled_from(["created_at", "updated_at", "amount"]),
    st.sampled_from(["asc", "desc"]),
    st.sampled_from(["", "active", "gone,active"]),
    st.integers(1, 4),
    st.integers(1, 10),
)
def test_every_page_is_the_slice_that_a_naive_list_would_give(
    made: list[tuple[int, str, int]], sort_by: str, order: str, status: str, page: int, size: int
) -> None:
    rows = [
        Row(f"r{n}", n, created_at_ms=n // 2, updated_at_ms=updated, status=state, amount=Decimal(amount))
        for n, (updated, state, amount) in enumerate(made)
    ]
    query = {"sort_by": sort_by, "sort_order": order, "page": str(page), "size": str(size)}
    if status:
        query["status"] = status
    naive = [row for row in rows if not status or row.status in status.split(",")]
    keys: dict[str, Callable[[Row], Any]] = {
        "created_at": lambda row: row.created_at_ms,
        "updated_at": lambda row: row.updated_at_ms,
        "amount": lambda row: row.amount,
    }
    key = keys[sort_by]
    naive.sort(key=lambda row: (key(row), row.sequence), reverse=order == "desc")
    assert shown(AMOUNTS, table_of(*rows), **query) == [row.id for row in naive[(page - 1) * size : page * size]]
