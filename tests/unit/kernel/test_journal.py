"""The journal: events, which are never lost, and histories."""

from __future__ import annotations

import pytest

from simulator.kernel.journal import (
    MOVES_A_ROW,
    Cause,
    Event,
    HistoryEntry,
    Journal,
    newest,
)
from simulator.kernel.store import Store
from simulator.kernel.texts import Text
from tests.unit.kernel.breaking import broken_off

BY_LAW = Cause("law", "quote.expiry")


def event(number: int) -> Event:
    return Event(
        id=f"evt_{number}",
        sequence=number,
        environment="sandbox",
        type="quote.expired",
        object_id="qt_1",
        at_ms=number * 10,
        text=Text(b"{}"),
        cause=BY_LAW,
    )


def journal() -> tuple[Store, Journal]:
    store = Store()
    return store, Journal(store)


def test_events_are_kept_in_their_order_and_found_by_id() -> None:
    store, kept = journal()
    assert kept.event_count == 0
    with store.change():
        for number in (1, 2, 3):
            kept.append(event(number))
    assert list(kept.events()) == [event(1), event(2), event(3)]
    assert list(kept.events_newest_first()) == [event(3), event(2), event(1)]
    assert kept.event("evt_2") == event(2)
    assert kept.event("evt_9") is None
    assert kept.event_count == 3


def test_an_event_of_a_change_that_failed_was_never_emitted() -> None:
    store, kept = journal()
    with broken_off(store.change()):
        kept.append(event(1))
        kept.record_move("qt_1", HistoryEntry("expired", 10, "expiry", BY_LAW))
    assert kept.event_count == 0
    assert kept.history("qt_1") == ()


def test_a_history_is_the_moves_of_one_resource_in_their_order() -> None:
    store, kept = journal()
    first, second = (
        HistoryEntry("active", 0, "create", Cause("request", "quotes.create", "req_1")),
        HistoryEntry("expired", 9, "x", BY_LAW),
    )
    with store.change():
        kept.record_move("qt_1", first)
        kept.record_move("qt_2", first)
        kept.record_move("qt_1", second)
    assert kept.history("qt_1") == (first, second)
    assert kept.history("qt_2") == (first,)
    assert kept.history("qt_3") == ()
    assert list(kept.histories()) == [("qt_1", (first, second)), ("qt_2", (first,))]


def long_history(kept: Journal, store: Store, moves: int) -> list[HistoryEntry]:
    steps = [HistoryEntry("up" if number % 2 else "down", number, "set", BY_LAW) for number in range(moves)]
    with store.change():
        for step in steps:
            kept.record_move("net_celo", step)
    return steps


@pytest.mark.parametrize("moves", [1, MOVES_A_ROW - 1, MOVES_A_ROW, MOVES_A_ROW + 1, 2 * MOVES_A_ROW, 1000])
def test_a_long_history_comes_back_whole(moves: int) -> None:
    store, kept = journal()
    steps = long_history(kept, store, moves)
    assert kept.history("net_celo") == tuple(steps)
    assert list(kept.histories()) == [("net_celo", tuple(steps))]


def test_move_rewrites_one_row_of_a_long_history() -> None:
    store, kept = journal()
    long_history(kept, store, 1000)
    written: list[int] = []
    store.listen(
        lambda writes: written.extend(len(table.rows[key]) for table, key, _ in writes if table.name == "histories")
    )
    long_history(kept, store, 1)
    assert written == [1000 % MOVES_A_ROW + 1]


def test_a_history_of_one_row_that_an_older_version_wrote_continues() -> None:
    store, kept = journal()
    old = tuple(HistoryEntry("up", number, "set", BY_LAW) for number in range(3 * MOVES_A_ROW + 5))
    store.replace({"histories": {"net_celo": old}})
    later = long_history(kept, store, 70)
    assert kept.history("net_celo") == (*old, *later)


def test_the_move_before_a_row_is_the_last_of_the_row_before() -> None:
    store, kept = journal()
    steps = long_history(kept, store, MOVES_A_ROW + 1)
    assert kept.last_before("net_celo") is None
    assert kept.last_before("net_celo#1") == steps[MOVES_A_ROW - 1]


def test_a_forgotten_history_leaves_no_row() -> None:
    store, kept = journal()
    long_history(kept, store, 200)
    with store.change():
        kept.delete_history("net_celo")
        kept.delete_history("net_stellar")
    assert store.tables() == {}


def test_moves_of_a_change_that_failed_were_never_made() -> None:
    store, kept = journal()
    steps = long_history(kept, store, MOVES_A_ROW)
    with broken_off(store.change()):
        kept.record_move("net_celo", steps[0])
    assert kept.history("net_celo") == tuple(steps)


def test_a_cause_needs_no_reference() -> None:
    assert BY_LAW.reference == ""


@pytest.mark.parametrize(
    ("limit", "left"), [(None, [1, 2, 3]), (0, []), (1, [3]), (2, [2, 3]), (3, [1, 2, 3]), (99, [1, 2, 3])]
)
def test_the_newest_of_a_list_are_still_oldest_first(limit: int | None, left: list[int]) -> None:
    assert newest([1, 2, 3], limit) == left
