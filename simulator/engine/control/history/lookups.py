"""Indexes of a world's history by resource, so that inspecting a resource does not read the whole history. An index is
updated when it is read, so that API requests do not become slower.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary, ref

from simulator.engine.records.appended import AppendedRows
from simulator.engine.records.records import INDEX, find, kind_of
from simulator.engine.records.requests import JournalEntry, RequestLog
from simulator.engine.rows.kind import Record
from simulator.kernel.journal import EVENTS
from simulator.kernel.ledger import ENTRIES
from simulator.kernel.table import Table
from simulator.kernel.world import World

Row = TypeVar("Row")


class _Index(Generic[Row]):
    """Maps the id of a resource to the keys of the table rows about it, in table order."""

    def __init__(self, table: Table[Row], about: Callable[[str, Row], Iterable[str]]) -> None:
        self._table = table
        self._rows = AppendedRows(table)
        self._about = about
        self._keys: dict[str, list[str]] = {}

    def of(self, object_id: str) -> list[str]:
        """Return the keys of the rows about a resource, in table order."""
        if self._rows.starts_over():
            self._keys = {}
        for key, row in self._rows.take():
            for about in self._about(key, row):
                self._keys.setdefault(about, []).append(key)
        return self._keys.get(object_id, [])

    def rows_about(self, object_id: str) -> list[Row]:
        return [self._table[key] for key in self.of(object_id)]


class _Requests:
    def __init__(self) -> None:
        self._numbers: dict[str, list[int]] = {}
        self._read = 0

    def oldest(self, log: RequestLog, request_id: str) -> JournalEntry | None:
        """Return the oldest request with an id, or None. A replay has the id of the original request."""
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
"""The index is rebuilt when it has more entries than twice the length of the journal plus this number."""


class Lookups:
    """The indexes of one world."""

    def __init__(self, world: World) -> None:
        weak = ref(world)  # `_LOOKUPS` keeps this object until nothing else refers to the world.

        def referred_to(key: str, _: str) -> Iterable[str]:
            present = weak()
            return () if present is None else references_of(present, find(present, key)).values()

        self.events = _Index(world.store[EVENTS], lambda _, event: (event.object_id,))
        self.entries = _Index(world.store[ENTRIES], lambda _, entry: (entry.resource_id,))
        """The ledger entries that a resource caused."""
        self.referring = _Index(world.store[INDEX], referred_to)
        """The resources that refer to a resource."""
        self.requests = _Requests()


_LOOKUPS: WeakKeyDictionary[World, Lookups] = WeakKeyDictionary()


def lookups_of(world: World) -> Lookups:
    """Return the indexes of a world. They are created on first use and deleted with the world."""
    return _LOOKUPS.get(world) or _LOOKUPS.setdefault(world, Lookups(world))


def references_of(world: World, record: Record | None) -> dict[str, str]:
    """Return the ids that a record refers to, by the name of the field that contains the id."""
    if record is None:
        return {}
    found = {name: getattr(record, name) for name in kind_of(world, record).refers}
    return {name: value for name, value in found.items() if isinstance(value, str) and value}
