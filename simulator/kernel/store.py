"""The state of a world as tables of immutable rows, changed all or nothing.

A table is declared once, by the module that owns it, as a `TableKey`, and reached by it: `store[KEY]`.

Rows are frozen records or plain JSON values; a change replaces a row, it never edits one. So an undo log is a list of
old rows, a snapshot shares the tables until they are written again, and a reader can never see half a change.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Set
from contextlib import AbstractContextManager, nullcontext
from dataclasses import field
from types import UnionType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar

from simulator.kernel.dataclass import dataclass
from simulator.kernel.table import NO_ROWS, Log, Table, Write

Row = TypeVar("Row")
Listener: TypeAlias = "Callable[[list[Write]], None]"

_DELETED = ":deleted"


@dataclass(frozen=True, eq=False, slots=True)
class TableKey(Generic[Row]):
    """The declaration of a table: the name that documents write it by, and what its rows are.

    Keys are compared by identity, so finding a table hashes no text.
    """

    name: str
    row: type[Row] | UnionType
    """A class or a typing form."""
    per_environment: bool = False
    """It is there once in each environment of its store."""
    per_owner: bool = False
    """It is there once for each other owner, and for the account itself."""
    check: Callable[[str, Any], None] | None = None
    """Called with key and row of a document; raises what documents refuse a row with that cannot be one of these."""
    around: bool = False
    """The server keeps it, whatever rooms there are."""
    shape: object = None
    """The type of the object in documents, where rows are kept as its text."""
    journal: bool = False
    """It only records what happened: a world is whole without, so an unreadable row is dropped and counted."""
    _own: _Own[Row] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # Nearly all look-ups are the account's own tables, several in every call: their addresses are made once, and
        # every world names its tables by the same texts, which would take 2 KB from each.
        object.__setattr__(self, "_own", _Own(self))

    def of(self, environment: str = "", owner: str = "") -> Address[Row]:
        """The table of one environment, and of one owner ("" for the account itself); KeyError, ValueError."""
        own = self._own[environment]
        return own if not owner else own.of_owner(owner)

    def own_text(self, environment: str) -> str:
        """How the account's own table of an environment is written."""
        return self._own.texts[environment]


class _Own(dict[str, "Address[Row]"]):
    """The addresses of the account's own tables of one key, by environment; `texts`: as they are written."""

    __slots__ = ("_key", "texts")

    def __init__(self, key: TableKey[Row]) -> None:
        super().__init__()
        self._key = key
        self.texts: dict[str, str] = {}

    def __missing__(self, environment: str) -> Address[Row]:
        key = self._key
        if key.per_environment != bool(environment):
            raise KeyError(environment)
        self.texts[environment] = f"{environment}:{key.name}" if environment else key.name
        address = self[environment] = Address(key, environment, "", False)
        return address


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


def address_of(text: str, keys: Mapping[str, TableKey[Any]], environments: Collection[str]) -> Address[Any] | None:
    """The address that was written so, None when none of these keys (by name) has such a table in an environment."""
    place = text.removesuffix(_DELETED)
    place, _, owner = place.partition("@")
    environment, _, name = place.rpartition(":")
    key = keys.get(name)
    if key is None or environment not in (environments if key.per_environment else ("",)):
        return None
    if owner and not key.per_owner:
        return None
    address = key.of(environment, owner)
    return address.of_deleted if text.endswith(_DELETED) else address


def table_name(text: str) -> str:
    """The name of the table whose address is written so, whatever its environment and owner."""
    return text.removesuffix(_DELETED).partition("@")[0].rpartition(":")[2]


class Store(dict[Any, Any]):
    """All tables of one world, by the key or address. Writing outside of `change()` raises RuntimeError.

    `store[KEY]` is the table of a key that is there once, `store[KEY.of(...)]` the one at an address; ValueError for
    two keys of one name. It is a dict of those that were asked for: all that happens asks for dozens, and a look-up by
    a method takes five times as long.

    With `known` it has these tables, in these environments, and those around worlds only: documents would not know one
    that nobody listed.
    Whoever listens (`listen`) gets the writes of every change once it is made, in their order; nobody must raise.
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
        # Which table a new address means is decided by its text, once: a snapshot or a document may have filled it
        # before anyone asked for it by its key.
        address = at if isinstance(at, Address) else at.of()
        if self._known is not None:
            if address.key not in self._known and not address.key.around:
                raise ValueError(f"the table {address.key.name!r} is of no room of this simulator")
            if address.environment and address.environment not in self._environments:
                raise ValueError(f"there is no environment {address.environment!r}")
        if self._keys.setdefault(address.key.name, address.key) is not address.key:
            raise ValueError(f"two tables are called {address.key.name!r}")
        table = self[at] = self.written(address.text)
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
        if keep:
            for listener in self.listeners:
                listener(written)

    def listen(self, listener: Listener) -> None:
        """Tell this one of every change from now on."""
        self.listeners = (*self.listeners, listener)

    def stop_listening(self, listener: Listener) -> None:
        """Tell this one no more; nothing where it was never told."""
        self.listeners = tuple(one for one in self.listeners if one != listener)

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

    @property
    def table_count(self) -> int:
        """How many tables were asked for; none is ever taken away."""
        return len(self._tables)

    def table_names(self) -> list[str]:
        """The addresses of all tables that were asked for, in their order."""
        return list(self._tables)

    def forget_places(self) -> None:
        """Let go of what deletions have numbered, where hardly any more are to come; never inside a change."""
        for table in self._tables.values():
            table.forget_places()

    def let_go(self) -> Iterator[Any]:
        """All rows, for whoever lets go of them; indexes go at once, because each makes a cycle with its table."""
        for table in list(self._tables.values()):
            table.forget_indexes()
            yield from list(table.values())

    def replace(self, tables: Mapping[str, dict[str, Any]]) -> None:
        """Put the state of a snapshot in place of this one, sharing its rows."""
        for table in self._tables.values():
            table.fill(NO_ROWS)
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
