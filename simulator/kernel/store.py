"""The state of a world as tables of immutable rows, changed all or nothing.

Rows are frozen records or plain JSON values; a change replaces a row, it never edits one. So an undo
log is a list of old rows, a snapshot is a shallow copy, and a reader can never see half a change.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, ValuesView
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

_ABSENT: Any = object()

Row = TypeVar("Row")


class Table(Generic[Row]):
    """Rows by key, in the order of their creation (rows with a `sequence` keep it even when a deletion is undone)."""

    __slots__ = ("_store", "name", "rows")

    def __init__(self, store: Store, name: str) -> None:
        self._store = store
        self.name = name
        self.rows: dict[str, Row] = {}

    def get(self, key: str) -> Row | None:
        return self.rows.get(key)

    def __getitem__(self, key: str) -> Row:
        return self.rows[key]

    def __contains__(self, key: object) -> bool:
        return key in self.rows

    def __len__(self) -> int:
        return len(self.rows)

    def values(self) -> ValuesView[Row]:
        return self.rows.values()

    def items(self) -> ItemsView[str, Row]:
        return self.rows.items()

    def newest_first(self) -> Iterator[Row]:
        return reversed(self.rows.values())

    def put(self, key: str, row: Row) -> None:
        """Insert or replace a row; only inside a change."""
        self._store.remember(self, key, self.rows.get(key, _ABSENT))
        self.rows[key] = row

    def delete(self, key: str) -> None:
        """Remove a row; KeyError when there is none; only inside a change."""
        self._store.remember(self, key, self.rows[key])
        del self.rows[key]


class Store:
    """All tables of one world. Writing outside of `change()` raises RuntimeError."""

    __slots__ = ("_tables", "_undo")

    def __init__(self) -> None:
        self._tables: dict[str, Table[Any]] = {}
        self._undo: list[tuple[Table[Any], str, Any]] | None = None

    def table(self, name: str) -> Table[Any]:
        """The table of that name, made when first asked for."""
        table = self._tables.get(name)
        if table is None:
            table = self._tables[name] = Table(self, name)
        return table

    def remember(self, table: Table[Any], key: str, old: Any) -> None:
        if self._undo is None:
            raise RuntimeError(f"table {table.name!r} written outside of a change")
        self._undo.append((table, key, old))

    @contextmanager
    def change(self) -> Iterator[None]:
        """One change: everything written inside stays, or nothing when the block raises; inner ones join the outer."""
        if self._undo is not None:
            yield
            return
        self._undo = []
        try:
            yield
        except BaseException:
            self._roll_back(self._undo)
            raise
        finally:
            self._undo = None

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Part of a change that may fail alone: when the block raises, what it wrote is undone, and it raises on."""
        if self._undo is None:
            raise RuntimeError("an attempt is part of a change")
        mark = len(self._undo)
        try:
            yield
        except BaseException:
            self._roll_back(self._undo[mark:])
            del self._undo[mark:]
            raise

    @staticmethod
    def _roll_back(undo: list[tuple[Table[Any], str, Any]]) -> None:
        for table, key, old in reversed(undo):
            if old is _ABSENT:
                table.rows.pop(key, None)
                continue
            deleted = key not in table.rows
            table.rows[key] = old
            if deleted and hasattr(old, "sequence"):
                table.rows = dict(sorted(table.rows.items(), key=lambda item: item[1].sequence))

    def tables(self) -> dict[str, dict[str, Any]]:
        """A copy of every table that has rows: what a snapshot keeps."""
        return {name: dict(table.rows) for name, table in self._tables.items() if table.rows}

    def replace(self, tables: dict[str, dict[str, Any]]) -> None:
        """Put the state of a snapshot in place of this one."""
        for table in self._tables.values():
            table.rows = {}
        for name, rows in tables.items():
            self.table(name).rows = dict(rows)
