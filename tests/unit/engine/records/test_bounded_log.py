"""The bounded log: limits on number and bytes. The oldest entries are removed first."""

from __future__ import annotations

import pytest

from simulator.engine.records.requests import DEFAULT_ENTRIES_KEPT, BoundedLog
from simulator.kernel.dataclass import dataclass


@dataclass(frozen=True)
class Entry:
    number: int
    size: int = 100


def log(entries: int, **bounds: int) -> BoundedLog[Entry]:
    made: BoundedLog[Entry] = BoundedLog()
    if bounds:
        made.keep(**bounds)
    for number in range(entries):
        made.enter(Entry(number))
    return made


def numbers(kept: BoundedLog[Entry]) -> list[int]:
    return [entry.number for entry in kept.entries]


def test_entries_are_kept_up_to_a_bound_and_the_oldest_go_first() -> None:
    kept = log(5, count=3)
    assert (numbers(kept), kept.dropped, kept.size) == ([2, 3, 4], 2, 300)


def test_ten_thousand_entries_are_kept_by_default() -> None:
    assert log(0).entries.maxlen == DEFAULT_ENTRIES_KEPT == 10_000


@pytest.mark.parametrize(("bound", "left"), [(2, [2, 3]), (4, [0, 1, 2, 3]), (9, [0, 1, 2, 3])])
def test_another_bound_counts_at_once(bound: int, left: list[int]) -> None:
    kept = log(4, count=4)
    kept.keep(bound)
    assert (numbers(kept), kept.entries.maxlen) == (left, bound)


def test_entries_are_bounded_in_bytes_but_the_newest_is_always_kept() -> None:
    kept = log(5, count=10, size=300)
    assert numbers(kept) == [2, 3, 4]
    kept.enter(Entry(5, size=10_000))
    assert numbers(kept) == [5]
    kept.enter(Entry(6))
    assert (numbers(kept), kept.dropped) == ([6], 6)


def test_a_bound_that_is_drawn_in_drops_the_oldest_entries_at_once() -> None:
    kept = log(6)
    kept.keep(4)
    assert numbers(kept) == [2, 3, 4, 5]
    kept.keep(4, 200)
    assert (numbers(kept), kept.dropped) == ([4, 5], 4)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(("count", "most", "left", "dropped"), [(9, 9, 4, 0), (3, 9, 3, 1), (9, 2, 2, 2)])
def test_restored_entries_are_bounded(count: int, most: int, left: int, dropped: int, *, known: bool) -> None:
    first, second = log(4), log(0, count=count, size=most * 100)
    assert first.size == 400
    second.put_back(tuple(first.entries), first.size if known else None)
    assert numbers(second) == numbers(first)[4 - left :]
    assert (second.size, second.dropped) == (left * 100, dropped)
    for number in range(10):
        second.enter(Entry(number))
    assert second.size == len(second.entries) * 100 == min(count, most) * 100
