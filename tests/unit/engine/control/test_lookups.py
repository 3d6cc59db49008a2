"""The index of a table's rows by subject: it reads added rows, and all rows after an undo."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, strategies

from simulator.engine.control.history.lookups import _Index, _Requests, lookups_of
from simulator.engine.records.requests import JournalEntry, requests_of
from simulator.engine.worlds.simulator import Blueprint
from simulator.kernel.store import Store, TableKey
from simulator.kernel.world import World
from tests.library import Simulator

ROWS = TableKey("rows", str)


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def index(store: Store) -> _Index[str]:
    return _Index(store[ROWS], lambda key, row: tuple(row.split()))


def add(store: Store, **rows: str) -> None:
    with store.change():
        for key, row in rows.items():
            store[ROWS].put(key, row)


def test_index_finds_rows_by_subject_in_order(store: Store, index: _Index[str]) -> None:
    assert index.of("x") == []
    add(store, a="x", b="y", c="x y")
    assert (index.of("x"), index.of("y"), index.of("z")) == (["a", "c"], ["b", "c"], [])


def test_rows_that_are_added_later_are_found_too(store: Store, index: _Index[str]) -> None:
    add(store, a="x")
    assert index.of("x") == ["a"]
    add(store, b="x", c="x")
    assert index.of("x") == ["a", "b", "c"]
    assert index.of("x") == ["a", "b", "c"]


@pytest.mark.parametrize("later", [{}, {"d": "x"}, {"d": "x", "e": "y"}, {"d": "x", "e": "y", "f": "x"}])
def test_index_drops_rows_of_an_undone_change(store: Store, index: _Index[str], later: dict[str, str]) -> None:
    add(store, a="x")
    with suppress(ZeroDivisionError), store.change():
        store[ROWS].put("b", "x")
        store[ROWS].put("c", "x")
        assert index.of("x") == ["a", "b", "c"]
        raise ZeroDivisionError
    add(store, **later)
    assert index.of("x") == ["a", *(key for key, row in later.items() if row == "x")]


def test_only_what_was_added_is_read(store: Store) -> None:
    read: list[str] = []

    def about(key: str, row: str) -> tuple[str, ...]:
        read.append(key)
        return (row,)

    index = _Index(store[ROWS], about)
    add(store, a="x", b="x")
    index.of("x")
    add(store, c="x")
    index.of("x")
    index.of("x")
    assert read == ["a", "b", "c"]


@given(strategies.lists(strategies.sampled_from(["enter", "again", "shorten", "lengthen", "ask"]), max_size=60))
def test_request_is_found_by_id_until_it_is_dropped(doings: list[str]) -> None:
    """Of several requests with one id (replays), the oldest one left is found."""
    world = a_world()
    log, asked = requests_of(world), ["req_0"]
    log.keep(5)
    for number, doing in enumerate(doings):
        if doing in ("enter", "again"):
            asked.append(f"req_{number}" if doing == "enter" else asked[-1])
            log.enter(call(asked[-1], wall_ms=number))
        elif doing == "ask":
            for wanted in asked:
                oldest = next((row for row in log.entries if row.id == wanted), None)
                assert lookups_of(world).requests.oldest(log, wanted) is oldest
        else:
            log.keep(3 if doing == "shorten" else 7)
    assert [lookups_of(world).requests.oldest(log, row.id) for row in log.entries] == [
        next(other for other in log.entries if other.id == row.id) for row in log.entries
    ]


def test_dropped_requests_leave_the_index_eventually() -> None:
    world, requests = a_world(), _Requests()
    requests_of(world).keep(2)
    for number in range(2_000):
        requests_of(world).enter(call(f"req_{number}"))
        assert requests.oldest(requests_of(world), f"req_{number}") is not None
    assert len(requests._numbers) < 1_100


def call(request_id: str, wall_ms: float = 0.0) -> JournalEntry:
    return JournalEntry(request_id, 0, "practice", None, "GET", "/v1/x", (), b"", 200, b"", 0.0, wall_ms=wall_ms)


def a_world() -> World:
    simulator = Simulator()
    return simulator.create_world(Blueprint("default", 1))
