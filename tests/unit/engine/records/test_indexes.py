"""Lists from an index are equal to lists from a scan of all records, after any writes and undos."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.engine.records import conditions, indexes, listing
from simulator.engine.records.conditions import field_getter, newest_of, oldest_of
from simulator.engine.records.listing import DATES, Bound, Filter, Listing, by_field, paginate, parse_list
from simulator.kernel.journal import newest
from simulator.kernel.store import Store, TableKey
from simulator.kernel.table import Table


@dataclass(frozen=True)
class Row:
    """A listed resource."""

    id: str
    sequence: int
    created_at_ms: int
    updated_at_ms: int
    status: str
    labels: tuple[str | None, ...]
    text: str | None
    amount: Decimal


ROWS = TableKey("rows", Row)
STATUSES = ("new", "done", "lost")
LISTING = Listing[Row](
    filters=(
        Filter("label", lambda row: row.labels, many=True),
        by_field("text"),
        Bound("min_amount", field_getter("amount"), "least"),
        Bound("max_amount", field_getter("amount"), "most"),
    ),
    search=lambda row: (row.text, row.id),
    sorts={**DATES, "amount": field_getter("amount")},
    statuses=STATUSES,
)


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few rows have all that many have: lists that are looked up, several blocks of an order and of texts."""
    for module, name, size in (
        (conditions, "FEW", 1),
        (listing, "FEW", 1),
        (indexes, "_BLOCK", 2),
        (indexes, "_TEXTS", 3),
        (indexes, "_RESULTS", 2),
        (indexes, "_SLICE", 3),
        (indexes, "MANY", 1),
    ):
        monkeypatch.setattr(module, name, size)


TEXTS = st.one_of(st.none(), st.text("aAbßẞ\x1e\x1f", max_size=4), st.text(max_size=3))
TIMES = st.integers(1_767_571_200_000, 1_767_571_200_005)
LABELS = st.lists(st.one_of(st.none(), st.sampled_from(["x", "y"])), max_size=3).map(tuple)
AMOUNTS = st.decimals(0, 4, places=1)
NAMES = st.sampled_from([f"r{number}" for number in range(12)])
WRITTEN = st.builds(
    Row, id=NAMES, sequence=st.integers(1, 9), created_at_ms=TIMES, updated_at_ms=TIMES,
    status=st.sampled_from(STATUSES), labels=LABELS, text=TEXTS, amount=AMOUNTS,
)  # fmt: skip
WRITES = st.lists(st.one_of(WRITTEN, WRITTEN, WRITTEN, NAMES), max_size=4)
"""Rows that are put, and names of rows that are deleted where they are there."""
QUERIES = st.fixed_dictionaries(
    {},
    optional={
        "status": st.sampled_from([*STATUSES, "new,done"]),
        "label": st.sampled_from(["x", "y", "x,y", "z"]),
        "text": st.text("aAb", min_size=1, max_size=2),
        "min_amount": st.sampled_from(["0", "1.5", "3", "9"]),
        "max_amount": st.sampled_from(["0", "1.5", "3", "9"]),
        "search": st.text("aAbBsSr1\x1e\x1f", min_size=2, max_size=3),
        "start_date": st.sampled_from(["2026-01-05T00:00:00.002Z", "2026-01-05"]),
        "end_date": st.sampled_from(["2026-01-05T00:00:00.003Z", "2026-01-05"]),
        "sort_by": st.sampled_from(list(LISTING.sorts)),
        "sort_order": st.sampled_from(["asc", "desc"]),
        "page": st.sampled_from(["1", "2", "3", "99999999999999999999"]),
        "size": st.sampled_from(["1", "2", "3", "5"]),
    },
)
STEPS = st.lists(
    st.tuples(st.sampled_from(["change", "undone", "partly", "keep", "put back"]), WRITES, QUERIES), max_size=10
)


def looked_through(table: Table[Row], query: dict[str, str]) -> tuple[list[Row], Any]:
    """The same page, by testing every record."""
    found, pagination = paginate(parse_list(LISTING, query), list(table.values()))
    return list(found), pagination


def newest_and_oldest(table: Table[Row], query: dict[str, str], limit: int | None) -> None:
    """What is found from either end is what testing every record finds."""
    conditions = parse_list(LISTING, query).conditions
    fit = [row for row in table.values() if all(condition.holds(row) for condition in conditions)]
    by_amount = sorted(fit, key=lambda row: (row.amount, row.sequence))
    found = newest_of(table, conditions, limit, field_getter("amount"))
    assert newest_of(table, conditions, limit) == newest(fit, limit)
    assert [row.amount for row in found] == [row.amount for row in newest(by_amount, limit)]
    assert oldest_of(table, conditions) == next(iter(fit), None)


def write(table: Table[Row], writes: list[Row | str]) -> None:
    for one in writes:
        if isinstance(one, Row):
            table.put(one.id, one)
        elif one in table:
            table.delete(one)


def write_and_fail(table: Table[Row], writes: list[Row | str]) -> None:
    write(table, writes)
    raise ZeroDivisionError


@given(st.lists(WRITTEN, max_size=12), STEPS)
def test_indexed_list_equals_scanned_list(first: list[Row], steps: list[tuple[str, list[Row | str], Any]]) -> None:
    store = Store()
    table = store[ROWS]
    kept = store.tables()
    with store.change():
        write(table, [*first])
    for step, writes, query in steps:
        found, pagination = paginate(parse_list(LISTING, query), table)
        assert (list(found), pagination) == looked_through(table, query)
        newest_and_oldest(table, query, len(writes) or None)
        if step == "change":
            with store.change():
                write(table, writes)
        elif step == "undone":
            with pytest.raises(ZeroDivisionError), store.change():
                write_and_fail(table, writes)
        elif step == "partly":
            with store.change():
                write(table, writes[:2])
                with pytest.raises(ZeroDivisionError), store.attempt():
                    write_and_fail(table, writes[2:])
        elif step == "keep":
            kept = store.tables()
        else:
            store.replace(kept)
        for query in ({"size": "100"}, {"status": "new,done"}, {"sort_by": "amount"}, {"search": "r1"}):
            found, pagination = paginate(parse_list(LISTING, query), table)
            assert (list(found), pagination) == looked_through(table, query)


@given(st.lists(WRITTEN, max_size=12), st.lists(WRITES, max_size=6), QUERIES)
def test_index_built_between_writes_gives_the_same_list(
    first: list[Row], later: list[list[Row | str]], query: dict[str, str]
) -> None:
    store = Store()
    table = store[ROWS]
    with store.change():
        write(table, [*first])
    request = replace(parse_list(LISTING, query), defers=True)
    while True:
        try:
            found, pagination = paginate(request, table)
            break
        except indexes.Unindexed as missing:
            for number, _ in enumerate(missing.build):
                if later and number % 2:
                    with pytest.raises(ZeroDivisionError), store.change():
                        write_and_fail(table, later.pop())
                elif later:
                    with store.change():
                        write(table, later.pop())
    assert (list(found), pagination) == looked_through(table, query)


@pytest.mark.parametrize("sort", ["created_at", "amount"])
@pytest.mark.parametrize("order", ["asc", "desc"])
def test_page_after_the_last_is_empty(sort: str, order: str) -> None:
    store = Store()
    table = store[ROWS]
    with store.change():
        write(table, [Row(f"r{number}", number, 0, 0, "new", (), None, Decimal(number % 3)) for number in range(7)])
    for page in (3, 4, 5, 99):
        query = {"status": "new", "sort_by": sort, "sort_order": order, "size": "2", "page": str(page)}
        found, pagination = paginate(parse_list(LISTING, query), table)
        assert (list(found), pagination) == looked_through(table, query)


def test_index_is_built_by_the_first_lookup_only() -> None:
    """A world whose lists nobody narrows pays nothing for it."""
    store, seen = Store(), list[str]()
    table = store[ROWS]

    class Watching:
        def __init__(self, _: Table[Row]) -> None:
            seen.append("made")

        def written(self, key: str, old: Any, new: Any) -> None:
            seen.append(key)

    row = Row("r1", 1, 0, 0, "new", (), None, Decimal(1))
    with store.change():
        table.put("r1", row)
    assert seen == []
    table.index(Watching)
    table.index(Watching)
    with store.change():
        table.put("r2", row)
        table.delete("r1")
    assert seen == ["made", "r2", "r1"]
