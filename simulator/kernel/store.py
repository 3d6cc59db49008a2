"""The state of a world as tables of immutable rows, changed all or nothing.

Rows are frozen records or plain JSON values; a change replaces a row, it never edits one. So an undo
log is a list of old rows, a snapshot is a shallow copy, and a reader can never see half a change.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

if TYPE_CHECKING:
    from _collections_abc import dict_values

ABSENT: Any = object()
"""What stands for the old row of a key that had none."""

Row = TypeVar("Row")

Write: TypeAlias = "tuple[Table[Any], str, Any]"
"""One write of a change: the table, the key, and the row that was there before."""


class Table(Generic[Row]):
    """Rows by key, in the order of their creation, which an undone deletion keeps.

    `places` numbers the rows in that order: a dict alone would put a row that comes back at the end.
    """

    __slots__ = ("_store", "name", "places", "rows")

    def __init__(self, store: Store, name: str) -> None:
        self._store = store
        self.name = name
        self.rows: dict[str, Row] = {}
        self.places: dict[str, int] = {}

    def get(self, key: str) -> Row | None:
        return self.rows.get(key)

    def __getitem__(self, key: str) -> Row:
        return self.rows[key]

    def __contains__(self, key: object) -> bool:
        return key in self.rows

    def __len__(self) -> int:
        return len(self.rows)

    def values(self) -> dict_values[str, Row]:
        return self.rows.values()

    def items(self) -> ItemsView[str, Row]:
        return self.rows.items()

    def newest_first(self) -> Iterator[Row]:
        return reversed(self.rows.values())

    def put(self, key: str, row: Row) -> None:
        """Insert or replace a row; only inside a change."""
        old = self.rows.get(key, ABSENT)
        self._store.remember(self, key, old)
        if old is ABSENT:
            self.places[key] = self._store.next_place()
        self.rows[key] = row

    def delete(self, key: str) -> None:
        """Remove a row; KeyError when there is none; only inside a change."""
        self._store.remember(self, key, self.rows[key])
        self._store.bury(self.places.pop(key))
        del self.rows[key]

    def fill(self, rows: Mapping[str, Row]) -> None:
        """Put these rows, in their order, in place of all; what reads a snapshot does, never a change."""
        self.rows = dict(rows)
        self.places = {key: self._store.next_place() for key in self.rows}

    def put_in_order(self) -> None:
        """Bring the rows back into the order of their creation."""
        self.rows = dict(sorted(self.rows.items(), key=lambda item: self.places[item[0]]))


class Store:
    """All tables of one world. Writing outside of `change()` raises RuntimeError.

    `on_commit`, if set, gets the writes of every change once it is made, in their order; it must not raise.
    """

    __slots__ = ("_buried", "_place", "_tables", "_undo", "on_commit")

    def __init__(self) -> None:
        self._tables: dict[str, Table[Any]] = {}
        self._undo: list[Write] | None = None
        self._buried: list[int] = []
        self._place = 0
        self.on_commit: Callable[[list[Write]], None] | None = None

    def table(self, name: str) -> Table[Any]:
        """The table of that name, made when first asked for."""
        table = self._tables.get(name)
        if table is None:
            table = self._tables[name] = Table(self, name)
        return table

    @property
    def in_change(self) -> bool:
        return self._undo is not None

    def next_place(self) -> int:
        """The place of a new row: behind all others."""
        self._place += 1
        return self._place

    def bury(self, place: int) -> None:
        """Keep the place of a row that is deleted until the change is over; the last one comes back first."""
        self._buried.append(place)

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
        written = self._undo = []
        try:
            yield
        except BaseException:
            self._roll_back(written)
            raise
        finally:
            self._undo = None
            self._buried.clear()
        if self.on_commit is not None:
            self.on_commit(written)

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

    def _roll_back(self, undo: list[Write]) -> None:
        out_of_order: dict[str, Table[Any]] = {}
        for table, key, old in reversed(undo):
            if old is ABSENT:
                del table.rows[key], table.places[key]
                continue
            if key not in table.rows:
                table.places[key] = self._buried.pop()
                out_of_order[table.name] = table
            table.rows[key] = old
        for table in out_of_order.values():
            table.put_in_order()

    def tables(self) -> dict[str, dict[str, Any]]:
        """A copy of every table that has rows: what a snapshot keeps."""
        return {name: dict(table.rows) for name, table in self._tables.items() if table.rows}

    def replace(self, tables: Mapping[str, Mapping[str, Any]]) -> None:
        """Put the state of a snapshot in place of this one."""
        for table in self._tables.values():
            table.fill({})
        for name, rows in tables.items():
            self.table(name).fill(rows)
