"""Timers as data, ordered by due time and then by creation.

A timer has a kind and plain arguments, never a closure, so it can be listed, saved, restored and repeated. The heap of
due times is only an index of the rows. Undoing a transaction can restore a cancelled timer, so heap entries are never
removed inside a transaction, and entries without a row are skipped.
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
"""The number of stale entries that the heap may contain. The heap is rebuilt when it contains more."""

RANKED = 1 << 62
"""The first number given to timers with a rank. Timers without a rank never get a number this high."""


@dataclass(frozen=True, slots=True)
class Timer:
    """A timer, with its due time, creation number, kind, resource and other arguments."""

    key: str
    due_at_ms: Milliseconds
    number: int
    kind: str
    target: str
    arguments: dict[str, Any] = field(default_factory=dict)


TIMERS = TableKey("timers", Timer)
SEQUENCES = TableKey("sequences", int)
"""The last number of every named sequence in a world. `World.next_sequence` returns the next number."""


class Agenda:
    """The timers of one world."""

    __slots__ = ("_heap", "_rows", "_sequences", "_store")

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rows: Table[Timer] = store[TIMERS]
        self._sequences: Table[int] = store[SEQUENCES]
        self._heap: list[tuple[int, int, str]] = []

    def plan(self, due_at_ms: int, kind: str, target: str, **arguments: Any) -> None:
        """Plan a timer for a resource. If the resource already has a timer of this kind, replace it."""
        self._add(f"{kind}:{target}", due_at_ms, kind, target, arguments)

    def plan_another(self, due_at_ms: int, kind: str, target: str, *, rank: int | None = None, **arguments: Any) -> str:
        """Plan another timer for a resource that may have several timers of this kind. Return the timer's key.

        Timers with a `rank` fire in rank order, after all timers without a rank that are due at the same time. Use a
        rank if a receiver's response plans the timer, so that the order does not depend on which response came first.
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
        """Cancel the timer of this kind for a resource if it exists."""
        self.cancel_key(f"{kind}:{target}")

    def cancel_key(self, key: str) -> None:
        if key in self._rows:
            self._rows.delete(key)

    def next(self) -> Timer | None:
        """Return the timer that fires next, without firing it."""
        if self._store.in_change:
            return min(self._rows.values(), key=_firing_order, default=None)
        if len(self._heap) > 2 * len(self._rows.rows) + _STALE_ENTRIES_KEPT:
            self.rebuild()
        while self._heap:
            due_at_ms, number, key = self._heap[0]
            row = self._rows.get(key)
            if row is not None and row.number == number and row.due_at_ms == due_at_ms:
                return row
            heapq.heappop(self._heap)
        return None

    def take(self, timer: Timer) -> None:
        """Remove a timer that is about to fire. Call this inside a transaction."""
        self._rows.delete(timer.key)

    def planned(self, kind: str, target: str) -> Timer | None:
        """Return the timer of this kind for a resource, or None."""
        return self._rows.get(f"{kind}:{target}")

    def all(self) -> ValuesView[Timer]:
        """Return all timers in no particular order."""
        return self._rows.values()

    def in_firing_order(self, keys: Iterable[str] | None = None) -> list[Timer]:
        """Return timers in firing order: all timers, or only the timers with the given keys."""
        rows = self._rows.values() if keys is None else [self._rows[key] for key in keys]
        return sorted(rows, key=_firing_order)

    def first(self, count: int) -> list[Timer]:
        """Return the first timers in firing order. The other timers are not sorted."""
        found: list[Timer] = []
        at = [(self._heap[0], 0)] if self._heap else []
        while at and len(found) < count:
            (due_at_ms, number, key), place = heapq.heappop(at)
            row = self._rows.get(key)
            is_planned = row is not None and row.number == number and row.due_at_ms == due_at_ms
            if row is not None and is_planned and found[-1:] != [row]:  # the heap may contain duplicate entries
                found.append(row)
            for below in (2 * place + 1, 2 * place + 2):
                if below < len(self._heap):
                    heapq.heappush(at, (self._heap[below], below))
        return found

    def __len__(self) -> int:
        return len(self._rows)

    def rebuild(self) -> None:
        """Rebuild the heap from the table of timers, after the store was replaced."""
        self._heap = [_firing_order(row) for row in self._rows.values()]
        heapq.heapify(self._heap)


def _firing_order(timer: Timer) -> tuple[int, int, str]:
    return timer.due_at_ms, timer.number, timer.key
