"""The state of a world: tables of immutable rows that change atomically.

A table is declared once, as a `TableKey`, in the module that owns it. `store[KEY]` returns the table.

Rows are frozen records or plain JSON values. A transaction replaces rows and never edits them. The undo log is
therefore a list of old rows, a snapshot can share the tables until they are written again, and no reader sees a
partial transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Set
from contextlib import AbstractContextManager, contextmanager
from dataclasses import field
from sys import intern
from types import UnionType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar

from simulator.kernel.dataclass import dataclass
from simulator.kernel.table import NO_ROWS, Log, Table, Write

Row = TypeVar("Row")
Listener: TypeAlias = "Callable[[list[Write]], None]"

_DELETED = ":deleted"


@dataclass(frozen=True, eq=False, slots=True)
class TableKey(Generic[Row]):
    """The declaration of a table: its name in exported worlds, and the type of its rows. Keys are compared by identity,
    so a lookup does not hash a string.
    """

    name: str
    row: type[Row] | UnionType
    """The row type: a class or a typing construct."""
    per_environment: bool = False
    """True if each environment in the store has a separate table."""
    per_owner: bool = False
    """True if each owner other than the world's own account has a separate table."""
    check: Callable[[str, Any], None] | None = None
    """Raises an error if a row read from an exported world is invalid. The whole world is then rejected."""
    around: bool = False
    """True if the table belongs to the server, not to a package of the service."""
    shape: object = None
    """The type of the JSON object in exported worlds. Needed only if the rows are JSON strings."""
    journal: bool = False
    """True if the world is complete without this record of the past. Unreadable rows are dropped and counted."""
    _own: _Own[Row] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # Nearly all lookups access the account's own tables, several times per request. The addresses of these tables
        # are created once.
        object.__setattr__(self, "_own", _Own(self))

    def of(self, environment: str = "", owner: str = "") -> Address[Row]:
        """Return the address of a table ("" is the world's own account). Raise `KeyError` or `ValueError` if there is
        no such table.
        """
        own = self._own[environment]
        return own if not owner else own.of_owner(owner)


class _Own(dict[str, "Address[Row]"]):
    """Caches the addresses of one `TableKey`'s tables, by environment, for the world's own account."""

    __slots__ = ("_key",)

    def __init__(self, key: TableKey[Row]) -> None:
        super().__init__()
        self._key = key

    def __missing__(self, environment: str) -> Address[Row]:
        key = self._key
        if key.per_environment != bool(environment):
            raise KeyError(environment)
        address = self[environment] = Address(key, environment, "", False)
        return address


class Address(NamedTuple, Generic[Row]):
    """The address of one table of a `TableKey`. If `deleted` is True, the table contains the deleted rows."""

    key: TableKey[Row]
    environment: str
    owner: str
    deleted: bool

    @property
    def text(self) -> str:
        """The table's name in an exported world, such as `sandbox:wallets@usr_1:deleted`. `address_of` parses it."""
        environment = f"{self.environment}:" if self.environment else ""
        owner = f"@{self.owner}" if self.owner else ""
        text = f"{environment}{self.key.name}{owner}{_DELETED if self.deleted else ''}"
        # All worlds share the names of the account's own tables, which would otherwise take 2 KB per world. There is no
        # end of owners, and Python 3.12 never frees an interned string.
        return text if owner else intern(text)

    def of_owner(self, owner: str) -> Address[Row]:
        """Return this address with a different owner. Raise `ValueError` if the key has no owners."""
        if not self.key.per_owner:
            raise ValueError(f"the rows of the table {self.key.name!r} belong to no owner")
        return Address(self.key, self.environment, owner, False)

    @property
    def of_deleted(self) -> Address[Row]:
        """The address of the table that contains the deleted rows of this table."""
        return self._replace(deleted=True)


def address_of(text: str, keys: Mapping[str, TableKey[Any]], environments: Collection[str]) -> Address[Any] | None:
    """Parse an address such as `sandbox:wallets@usr_1`. `keys` are the declared keys by name. Return None if there can
    be no such table with these keys and environments.
    """
    place, _, owner = text.removesuffix(_DELETED).partition("@")
    environment, _, name = place.rpartition(":")
    key = keys.get(name)
    if key is None or environment not in (environments if key.per_environment else ("",)):
        return None
    if owner and not key.per_owner:
        return None
    address = key.of(environment, owner)
    return address.of_deleted if text.endswith(_DELETED) else address


def table_name(text: str) -> str:
    """Return the name of the `TableKey` in a table's address string."""
    return text.removesuffix(_DELETED).partition("@")[0].rpartition(":")[2]


class Store(dict[Any, Any]):
    """All tables in one world. A table is found by its `TableKey`, or by the address (`KEY.of(...)`) that adds an
    environment and an owner to the key. Writing outside `change()` raises `RuntimeError`.

    `store[KEY]` is the table of a key that has neither environments nor owners. `store[KEY.of(environment, owner)]` is
    the table for an environment and an owner. Two different keys with the same name raise `ValueError`. The store is a
    dict of the tables requested so far, because every request needs dozens of lookups, and a lookup through a method
    takes five times as long.

    If `known` is given, tables exist only for the keys in `known` and for keys of the server (`around`), and only in
    `environments`. Exported worlds do not include any other tables. Listeners (`listen`) receive the writes of every
    transaction after its commit, in order. They must not raise exceptions.
    """

    __slots__ = ("_environments", "_keys", "_known", "_log", "_tables", "listeners")

    def __init__(self, known: Set[TableKey[Any]] | None = None, environments: Collection[str] = ()) -> None:
        super().__init__()
        self._known = known
        self._environments = environments
        self._tables: dict[str, Table[Any]] = {}
        self._keys: dict[str, TableKey[Any]] = {}
        self._log = Log()
        self.listeners: tuple[Listener, ...] = ()

    if TYPE_CHECKING:

        def __getitem__(self, at: TableKey[Row] | Address[Row]) -> Table[Row]: ...

    def __missing__(self, at: TableKey[Any] | Address[Any]) -> Table[Any]:
        # A new address is resolved by its string, once: a snapshot or a document may have added the table before its
        # key was first used.
        address = at if isinstance(at, Address) else at.of()
        if self._known is not None:
            if address.key not in self._known and not address.key.around:
                raise ValueError(f"no package of this simulator declares the table {address.key.name!r}")
            if address.environment and address.environment not in self._environments:
                raise ValueError(f"there is no environment {address.environment!r}")
        if self._keys.setdefault(address.key.name, address.key) is not address.key:
            raise ValueError(f"two tables have the name {address.key.name!r}")
        table = self[at] = self.written(address.text)
        return table

    def written(self, text: str) -> Table[Any]:
        """Return the table with an address such as `sandbox:wallets@usr_1`. Create it if it does not exist yet."""
        table = self._tables.get(text)
        if table is None:
            table = self._tables[text] = Table(self._log, text)
        return table

    @property
    def in_change(self) -> bool:
        return self._log.writes is not None

    @contextmanager
    def change(self) -> Iterator[None]:
        """One transaction, undone if the block raises. A nested one joins the outer one. `World.change` takes a quarter
        of the time, without a generator.
        """
        if self.in_change:
            yield
            return
        self.begin()
        keep = False
        try:
            yield
            keep = True
        finally:
            self.end(keep=keep)

    def begin(self) -> None:
        """Begin a transaction."""
        self._log.writes = []

    def end(self, *, keep: bool) -> None:
        """Commit or undo a transaction."""
        written = self._log.writes or []
        try:
            if not keep:
                self.roll_back(written)
        finally:
            self._log.writes = None
            self._log.deleted_positions.clear()
        if keep:
            for listener in self.listeners:
                listener(written)

    def listen(self, listener: Listener) -> None:
        """Call this listener after every transaction from now on."""
        self.listeners = (*self.listeners, listener)

    def stop_listening(self, listener: Listener) -> None:
        """Stop calling a listener, if it is registered."""
        self.listeners = tuple(one for one in self.listeners if one != listener)

    def attempt(self) -> AbstractContextManager[None]:
        """Return a context manager for a part of a transaction. Only this part is undone if the block raises."""
        if self._log.writes is None:
            raise RuntimeError("an attempt can begin only within an open transaction")
        return _Attempt(self, self._log.writes)

    def roll_back(self, undo: list[Write]) -> None:
        # A log of old rows is used instead of a copy of the tables, because a transaction writes a few rows in a world
        # that may have a million, and nearly every transaction is committed. The log is undone backwards. A key may be
        # written several times in a transaction, and only its first entry in the log has the original row.
        out_of_order = {table.name: table for table, key, old in reversed(undo) if table.undo(key, old)}
        for table in out_of_order.values():
            table.put_in_order()

    def tables(self, *, empty: bool = False) -> dict[str, dict[str, Any]]:
        """Return the rows of every non-empty table, for reading. Exported worlds depend on the order of all tables,
        so `empty` includes empty tables.
        """
        return {name: table.share() for name, table in self._tables.items() if empty or table.rows}

    @property
    def table_count(self) -> int:
        """Return the number of tables requested so far."""
        return len(self._tables)

    def table_names(self) -> list[str]:
        """Return the addresses of all tables requested so far, in the order of the first request."""
        return list(self._tables)

    def drop_row_numbers(self) -> None:
        """Drop the row numbers of all tables, which few deletions need. Never call this inside a transaction."""
        for table in self._tables.values():
            table.drop_row_numbers()

    def let_go(self) -> Iterator[Any]:
        """Yield all rows, so that the caller can free them in batches. Drop the indexes, which refer to the tables."""
        for table in list(self._tables.values()):
            table.drop_indexes()
            yield from list(table.values())

    def replace(self, tables: Mapping[str, dict[str, Any]]) -> None:
        """Replace all tables with the tables of a snapshot. The row objects are shared with the snapshot."""
        for table in self._tables.values():
            table.fill(NO_ROWS)
        for name, rows in tables.items():
            self.written(name).fill(rows)


class _Attempt:
    __slots__ = ("_mark", "_store", "_written")

    def __init__(self, store: Store, written: list[Write]) -> None:
        # An attempt only remembers a position in the log of the transaction. A separate log would have to be appended
        # to that log when the block succeeds.
        self._store, self._written, self._mark = store, written, len(written)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        if kind is not None:
            self._store.roll_back(self._written[self._mark :])
            del self._written[self._mark :]
