"""The index of a table's rows by what they are about: it reads what was added, and anew after an undo."""

from __future__ import annotations

from contextlib import suppress

import pytest

from simulator.control.lookups import _Index
from simulator.kernel.store import Store, TableKey

ROWS = TableKey("rows", str)


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def index(store: Store) -> _Index:
    return _Index(store[ROWS], lambda key, row: tuple(row.split()))


def add(store: Store, **rows: str) -> None:
    with store.change():
        for key, row in rows.items():
            store[ROWS].put(key, row)


def test_rows_are_found_by_what_they_are_about_in_their_order(store: Store, index: _Index) -> None:
    assert index.of("x") == []
    add(store, a="x", b="y", c="x y")
    assert (index.of("x"), index.of("y"), index.of("z")) == (["a", "c"], ["b", "c"], [])


def test_rows_that_are_added_later_are_found_too(store: Store, index: _Index) -> None:
    add(store, a="x")
    assert index.of("x") == ["a"]
    add(store, b="x", c="x")
    assert index.of("x") == ["a", "b", "c"]
    assert index.of("x") == ["a", "b", "c"]


@pytest.mark.parametrize("later", [{}, {"d": "x"}, {"d": "x", "e": "y"}, {"d": "x", "e": "y", "f": "x"}])
def test_rows_of_an_undone_change_are_forgotten_whatever_came_since(
    store: Store, index: _Index, later: dict[str, str]
) -> None:
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
