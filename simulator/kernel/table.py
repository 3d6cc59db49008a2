"""A table of a store: rows by key, the log by which writes are undone, and the indexes that writes keep.

A store has many tables and one log; `kernel/store` has it.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    from _collections_abc import dict_values

ABSENT: Any = object()
"""What stands for the old row of a key that had none."""

Row = TypeVar("Row")

Write: TypeAlias = "tuple[Table[Any], str, Any]"
"""One write of a change: the table, the key, and the row that was there before."""


class Index(Protocol):
    """What is kept beside a table to find its rows by."""

    def written(self, key: str, old: Any, new: Any) -> None:
        """A row was written, or a write of it undone; ABSENT stands for no row. It must not raise."""


IndexT = TypeVar("IndexT", bound=Index)


NO_ROWS: dict[str, Any] = {}
"""What every table shares before its first row: most tables of most worlds have none."""
_GET_NOTHING = NO_ROWS.get


_OUTSIDE = "table {!r} written outside of a change"


class Log:
    """What the present change of a store has written (None outside of one), and the places of rows that it deleted."""

    __slots__ = ("buried", "writes")

    def __init__(self) -> None:
        self.writes: list[Write] | None = None
        self.buried: list[int] = []

    def remember(self, table: Table[Any], key: str, old: Any) -> None:
        if self.writes is None:
            raise RuntimeError(_OUTSIDE.format(table.name))
        self.writes.append((table, key, old))


class Table(Generic[Row]):
    """Rows by key, in the order of their creation, which an undone deletion keeps.

    `rows` may be shared with snapshots and with worlds that were made of them: only `put`, `delete` and `undo` write
    it, after a copy where it is shared. A dict copied whole costs some 10 ns a row, once for each snapshot.
    """

    __slots__ = ("_indexes", "_log", "_next_place", "_places", "_shared", "get", "name", "rows")

    get: Callable[[str], Row | None]
    """The row of a key, None when there is none: the `get` of `rows` itself, in a third of the time of a method."""

    def __init__(self, log: Log, name: str) -> None:
        self._log = log  # not the store: each would keep the other, and a world that ends would wait for the collector
        self.name = name
        self._hold(NO_ROWS, shared=True)
        # The number of each row in the order of creation, by which one whose deletion is undone finds its place again:
        # a dict alone would put it at the end. Most tables never lose a row, and a number takes 100 bytes, so a table
        # has none before its first deletion.
        self._places: dict[str, int] | None = None
        self._next_place = 0
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
        """Insert or replace a row; only inside a change."""
        old = self.rows.get(key, ABSENT)
        undo = self._log.writes
        if undo is None:
            raise RuntimeError(_OUTSIDE.format(self.name))
        undo.append((self, key, old))  # not by `remember`: half of what happens is puts, and a call is a fifth of one
        if self._shared:
            self._unshare()
        if old is ABSENT and self._places is not None:
            self._places[key] = self._next_place
            self._next_place += 1
        self.rows[key] = row
        if self._indexes is not None:
            self._tell(key, old, row)

    def put_all(self, other: Table[Row]) -> None:
        """Insert or replace all rows of another table, in their order; only inside a change."""
        for key, row in other.items():
            self.put(key, row)

    def delete(self, key: str) -> None:
        """Remove a row; KeyError when there is none; only inside a change."""
        old = self.rows[key]
        self._log.remember(self, key, old)
        if self._shared:
            self._unshare()
        if self._places is None:
            self._places = {row: place for place, row in enumerate(self.rows)}
            self._next_place = len(self._places)
        self._log.buried.append(self._places.pop(key))
        del self.rows[key]
        self._tell(key, old, ABSENT)

    def undo(self, key: str, old: Row) -> bool:
        """Put back what was there before a write; whether it stands at the end now, and `put_in_order` is due.

        Only what rolls a change back does this, write by write and backwards.
        """
        if self._shared:
            self._unshare()
        if old is ABSENT:
            self._tell(key, self.rows.pop(key), ABSENT)
            if self._places is not None:
                del self._places[key]
            return False
        was_deleted = key not in self.rows
        if not was_deleted:
            self._tell(key, self.rows[key], old)
        elif self._places is not None:
            # Buried in the order of deletions and undone backwards, so the one on top belongs to this row.
            self._places[key] = self._log.buried.pop()
            self._indexes = None  # they would have the row at the end: the next list makes them anew
        self.rows[key] = old
        return was_deleted

    def put_in_order(self) -> None:
        """Bring the rows back into the order of their creation."""
        if self._places is not None:
            places = self._places
            self._hold(dict(sorted(self.rows.items(), key=lambda item: places[item[0]])), shared=False)

    def share(self) -> dict[str, Row]:
        """All rows as they are now, for whoever only reads them: a later write leaves them alone."""
        self._shared = True
        return self.rows

    def fill(self, rows: dict[str, Row]) -> None:
        """Put these rows, in their order, in place of all, and share them; never inside a change."""
        self._hold(rows, shared=True)
        self._places = self._indexes = None

    def index(self, make: Callable[[Table[Row]], IndexT]) -> IndexT:
        """The index that `make` makes of the rows when it is first asked for; from then on every write tells it."""
        if self._indexes is None:
            self._indexes = {}
        index: Any = self._indexes.get(make)
        if index is None:
            index = self._indexes[make] = make(self)
        made: IndexT = index
        return made

    def forget_places(self) -> None:
        """Let the numbers of the rows go, until the next deletion makes them anew; never inside a change."""
        self._places = None

    def forget_indexes(self) -> None:
        """Let all indexes go; whoever asks for one gets it made anew."""
        self._indexes = None

    def _tell(self, key: str, old: Any, new: Any) -> None:
        for index in (self._indexes or {}).values():
            index.written(key, old, new)

    def _unshare(self) -> None:
        self._hold(self.rows.copy(), shared=False)
