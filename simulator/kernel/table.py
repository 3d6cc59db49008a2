"""A table in a store (see `kernel/store`): rows by key, and indexes that every write updates."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    from _collections_abc import dict_values

ABSENT: Any = object()
"""A placeholder for the old row if the key did not exist."""

Row = TypeVar("Row")

Write: TypeAlias = "tuple[Table[Any], str, Any]"
"""One write in a transaction: the table, the key, and the row before the write."""


class Index(Protocol):
    """An index of a table's rows. The table calls `written` after each write."""

    def written(self, key: str, old: Any, new: Any) -> None:
        """Update the index after a write or an undone write. ABSENT means that there is no row. Raise nothing."""


IndexT = TypeVar("IndexT", bound=Index)

NO_ROWS: dict[str, Any] = {}
"""The empty mapping that all tables share until their first row is written. Most tables in most worlds stay empty."""
_GET_NOTHING = NO_ROWS.get


class Log:
    """The transaction of a store."""

    __slots__ = ("deleted_positions", "writes")

    def __init__(self) -> None:
        self.writes: list[Write] | None = None
        """The writes in the current transaction, or None outside a transaction."""
        self.deleted_positions: list[int] = []
        """The positions that the rows deleted in this transaction had in their tables."""


class Table(Generic[Row]):
    """Rows by key, in creation order. Undoing a deletion keeps that order.

    `rows` may be shared with snapshots and with worlds created from them. Only `put`, `delete` and `undo` write to it,
    and they first copy a shared dict. A copy takes about 10 ns per row and is made once for each snapshot.
    """

    __slots__ = ("_indexes", "_log", "_next_position", "_positions", "_shared", "get", "name", "rows")

    get: Callable[[str], Row | None]
    """The `get` of the dict itself, which takes a third of the time of a separate method."""

    def __init__(self, log: Log, name: str) -> None:
        # A reference to the store would create a cycle, so a deleted world would wait for the garbage collector.
        self._log = log
        self.name = name
        self._hold(NO_ROWS, shared=True)
        # The number of each row in creation order. With this number, a row returns to its position when its deletion is
        # undone. A dict alone would append the row. A number takes 100 bytes and most tables never lose a row, so a
        # table has no numbers before its first deletion.
        self._positions: dict[str, int] | None = None
        self._next_position = 0
        self._indexes: dict[object, Index] | None = None

    def _hold(self, rows: dict[str, Row], *, shared: bool) -> None:
        self.rows, self._shared = rows, shared
        self.get = _GET_NOTHING if rows is NO_ROWS else rows.get

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
        """Insert or replace a row. Call this only inside a transaction."""
        old = self.rows.get(key, ABSENT)
        undo = self._log.writes
        if undo is None:
            raise RuntimeError(f"table {self.name!r} written outside of a transaction")
        undo.append((self, key, old))
        if self._shared:
            self._unshare()
        if old is ABSENT and self._positions is not None:
            self._positions[key] = self._next_position
            self._next_position += 1
        self.rows[key] = row
        if self._indexes is not None:
            self._notify(key, old, row)

    def put_all(self, other: Table[Row]) -> None:
        """Insert or replace all rows from another table, in order. Call this only inside a transaction."""
        for key, row in other.items():
            self.put(key, row)

    def delete(self, key: str) -> None:
        """Delete a row. Call this only inside a transaction. Raise `KeyError` if the row does not exist."""
        old = self.rows[key]
        if self._log.writes is None:
            raise RuntimeError(f"table {self.name!r} written outside of a transaction")
        self._log.writes.append((self, key, old))
        if self._shared:
            self._unshare()
        if self._positions is None:
            self._positions = {row: position for position, row in enumerate(self.rows)}
            self._next_position = len(self._positions)
        self._log.deleted_positions.append(self._positions.pop(key))
        del self.rows[key]
        self._notify(key, old, ABSENT)

    def undo(self, key: str, old: Row) -> bool:
        """Undo one write in a rollback. Return True if the row was re-appended, so that `put_in_order` is needed."""
        if self._shared:
            self._unshare()
        if old is ABSENT:
            self._notify(key, self.rows.pop(key), ABSENT)
            if self._positions is not None:
                del self._positions[key]
            return False
        was_deleted = key not in self.rows
        if not was_deleted:
            self._notify(key, self.rows[key], old)
        elif self._positions is not None:
            # Positions are pushed in deletion order and popped in reverse, so the top position belongs to this row.
            self._positions[key] = self._log.deleted_positions.pop()
            self._indexes = None  # these indexes would have the row at the end; they are rebuilt on their next use
        self.rows[key] = old
        return was_deleted

    def put_in_order(self) -> None:
        """Sort the rows by their creation, because undoing a deletion appends a row at the end."""
        if self._positions is not None:
            positions = self._positions
            self._hold(dict(sorted(self.rows.items(), key=lambda item: positions[item[0]])), shared=False)

    def share(self) -> dict[str, Row]:
        """Return the current rows for reading. A later write copies them first."""
        self._shared = True
        return self.rows

    def fill(self, rows: dict[str, Row]) -> None:
        """Replace all rows with a dict, which a later write copies first. Never call this inside a transaction."""
        self._hold(rows, shared=True)
        self._positions = self._indexes = None

    def index(self, make: Callable[[Table[Row]], IndexT]) -> IndexT:
        """Return the index that `make` creates from the rows on the first call. Every later write updates it."""
        if self._indexes is None:
            self._indexes = {}
        index: Any = self._indexes.get(make)
        if index is None:
            index = self._indexes[make] = make(self)
        made: IndexT = index
        return made

    def drop_row_numbers(self) -> None:
        """Drop the row numbers, which the next deletion computes again. Never call this inside a transaction."""
        self._positions = None

    def drop_indexes(self) -> None:
        """Drop all indexes. The next lookup rebuilds the index that it needs."""
        self._indexes = None

    def _notify(self, key: str, old: Any, new: Any) -> None:
        for index in (self._indexes or {}).values():
            index.written(key, old, new)

    def _unshare(self) -> None:
        self._hold(self.rows.copy(), shared=False)
