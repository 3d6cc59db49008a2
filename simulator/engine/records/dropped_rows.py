"""Drops unreadable journal rows from a world, and counts them as rows that the journal has dropped.

Journals record external strings: headers, bodies, paths. A bad row from an older version or another program must never
make the rest of the world unreadable. However, a document is rejected if other rows depend on an unreadable row.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

from simulator.kernel.agenda import SEQUENCES
from simulator.kernel.store import TableKey
from simulator.kernel.world import World


class DroppedRows:
    """Collects the unreadable rows, and the number of unreadable requests, while a saved state is read."""

    def __init__(self) -> None:
        self.calls = 0
        self._rows: dict[str, dict[str, str]] = {}

    def __len__(self) -> int:
        return self.calls + sum(map(len, self._rows.values()))

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the journals that have dropped rows."""
        if self.calls:
            yield "requests"
        yield from (table for table, rows in self._rows.items() if rows)

    def add(self, table: str, journal: TableKey[Any], key: str) -> None:
        """Add an unreadable row."""
        self._rows.setdefault(table, {})[key] = journal.name

    def discard(self, table: str, key: str) -> None:
        """Remove a row from the unreadable rows. Call this if a later change replaces or deletes the row."""
        if table in self._rows:
            self._rows[table].pop(key, None)

    def enter(self, tables: MutableMapping[str, dict[str, Any]]) -> None:
        """For each unreadable row, add one to the number of dropped rows that `tables` contains for its journal."""
        for rows in self._rows.values():
            for journal in rows.values():
                counts = tables.setdefault(SEQUENCES.name, {})
                name = _count_of(journal)
                counts[name] = counts.get(name, 0) + 1


def rows_dropped(world: World, journal: TableKey[Any]) -> int:
    """Return the number of rows that a journal has dropped."""
    return world.last_sequence(_count_of(journal.name))


def count_dropped(world: World, journal: TableKey[Any]) -> None:
    """Add one to the number of rows that a journal has dropped. Call this inside a transaction."""
    world.next_sequence(_count_of(journal.name))


def _count_of(journal: str) -> str:
    return f"{journal}.dropped"
