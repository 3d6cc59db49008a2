"""Indexes by object, so that inspecting one object does not read everything that ever happened in its world.

They hold nothing of their own: each reads what was added since it was last asked, and reads anew when the world's
state was put back. So nothing is written while calls are answered.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any
from weakref import WeakKeyDictionary, ref

from simulator.kernel.journal import EVENTS
from simulator.kernel.ledger import ENTRIES
from simulator.kernel.store import Table, TableKey
from simulator.kernel.world import World
from simulator.wire.records import INDEX, Record, find, kind_of


class _Index:
    """The keys of a table's rows by what each row is about, in the order of the table."""

    def __init__(self, table: Table[Any], about: Callable[[str, Any], tuple[str, ...]]) -> None:
        self._table = table
        self._about = about
        self._keys: dict[str, list[str]] = {}
        self._read = 0
        self._last = ""

    def of(self, object_id: str) -> list[str]:
        """The keys of the rows about an object, in the order of the table."""
        rows = self._table.rows
        added = len(rows) - self._read
        # A dict keeps the order of insertion and rows are only added here, so what is new stands at its end. Counting
        # alone does not tell that: a change that was undone may have taken rows away, and others have come since. Then
        # the newest row that was read is not where it was, and everything is read anew.
        # Looked at from the end, this costs as much as there is to read, however long the table is.
        if added < 0 or (self._read and next(islice(reversed(rows), added, None)) != self._last):
            self._keys, self._read, added = {}, 0, len(rows)
        for key in reversed(list(islice(reversed(rows), added))):
            for about in self._about(key, rows[key]):
                self._keys.setdefault(about, []).append(key)
            self._last = key
        self._read = len(rows)
        return self._keys.get(object_id, [])


class Lookups:
    """The indexes of every world that was asked for, forgotten with it."""

    def __init__(self) -> None:
        self._worlds: WeakKeyDictionary[World, dict[TableKey[Any], _Index]] = WeakKeyDictionary()

    def events(self, world: World, object_id: str) -> list[Any]:
        """The events about an object, oldest first."""
        table = world.store[EVENTS]
        return [table[key] for key in self._index(world, EVENTS, _event_is_about).of(object_id)]

    def entries(self, world: World, object_id: str) -> list[Any]:
        """The ledger entries of an object, oldest first."""
        table = world.store[ENTRIES]
        return [table[key] for key in self._index(world, ENTRIES, _entry_is_about).of(object_id)]

    def referring(self, world: World, object_id: str) -> list[str]:
        """The ids of the resources that refer to an object, in the order of their creation."""
        weak = ref(world)  # an index that kept its world alive would never be forgotten

        def about(key: str, _: Any) -> tuple[str, ...]:
            present = weak()
            return () if present is None else tuple(references_of(present, find(present, key)).values())

        return list(self._index(world, INDEX, about).of(object_id))

    def _index(self, world: World, key: TableKey[Any], about: Callable[[str, Any], tuple[str, ...]]) -> _Index:
        indexes = self._worlds.setdefault(world, {})
        if key not in indexes:
            indexes[key] = _Index(world.store[key], about)
        return indexes[key]


def references_of(world: World, record: Record | None) -> dict[str, str]:
    """The ids that a record refers to, by the name of the field."""
    if record is None:
        return {}
    found = {name: getattr(record, name) for name in kind_of(world, record).refers}
    return {name: value for name, value in found.items() if isinstance(value, str) and value}


def _event_is_about(_: str, event: Any) -> tuple[str, ...]:
    return (event.object_id,)


def _entry_is_about(_: str, entry: Any) -> tuple[str, ...]:
    return (entry.resource_id,)
