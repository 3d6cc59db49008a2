"""The protocol of a storage backend, its batches and its errors.

A world is saved as a base and entries. The base is the full state of the world at one time. Each numbered entry
contains later changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Protocol, TypeAlias

from simulator.engine.server.storage import RawPiece, Use
from simulator.kernel.dataclass import dataclass


class StoreError(Exception):
    """A store operation failed. The message states what failed, why, and what to do."""


class StoreLocked(StoreError):
    """The store is in use by another server."""


class StoreDamaged(StoreError):
    """The file or database is not a rampsim store, or its content differs from what was written."""


class StoreNewer(StoreError):
    """The store was written by a newer version, and this version does not support its format."""


class StoreFull(StoreError):
    """The disk is full."""


class StoreFailed(StoreError):
    """Reading or writing failed."""


@dataclass(frozen=True)
class WorldBegan:
    """A new world. It replaces everything that is saved under its id."""

    world: str
    number: int
    parts: Callable[[], Iterator[bytes]]
    """Returns the parts of the base, which is the full state of the world. Each part is encoded when it is written."""


@dataclass(frozen=True)
class WorldChanged:
    """The writes to a world in one turn of the event loop."""

    world: str
    number: int
    """The number under which these writes are saved: the world's previous number plus one."""
    entry: Callable[[], bytes]


@dataclass(frozen=True)
class WorldEnded:
    """A world that was deleted together with its snapshots."""

    world: str


@dataclass(frozen=True)
class SnapshotSaved:
    """A new snapshot of a world. It is saved as a separate base (a full state)."""

    id: str
    world: str
    parts: Callable[[], Iterator[bytes]]


@dataclass(frozen=True)
class SnapshotDeleted:
    """A snapshot that was deleted, alone or together with its world."""

    id: str


Change: TypeAlias = "WorldBegan | WorldChanged | WorldEnded | SnapshotSaved | SnapshotDeleted"


@dataclass(frozen=True)
class Batch:
    """All changes in one turn of the event loop. They are saved atomically."""

    changes: Sequence[Change]
    """The changes, in the order in which they must be written."""
    server: Mapping[str, bytes]
    """The new values of the server-wide state, by name."""
    uses: Mapping[str, Use] = field(default_factory=dict)
    """The last-used times to save with this batch, by world."""


@dataclass(frozen=True)
class Sizes:
    """The number of bytes written for a batch, by world."""

    bases: Mapping[str, int]
    entries: Mapping[str, int]


@dataclass(frozen=True)
class StoredWorld:
    """The saved form of a world: a base, which is a full state, and entries with later changes."""

    world: str
    number: int
    """The number of the latest entry."""
    parts: Sequence[bytes]
    """The parts of the base."""
    entries: Sequence[bytes]
    """The entries after the base."""
    snapshots: Sequence[Sequence[bytes]]
    used_ms: int
    """The last-used time, to the minute."""


class Backend(Protocol):
    """A database that saves worlds.

    All methods except `compact` are called from one event loop, one at a time. A method that fails raises `StoreError`
    and has written nothing.
    """

    name: str
    """The name of the store in messages."""
    is_shared: bool
    """True if several servers may use the store.

    Worlds are then read on demand. Even a response without writes needs a batch, which may be empty. The batch confirms
    that this server still owns the world.
    """

    async def open(self) -> None:
        """Open the database, and create missing tables.

        This method can be called again after a failure. Raise `StoreLocked`, `StoreDamaged` or `StoreNewer` if the
        database cannot be used.
        """

    async def heads(self) -> Sequence[str]:
        """Return the ids of the worlds to read at startup, oldest first."""

    async def uses(self) -> Mapping[str, Use]:
        """Return the last-used times of all worlds, oldest world first."""

    async def load(self, world: str) -> StoredWorld:
        """Return a world. Raise `KeyError` if it does not exist."""

    async def raw(self, world: str) -> Sequence[RawPiece]:
        """Return the stored bytes of a world, even if they are damaged. Raise `KeyError` if there are none."""

    async def server(self) -> Mapping[str, bytes]:
        """Return the server-wide state as a dictionary keyed by name."""

    async def commit(self, batch: Batch) -> Sizes:
        """Save a batch. When this method returns, the batch survives a machine crash."""

    async def compact(self, world: str, number: int, parts: Callable[[], Iterator[bytes]]) -> int:
        """Replace the base (full state) of a world, and its entries (changes) up to a number, with a new base.

        Return the size of the new base. If the world was replaced in the meantime, do nothing and return 0. Other
        batches may be committed while this method runs.
        """

    async def close(self) -> None:
        """Close the database."""
