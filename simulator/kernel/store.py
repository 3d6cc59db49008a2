"""The state of a world as tables of immutable rows, changed all or nothing.

A table is declared once, by the module that owns it, as a `TableKey`, and reached by it: `store[KEY]`.

Rows are frozen records or plain JSON values; a change replaces a row, it never edits one. So an undo log is a list of
old rows, a snapshot shares the tables until they are written again, and a reader can never see half a change.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, Mapping, Set
from contextlib import AbstractContextManager, nullcontext
from dataclasses import field
from types import UnionType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from simulator.kernel.dataclass import dataclass

if TYPE_CHECKING:
    from _collections_abc import dict_values

ABSENT: Any = object()
"""What stands for the old row of a key that had none."""

Row = TypeVar("Row")

ENVIRONMENTS = ("sandbox", "production")

_DELETED = ":deleted"


@dataclass(frozen=True, eq=False, slots=True)
class TableKey(Generic[Row]):
    """The declaration of a table: the name that documents write it by, and what its rows are.

    `row` is a class or a typing form; `shape` that of the object in documents, where rows are kept as texts of such.
    `check(key, row)` raises the `StateError` of `wire/codec` for a row of that type
    which cannot be one of this table all the same: rows of a document are held against it. A table `per_environment` is
    there twice; a table `per_owner` once for the account, if it has one there, and once for each other owner. A table
    `around` worlds is kept by the server, whatever rooms there are.

    Keys are compared by identity, so finding a table hashes no text.
    """

    name: str
    row: type[Row] | UnionType
    per_environment: bool = False
    per_owner: bool = False
    check: Callable[[str, Any], None] | None = None
    around: bool = False
    shape: object = None
    _own: dict[str, Address[Row]] = field(init=False, repr=False)
    _texts: dict[str, str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # Nearly all look-ups are the account's own tables, several in every call: their addresses are made once, and
        # every world names its tables by the same texts, which would take 2 KB from each.
        own = {environment: Address(self, environment, "", False) for environment in self.environments}
        object.__setattr__(self, "_own", own)
        texts = {environment: f"{environment}:{self.name}" if environment else self.name for environment in own}
        object.__setattr__(self, "_texts", texts)

    @property
    def environments(self) -> tuple[str, ...]:
        """The environments in which it is there; "" for a table that belongs to none."""
        return ENVIRONMENTS if self.per_environment else ("",)

    def of(self, environment: str = "", owner: str = "") -> Address[Row]:
        """The table of one environment, and of one owner ("" for the account itself); KeyError, ValueError."""
        own = self._own[environment]
        return own if not owner else own.of_owner(owner)

    def own_text(self, environment: str) -> str:
        """How the account's own table of an environment is written."""
        return self._texts[environment]


class Address(NamedTuple, Generic[Row]):
    """One table of those that a key declares; `deleted` for the table of the rows that were deleted from it."""

    key: TableKey[Row]
    environment: str
    owner: str
    deleted: bool

    @property
    def text(self) -> str:
        """The address as documents write it: `sandbox:wallets@usr_1:deleted`; `address_of` reads it."""
        own = self.key.own_text(self.environment)
        if not (self.owner or self.deleted):
            return own
        owner = f"@{self.owner}" if self.owner else ""
        return f"{own}{owner}{_DELETED if self.deleted else ''}"

    def of_owner(self, owner: str) -> Address[Row]:
        """The table of another owner; ValueError where there are no others."""
        if not self.key.per_owner:
            raise ValueError(f"the table {self.key.name!r} has no owners")
        return Address(self.key, self.environment, owner, False)

    @property
    def of_deleted(self) -> Address[Row]:
        """Where the rows lie that were deleted from here."""
        return self._replace(deleted=True)


def address_of(text: str, keys: Mapping[str, TableKey[Any]]) -> Address[Any] | None:
    """The address that was written so, None when none of these keys (by name) has such a table."""
    place = text.removesuffix(_DELETED)
    place, _, owner = place.partition("@")
    environment, _, name = place.rpartition(":")
    key = keys.get(name)
    if key is None or environment not in key.environments or (owner and not key.per_owner):
        return None
    return Address(key, environment, owner, text.endswith(_DELETED))


def table_name(text: str) -> str:
    """The name of the table whose address is written so, whatever its environment and owner."""
    return text.removesuffix(_DELETED).partition("@")[0].rpartition(":")[2]


Write: TypeAlias = "tuple[Table[Any], str, Any]"
"""One write of a change: the table, the key, and the row that was there before."""


class Index(Protocol):
    """What is kept beside a table to find its rows by."""

    def written(self, key: str, old: Any, new: Any) -> None:
        """A row was written, or a write of it undone; ABSENT stands for no row. It must not raise."""


IndexT = TypeVar("IndexT", bound=Index)


_NO_ROWS: dict[str, Any] = {}
"""What every table shares before its first row: most tables of most worlds have none."""


_OUTSIDE = "table {!r} written outside of a change"


class _Log:
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

    __slots__ = ("_indexes", "_log", "_next_place", "_places", "_shared", "name", "rows")

    def __init__(self, log: _Log, name: str) -> None:
        self._log = log  # not the store: each would keep the other, and a world that ends would wait for the collector
        self.name = name
        self.rows: dict[str, Row] = _NO_ROWS
        self._shared = True
        # The number of each row in the order of creation, by which one whose deletion is undone finds its place again:
        # a dict alone would put it at the end. Most tables never lose a row, and a number takes 100 bytes, so a table
        # has none before its first deletion.
        self._places: dict[str, int] | None = None
        self._next_place = 0
        self._indexes: dict[object, Index] | None = None

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
            self.rows = dict(sorted(self.rows.items(), key=lambda item: places[item[0]]))

    def share(self) -> dict[str, Row]:
        """All rows as they are now, for whoever only reads them: a later write leaves them alone."""
        self._shared = True
        return self.rows

    def fill(self, rows: dict[str, Row]) -> None:
        """Put these rows, in their order, in place of all, and share them; never inside a change."""
        self.rows, self._shared = rows, True
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

    def _tell(self, key: str, old: Any, new: Any) -> None:
        for index in (self._indexes or {}).values():
            index.written(key, old, new)

    def _unshare(self) -> None:
        self.rows, self._shared = self.rows.copy(), False


class Store:
    """All tables of one world. Writing outside of `change()` raises RuntimeError.

    With `known` it has these tables and those around worlds only: documents would not know one that nobody listed.
    `on_commit`, if set, gets the writes of every change once it is made, in their order; it must not raise.
    """

    __slots__ = ("_at", "_keys", "_known", "_log", "_tables", "on_commit")

    def __init__(self, known: Set[TableKey[Any]] | None = None) -> None:
        self._known = known
        self._tables: dict[str, Table[Any]] = {}
        self._at: dict[TableKey[Any] | Address[Any], Table[Any]] = {}
        self._keys: dict[str, TableKey[Any]] = {}
        self._log = _Log()
        self.on_commit: Callable[[list[Write]], None] | None = None

    def __getitem__(self, at: TableKey[Row] | Address[Row]) -> Table[Row]:
        """The table of a key that is there once, or the one at an address; ValueError for two keys of one name."""
        # One look-up by identity. Which table a new address means is decided by its text, once: a snapshot or a
        # document may have filled it before anyone asked for it by its key.
        table = self._at.get(at)
        return self._open(at) if table is None else table

    def _open(self, at: TableKey[Row] | Address[Row]) -> Table[Row]:
        address = at if isinstance(at, Address) else at.of()
        if self._known is not None and address.key not in self._known and not address.key.around:
            raise ValueError(f"the table {address.key.name!r} is of no room of this simulator")
        if self._keys.setdefault(address.key.name, address.key) is not address.key:
            raise ValueError(f"two tables are called {address.key.name!r}")
        table = self._at[at] = self.written(address.text)
        return table

    def written(self, text: str) -> Table[Any]:
        """The table whose address is written so, in an index or a snapshot; its key may never have been asked for."""
        table = self._tables.get(text)
        if table is None:
            table = self._tables[text] = Table(self._log, text)
        return table

    @property
    def in_change(self) -> bool:
        return self._log.writes is not None

    def change(self) -> AbstractContextManager[None]:
        """One change: everything written inside stays, or nothing when the block raises; inner ones join the outer."""
        return _Change(self) if self._log.writes is None else _JOINED

    def begin(self) -> None:
        """Begin a change; `change` does it."""
        self._log.writes = []

    def end(self, *, keep: bool) -> None:
        """Keep what the change has written, or undo it; `change` does it."""
        written = self._log.writes or []
        try:
            if not keep:
                self.roll_back(written)
        finally:
            self._log.writes = None
            self._log.buried.clear()
        if keep and self.on_commit is not None:
            self.on_commit(written)

    def attempt(self) -> AbstractContextManager[None]:
        """Part of a change that may fail alone: when the block raises, what it wrote is undone, and it raises on."""
        if self._log.writes is None:
            raise RuntimeError("an attempt is part of a change")
        return _Attempt(self, self._log.writes)

    def roll_back(self, undo: list[Write]) -> None:
        # Why a log of old rows and not a copy of the tables: a change writes a handful of rows in a world that may have
        # a million, and nearly every change is kept. Backwards, because a key may have been written several times and
        # only the first write of it has what was there before the change.
        # Lists, indexes and snapshots show rows in the order of creation. Sorting is dear, so it waits until
        # everything is back, and only tables with a deletion need it.
        out_of_order = {table.name: table for table, key, old in reversed(undo) if table.undo(key, old)}
        for table in out_of_order.values():
            table.put_in_order()

    def tables(self, *, empty: bool = False) -> dict[str, dict[str, Any]]:
        """The rows of every table that has any, as they are now: what a snapshot keeps. Nobody may change them.

        With `empty` also the tables without rows, whose places in the order of tables documents show sooner or later.
        """
        return {name: table.share() for name, table in self._tables.items() if empty or table.rows}

    def replace(self, tables: Mapping[str, dict[str, Any]]) -> None:
        """Put the state of a snapshot in place of this one, sharing its rows."""
        for table in self._tables.values():
            table.fill(_NO_ROWS)
        for name, rows in tables.items():
            self.written(name).fill(rows)


class _Change:
    """One change of a store. A class, because every call makes several and a generator takes four times as long."""

    __slots__ = ("_store",)

    def __init__(self, store: Store) -> None:
        self._store = store

    def __enter__(self) -> None:
        self._store.begin()

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        self._store.end(keep=kind is None)


class _Attempt:
    """A part of a change that may fail alone."""

    __slots__ = ("_mark", "_store", "_written")

    def __init__(self, store: Store, written: list[Write]) -> None:
        # A second log would have to be joined to the first when the block is kept; a mark in the one log costs nothing.
        self._store, self._written, self._mark = store, written, len(written)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        if kind is not None:
            self._store.roll_back(self._written[self._mark :])
            del self._written[self._mark :]


_JOINED = nullcontext()
"""A change inside of another: the outer one keeps or undoes what it writes."""
