"""Unreadable journal rows. They are dropped from a world, and counted with the rows that the journal itself drops.

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
    """The unreadable rows by table and key, and the number of unreadable requests, collected while a state is read."""

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
        """Count an unreadable row."""
        self._rows.setdefault(table, {})[key] = journal.name

    def discard(self, table: str, key: str) -> None:
        """Stop counting a row because it was written again or deleted."""
        if table in self._rows:
            self._rows[table].pop(key, None)

    def enter(self, tables: MutableMapping[str, dict[str, Any]]) -> None:
        """Add the counts in this object to the journal counts in the state."""
        for rows in self._rows.values():
            for journal in rows.values():
                counts = tables.setdefault(SEQUENCES.name, {})
                name = _count_of(journal)
                counts[name] = counts.get(name, 0) + 1


def rows_dropped(world: World, journal: TableKey[Any]) -> int:
    """Return the number of rows that a journal has dropped."""
    return world.last_sequence(_count_of(journal.name))


def count_dropped(world: World, journal: TableKey[Any]) -> None:
    """Count a row that a journal drops. Call this inside a transaction."""
    world.next_sequence(_count_of(journal.name))


def _count_of(journal: str) -> str:
    return f"{journal}.dropped"
