"""The journal of a world: every event envelope, and the transitions of every resource. Nothing is deleted from it,
except histories that do not belong to a forked world (`delete_history`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from functools import lru_cache
from typing import Any, ClassVar

from simulator.kernel.dataclass import dataclass
from simulator.kernel.fields import Id, Milliseconds
from simulator.kernel.store import Store, TableKey
from simulator.kernel.texts import Packing, Text


@dataclass(frozen=True, slots=True)
class Cause:
    """The reason for a transaction.

    `kind`: request, law (a timer of the service), action, rule or start. `reference`: the request id, or the location
    of a scenario rule (file and line).
    """

    kind: str
    name: str
    reference: str = ""


@lru_cache(maxsize=4096)
def shared_cause(kind: str, name: str, reference: str) -> Cause:
    """Return a cached cause with these values, so that repeated causes share one object."""
    return Cause(kind, name, reference)


@dataclass(frozen=True, slots=True)
class Event:
    """An emitted event. Its bytes never change (decision W7). `trace` is the trace context of its request, or ""."""

    id: Id
    sequence: int
    environment: str
    type: str
    object_id: Id
    at_ms: Milliseconds
    text: Text = field(metadata={"saved_as": "raw"})
    cause: Cause
    trace: str = ""

    @property
    def raw(self) -> bytes:
        return self.text.read()


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One transition in the history of a resource: the new state, the time, the state table row and the cause."""

    state: str
    at_ms: Milliseconds
    on: str = field(metadata={"saved_as": "trigger"})
    cause: Cause

    saved_as: ClassVar[str] = "Step"
    """The class name used in exported worlds. It must not change."""


MOVES_A_ROW = 64
"""The maximum number of transitions in one row of a history. A new transition copies only one row."""

EVENTS = TableKey("events", Event)
HISTORIES = TableKey("histories", tuple[HistoryEntry, ...])
HISTORY_LENGTHS = TableKey("history_lengths", int)


class Journal:
    """The journal of one world.

    The first row of a history has the resource id as its key. A long history continues in the rows `<id>#1`, `<id>#2`
    and so on, and `history_lengths` contains its total number of transitions.

    Strings that are never dropped are packed with `lasting`, others with `passing`, because a pack is freed only when
    all its strings are dropped.
    """

    __slots__ = ("_events", "_histories", "_lengths", "lasting", "passing")

    def __init__(self, store: Store) -> None:
        self._events = store[EVENTS]
        self._histories = store[HISTORIES]
        self._lengths = store[HISTORY_LENGTHS]
        self.lasting = Packing()
        self.passing = Packing()

    def append(self, event: Event) -> None:
        self._events.put(event.id, event)
        self.lasting.add(event.text)

    def event(self, event_id: str) -> Event | None:
        return self._events.get(event_id)

    def events(self) -> Iterator[Event]:
        """Return every event, oldest first."""
        return iter(self._events.values())

    def events_newest_first(self) -> Iterator[Event]:
        return self._events.newest_first()

    @property
    def event_count(self) -> int:
        return len(self._events)

    def record_move(self, resource_id: str, step: HistoryEntry) -> None:
        """Append a transition to the history of a resource. Call this inside a transaction."""
        moves = self._histories.get(resource_id) or ()
        if len(moves) < MOVES_A_ROW:
            self._histories.put(resource_id, (*moves, step))
            return
        length = self._length(resource_id)
        row = _row_of(resource_id, length // MOVES_A_ROW)
        self._histories.put(row, (*(self._histories.get(row) or ()), step))
        self._lengths.put(resource_id, length + 1)

    def _length(self, resource_id: str) -> int:
        return self._lengths.get(resource_id) or len(self._histories.get(resource_id) or ())

    def histories(self) -> Iterator[tuple[str, tuple[HistoryEntry, ...]]]:
        """Return the history of every resource by id, in the order of their first transitions."""
        return ((row, self.history(row)) for row in list(self._histories.rows) if "#" not in row)

    def history(self, resource_id: str) -> tuple[HistoryEntry, ...]:
        """Return every transition of a resource, oldest first."""
        moves = self._histories.get(resource_id) or ()
        if len(moves) < MOVES_A_ROW:
            return moves
        return tuple(step for row in self._rows(resource_id) for step in row)

    def _rows(self, resource_id: str) -> Iterator[tuple[HistoryEntry, ...]]:
        for number in range((self._length(resource_id) - 1) // MOVES_A_ROW + 1):
            yield self._histories.get(_row_of(resource_id, number)) or ()

    def last_before(self, row: str) -> HistoryEntry | None:
        """Return the transition that precedes a row of a history, or None if the row is the first row."""
        resource_id, _, number = row.partition("#")
        earlier = self._histories.get(_row_of(resource_id, int(number) - 1)) if number else None
        return earlier[-1] if earlier else None

    def delete_history(self, resource_id: str) -> None:
        """Delete the history of a resource that never existed in this world, such as a key of the world that was
        forked.
        """
        for number in range((self._length(resource_id) - 1) // MOVES_A_ROW + 1):
            if (row := _row_of(resource_id, number)) in self._histories:
                self._histories.delete(row)
        if resource_id in self._lengths:
            self._lengths.delete(resource_id)


def _row_of(resource_id: str, number: int) -> str:
    return f"{resource_id}#{number}" if number else resource_id


def resource_of(row: str) -> str:
    """Return the resource id in the key of a history row."""
    return row.partition("#")[0]


def newest(items: list[Any], limit: int | None) -> list[Any]:
    """Return the last `limit` items of a list that is sorted oldest first, in the same order. None means all items."""
    if limit is None:
        return items
    return items[-limit:] if limit else []
