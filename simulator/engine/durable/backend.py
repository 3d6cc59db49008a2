"""The protocol of a storage backend, its batches and its errors.

A world is saved as a base, which is its full state at one time, and numbered entries with later changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Protocol, TypeAlias

from simulator.engine.server.storage import RawPiece, Use
from simulator.kernel.dataclass import dataclass


class StoreError(Exception):
    """A store operation failed. The message states what failed, why, and what to do."""


class StoreDamaged(StoreError):
    """The file or database is not a rampsim store, or its content differs from what was written."""


@dataclass(frozen=True)
class WorldBegan:
    """A new world. The world replaces everything that is saved under its id."""

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
    """A world that was deleted. Its snapshots are deleted, too."""

    world: str


@dataclass(frozen=True)
class SnapshotSaved:
    """A new snapshot of a world. The snapshot is saved as a separate base (a full state)."""

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
    """All changes in one turn of the event loop. The changes are saved atomically."""

    changes: Sequence[Change]
    """The changes, in the order in which they must be written."""
    server: Mapping[str, bytes]
    """The new values of the server-wide state, by name."""
    uses: Mapping[str, Use] = field(default_factory=dict)
    """The last-used times to save with this batch, by world."""


@dataclass(frozen=True)
class Sizes:
    """The numbers of bytes that were written for each world in a batch."""

    bases: Mapping[str, int]
    entries: Mapping[str, int]


@dataclass(frozen=True)
class StoredWorld:
    """The saved form of a world: the full state at one time (the base), and an entry for each later change."""

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
    """A database that saves worlds. If a method fails, it writes nothing and raises `StoreError`.

    All methods except `compact` are called from one event loop, one at a time.
    """

    name: str
    """The name of the store in messages."""
    is_shared: bool
    """True if several servers may use the store. Worlds are then read on demand.

    Even a response without writes then needs a batch, which confirms that this server still owns the world.
    """

    async def open(self) -> None:
        """Open the database, and create missing tables. This method can be called again after a failure."""

    async def heads(self) -> Sequence[str]:
        """Return the ids of the worlds to read at startup, oldest first."""

    async def uses(self) -> Mapping[str, Use]:
        """Return the last-used times of all worlds by world id, oldest world first."""

    async def load(self, world: str) -> StoredWorld:
        """Return the saved form of a world. Raise `KeyError` if the world does not exist."""

    async def raw(self, world: str) -> Sequence[RawPiece]:
        """Return the stored bytes of a world, even if they are damaged. Raise `KeyError` for an unknown world."""

    async def server(self) -> Mapping[str, bytes]:
        """Return the saved state that belongs to the server and not to a world: JSON by name."""

    async def commit(self, batch: Batch) -> Sizes:
        """Save all changes in a batch. Once this method has returned, the changes survive a machine crash."""

    async def compact(self, world: str, number: int, parts: Callable[[], Iterator[bytes]]) -> int:
        """Replace the base of a world and its entries up to `number` with a new base, while batches may be committed.

        Return the size of the new base in bytes, or 0 if it is stale, for example because another world has the id.
        """

    async def close(self) -> None:
        """Close the database."""
