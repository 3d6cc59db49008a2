"""Work that is due: timers as data, in the order of (due time, creation).

A timer names its kind and plain arguments, never a closure, so it can be listed, saved, restored and
repeated. The heap is only an index: the rows in the store are the truth, a heap entry without its row is
skipped. What a change has cancelled may come back, so inside one no entry is thrown away.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, ValuesView
from dataclasses import field
from typing import Any

from simulator.kernel.dataclass import dataclass
from simulator.kernel.fields import Milliseconds
from simulator.kernel.store import Store, TableKey
from simulator.kernel.table import Table

_STALE_ENTRIES_KEPT = 64
"""How many entries without a row the index may have before it is made anew (besides one for each row)."""

RANKED = 1 << 62
"""Timers with a rank are numbered from here on, far above every counted one."""


@dataclass(frozen=True, slots=True)
class Timer:
    """Due work: when, its creation number, what kind, on which resource, with which further arguments."""

    key: str
    due_at_ms: Milliseconds
    number: int
    kind: str
    target: str
    arguments: dict[str, Any] = field(default_factory=dict)


TIMERS = TableKey("timers", Timer)
SEQUENCES = TableKey("sequences", int)
"""The last number of every named count of a world; `World.next_sequence` gives the next."""


class Agenda:
    """The timers of one world."""

    __slots__ = ("_heap", "_rows", "_sequences", "_store")

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rows: Table[Timer] = store[TIMERS]
        self._sequences: Table[int] = store[SEQUENCES]
        self._heap: list[tuple[int, int, str]] = []

    def plan(self, due_at_ms: int, kind: str, target: str, **arguments: Any) -> None:
        """Plan the one timer of this kind for a resource; an earlier one of the same kind is replaced."""
        self._add(f"{kind}:{target}", due_at_ms, kind, target, arguments)

    def plan_another(self, due_at_ms: int, kind: str, target: str, *, rank: int | None = None, **arguments: Any) -> str:
        """Plan one more timer of a kind of which a resource may have several; returns its key.

        With a `rank` it fires after all timers without one that are due at that instant, in the order of ranks: for
        what is planned when an answer from outside comes, whose order must not depend on who answered first.
        """
        number = (self._sequences.get("timer") or 0) + 1
        return self._add(f"{kind}:{target}:{number}", due_at_ms, kind, target, arguments, rank)

    def _add(
        self, key: str, due_at_ms: int, kind: str, target: str, arguments: dict[str, Any], rank: int | None = None
    ) -> str:
        number = (self._sequences.get("timer") or 0) + 1
        self._sequences.put("timer", number)
        number = number if rank is None else RANKED + rank
        self._rows.put(key, Timer(key, due_at_ms, number, kind, target, arguments))
        heapq.heappush(self._heap, (due_at_ms, number, key))
        return key

    def cancel(self, kind: str, target: str) -> None:
        """Forget the timer of this kind for a resource; none is no error."""
        self.cancel_key(f"{kind}:{target}")

    def cancel_key(self, key: str) -> None:
        if key in self._rows:
            self._rows.delete(key)

    def next(self) -> Timer | None:
        """The timer that fires next, without firing it."""
        if self._store.in_change:
            return min(self._rows.values(), key=_firing_order, default=None)
        if len(self._heap) > 2 * len(self._rows) + _STALE_ENTRIES_KEPT:
            self.rebuild()
        while self._heap:
            due_at_ms, number, key = self._heap[0]
            row = self._rows.get(key)
            if row is not None and row.number == number and row.due_at_ms == due_at_ms:
                return row
            heapq.heappop(self._heap)
        return None

    def take(self, timer: Timer) -> None:
        """Remove a timer because it fires now; inside a change."""
        self._rows.delete(timer.key)

    def planned(self, kind: str, target: str) -> Timer | None:
        """The timer of this kind for a resource, if one is planned."""
        return self._rows.get(f"{kind}:{target}")

    def all(self) -> ValuesView[Timer]:
        """All timers, in no order that means anything."""
        return self._rows.values()

    def in_firing_order(self, keys: Iterable[str] | None = None) -> list[Timer]:
        """All timers, or those of these keys."""
        rows = self._rows.values() if keys is None else [self._rows[key] for key in keys]
        return sorted(rows, key=_firing_order)

    def first(self, count: int) -> list[Timer]:
        """The first timers in firing order, however many there are behind them."""
        found: list[Timer] = []
        at = [(self._heap[0], 0)] if self._heap else []
        while at and len(found) < count:
            (due_at_ms, number, key), place = heapq.heappop(at)
            row = self._rows.get(key)
            is_planned = row is not None and row.number == number and row.due_at_ms == due_at_ms
            if row is not None and is_planned and found[-1:] != [row]:  # an entry may be there twice
                found.append(row)
            for below in (2 * place + 1, 2 * place + 2):
                if below < len(self._heap):
                    heapq.heappush(at, (self._heap[below], below))
        return found

    def __len__(self) -> int:
        return len(self._rows)

    def rebuild(self) -> None:
        """Make the index anew from the rows, after the store was replaced."""
        self._heap = [_firing_order(row) for row in self._rows.values()]
        heapq.heapify(self._heap)


def _firing_order(timer: Timer) -> tuple[int, int, str]:
    return timer.due_at_ms, timer.number, timer.key
