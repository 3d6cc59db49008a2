"""Indexes by object, so that inspecting one object does not read everything that ever happened in its world.

They hold nothing of their own: each reads what was added since it was last asked, and reads anew when the world's
state was put back. So nothing is written while calls are answered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary, ref

from simulator.engine.records.appended import AppendedRows
from simulator.engine.records.records import INDEX, find, kind_of
from simulator.engine.records.requests import JournalEntry, RequestLog, requests_of
from simulator.engine.rows.kind import Record
from simulator.kernel.journal import EVENTS, Event
from simulator.kernel.ledger import ENTRIES, Entry
from simulator.kernel.table import Table
from simulator.kernel.world import World

Row = TypeVar("Row")


class _Index(Generic[Row]):
    """The keys of a table's rows by what each row is about, in the order of the table."""

    def __init__(self, table: Table[Row], about: Callable[[str, Row], Iterable[str]]) -> None:
        self._table = table
        self._rows = AppendedRows(table)
        self._about = about
        self._keys: dict[str, list[str]] = {}

    def of(self, object_id: str) -> list[str]:
        """The keys of the rows about an object, in the order of the table."""
        if self._rows.starts_over():
            self._keys = {}
        for key, row in self._rows.take():
            for about in self._about(key, row):
                self._keys.setdefault(about, []).append(key)
        return self._keys.get(object_id, [])

    def rows_about(self, object_id: str) -> list[Row]:
        """The rows about an object, in the order of the table."""
        return [self._table[key] for key in self.of(object_id)]


class _Requests:
    """The calls in the journal by their ids."""

    def __init__(self) -> None:
        self._numbers: dict[str, list[int]] = {}
        self._read = 0

    def oldest(self, log: RequestLog, request_id: str) -> JournalEntry | None:
        """The oldest call of an id that the journal still has; replays share the id of the first."""
        calls, dropped = log.entries, log.dropped
        total = dropped + len(calls)
        if self._read > total or len(self._numbers) > 2 * len(calls) + _DROPPED_KEPT:
            self._numbers, self._read = {}, 0
        added = min(total - self._read, len(calls))
        for number, call in enumerate(reversed(list(islice(reversed(calls), added))), total - added):
            self._numbers.setdefault(call.id, []).append(number)
        self._read = total
        numbers = self._numbers.get(request_id, ())
        return next((calls[number - dropped] for number in numbers if number >= dropped), None)


_DROPPED_KEPT = 1_000
"""So many calls that the journal has dropped may be kept here besides as many as it has."""


class _Indexes:
    """The indexes of one world."""

    def __init__(self, world: World) -> None:
        weak = ref(world)  # an index that kept its world alive would never be forgotten

        def referred_to(key: str, _: str) -> Iterable[str]:
            present = weak()
            return () if present is None else references_of(present, find(present, key)).values()

        self.events = _Index(world.store[EVENTS], lambda _, event: (event.object_id,))
        self.entries = _Index(world.store[ENTRIES], lambda _, entry: (entry.resource_id,))
        self.referring = _Index(world.store[INDEX], referred_to)
        self.requests = _Requests()


class Lookups:
    """The indexes of every world that was asked for, forgotten with it."""

    def __init__(self) -> None:
        self._worlds: WeakKeyDictionary[World, _Indexes] = WeakKeyDictionary()

    def events(self, world: World, object_id: str) -> list[Event]:
        """The events about an object, oldest first."""
        return self._of(world).events.rows_about(object_id)

    def entries(self, world: World, object_id: str) -> list[Entry]:
        """The ledger entries of an object, oldest first."""
        return self._of(world).entries.rows_about(object_id)

    def request(self, world: World, request_id: str) -> JournalEntry | None:
        """The first call of an id, None for one that the journal does not have."""
        return self._of(world).requests.oldest(requests_of(world), request_id)

    def referring(self, world: World, object_id: str) -> list[str]:
        """The ids of the resources that refer to an object, in the order of their creation."""
        return list(self._of(world).referring.of(object_id))

    def _of(self, world: World) -> _Indexes:
        indexes = self._worlds.get(world)
        if indexes is None:
            indexes = self._worlds[world] = _Indexes(world)
        return indexes


def references_of(world: World, record: Record | None) -> dict[str, str]:
    """The ids that a record refers to, by the name of the field."""
    if record is None:
        return {}
    found = {name: getattr(record, name) for name in kind_of(world, record).refers}
    return {name: value for name, value in found.items() if isinstance(value, str) and value}
