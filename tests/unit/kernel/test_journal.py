"""The journal: events that are never lost, histories, and a bounded list of calls."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.kernel.journal import (
    DEFAULT_REQUESTS_KEPT,
    MOVES_A_ROW,
    Cause,
    Event,
    HistoryEntry,
    Journal,
    JournalEntry,
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


def call(number: int) -> JournalEntry:
    return JournalEntry(
        id=f"req_{number}",
        at_ms=number,
        environment="sandbox",
        public_key=None,
        method="GET",
        path="/v1/orders",
        headers=(),
        body=b"",
        status=200,
        response=b"{}",
        duration_ms=0.5,
    )


def journal(**bounds: int) -> tuple[Store, Journal]:
    store = Store()
    return store, Journal(store, **bounds)


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


def test_a_move_rewrites_no_more_than_one_row_however_long_the_history_is() -> None:
    store, kept = journal()
    long_history(kept, store, 1000)
    written: list[int] = []
    store.listen(
        lambda writes: written.extend(len(table.rows[key]) for table, key, _ in writes if table.name == "histories")
    )
    long_history(kept, store, 1)
    assert written == [1000 % MOVES_A_ROW + 1]


def test_a_history_of_one_row_that_an_older_version_wrote_goes_on() -> None:
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
        kept.forget_history("net_celo")
        kept.forget_history("net_stellar")
    assert store.tables() == {}


def test_moves_of_a_change_that_failed_were_never_made() -> None:
    store, kept = journal()
    steps = long_history(kept, store, MOVES_A_ROW)
    with broken_off(store.change()):
        kept.record_move("net_celo", steps[0])
    assert kept.history("net_celo") == tuple(steps)


def test_a_cause_needs_no_reference() -> None:
    assert BY_LAW.reference == ""


def test_calls_are_kept_up_to_a_bound_and_the_oldest_go_first() -> None:
    _, kept = journal(requests_kept=3)
    for number in range(5):
        kept.requests.append(call(number))
    assert [exchange.id for exchange in kept.requests] == ["req_2", "req_3", "req_4"]


def test_ten_thousand_calls_are_kept_unless_asked_otherwise() -> None:
    _, kept = journal()
    assert kept.requests.maxlen == DEFAULT_REQUESTS_KEPT == 10_000


@pytest.mark.parametrize(
    ("bound", "left"),
    [(2, ["req_2", "req_3"]), (4, ["req_0", "req_1", "req_2", "req_3"]), (9, ["req_0", "req_1", "req_2", "req_3"])],
)
def test_another_bound_counts_at_once(bound: int, left: list[str]) -> None:
    _, kept = journal(requests_kept=4)
    for number in range(4):
        kept.requests.append(call(number))
    kept.keep(bound)
    assert [exchange.id for exchange in kept.requests] == left
    assert kept.requests.maxlen == bound


@pytest.mark.parametrize(
    ("limit", "left"), [(None, [1, 2, 3]), (0, []), (1, [3]), (2, [2, 3]), (3, [1, 2, 3]), (99, [1, 2, 3])]
)
def test_the_newest_of_a_list_are_still_oldest_first(limit: int | None, left: list[int]) -> None:
    assert newest([1, 2, 3], limit) == left


def test_calls_are_bounded_in_bytes_but_the_newest_is_always_kept() -> None:
    journal = Journal(Store())
    journal.keep(10, 3 * call(1).size)
    for number in range(5):
        journal.enter(call(number))
    assert [row.id for row in journal.requests] == ["req_2", "req_3", "req_4"]
    journal.enter(replace(call(5), body=b"x" * 10_000))
    assert [row.id for row in journal.requests] == ["req_5"]
    journal.enter(call(6))
    assert ([row.id for row in journal.requests], journal.requests_dropped) == (["req_6"], 6)


def test_a_bound_that_is_drawn_in_drops_the_oldest_calls_at_once() -> None:
    journal = Journal(Store())
    for number in range(6):
        journal.enter(call(number))
    journal.keep(4)
    assert [row.id for row in journal.requests] == ["req_2", "req_3", "req_4", "req_5"]
    journal.keep(4, 2 * call(1).size)
    assert ([row.id for row in journal.requests], journal.requests_dropped) == (["req_4", "req_5"], 4)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(("count", "most", "left", "dropped"), [(9, 9, 4, 0), (3, 9, 3, 1), (9, 2, 2, 2)])
def test_calls_that_are_put_back_are_bounded_then_and_later(
    count: int, most: int, left: int, dropped: int, *, known: bool
) -> None:
    one = call(1).size
    first, second = Journal(Store()), Journal(Store())
    for number in range(4):
        first.enter(call(number))
    assert first.requests_size == 4 * one
    second.keep(count, most * one)
    second.put_back(tuple(first.requests), first.requests_size if known else None)
    assert [row.id for row in second.requests] == [row.id for row in first.requests][4 - left :]
    assert (second.requests_size, second.requests_dropped) == (left * one, dropped)
    for number in range(10):
        second.enter(call(number))
    assert second.requests_size == len(second.requests) * one == min(count, most) * one
