"""The protocol of a database that saves worlds, its batches and its errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Protocol, TypeAlias

from simulator.engine.server.storage import RawPiece, Use
from simulator.kernel.dataclass import dataclass


class StoreError(Exception):
    """An operation of the store failed. The message is for people: what failed, why, and what to do."""


class StoreLocked(StoreError):
    """Another server uses the store."""


class StoreDamaged(StoreError):
    """The store is not one of rampsim, or its content is not what was written."""


class StoreNewer(StoreError):
    """A newer version has written the store, in a format that this one does not know."""


class StoreFull(StoreError):
    """The disk is full."""


class StoreFailed(StoreError):
    """Reading or writing failed."""


@dataclass(frozen=True)
class WorldBegan:
    """A world that replaces everything saved under its id."""

    world: str
    number: int
    parts: Callable[[], Iterator[bytes]]
    """Returns the parts of its base. They are encoded when they are written."""


@dataclass(frozen=True)
class WorldChanged:
    """The writes of a world in one turn of the event loop."""

    world: str
    number: int
    """The number of the entry, one more than the last."""
    entry: Callable[[], bytes]


@dataclass(frozen=True)
class WorldEnded:
    """A world that was deleted, with its snapshots."""

    world: str


@dataclass(frozen=True)
class SnapshotSaved:
    """A new snapshot of a world, as a base of its own."""

    id: str
    world: str
    parts: Callable[[], Iterator[bytes]]


@dataclass(frozen=True)
class SnapshotDeleted:
    """A snapshot that was deleted, alone or with its world."""

    id: str


Change: TypeAlias = "WorldBegan | WorldChanged | WorldEnded | SnapshotSaved | SnapshotDeleted"


@dataclass(frozen=True)
class Batch:
    """All changes of one turn of the event loop, which are saved atomically."""

    changes: Sequence[Change]
    """The changes in an order in which they can be written."""
    server: Mapping[str, bytes]
    """State that belongs to no world, by name."""
    uses: Mapping[str, Use] = field(default_factory=dict)
    """The last uses of worlds that are saved after this batch."""


@dataclass(frozen=True)
class Sizes:
    """The number of bytes that a batch has written, by world."""

    bases: Mapping[str, int]
    entries: Mapping[str, int]


@dataclass(frozen=True)
class StoredWorld:
    """A world as it is saved."""

    world: str
    number: int
    """The number of the last entry."""
    parts: Sequence[bytes]
    """The parts of the base."""
    entries: Sequence[bytes]
    """The entries after the base."""
    snapshots: Sequence[Sequence[bytes]]
    used_ms: int
    """The time of the last use, to the minute."""


class Backend(Protocol):
    """A database. Its methods are called one after another from one event loop, except `compact`.

    Each raises `StoreError`. A method that failed has written nothing.
    """

    name: str
    """The name in messages."""
    is_shared: bool
    """True if several servers may use it. Then a world is read on demand. A response that only reads needs a batch
    without changes, which confirms that this server still owns the world.
    """

    async def open(self) -> None:
        """Open the database, and create what it lacks; also after a failure. StoreLocked, StoreDamaged, StoreNewer."""

    async def heads(self) -> Sequence[str]:
        """Return the ids of the worlds to read at the start, oldest first."""

    async def uses(self) -> Mapping[str, Use]:
        """Return the last uses of all worlds, oldest world first."""

    async def load(self, world: str) -> StoredWorld:
        """Return a world. Raise KeyError if there is none."""

    async def raw(self, world: str) -> Sequence[RawPiece]:
        """Return the saved pieces of a world, even damaged ones. Raise KeyError if there are none."""

    async def server(self) -> Mapping[str, bytes]:
        """Return the state that belongs to no world, by name."""

    async def commit(self, batch: Batch) -> Sizes:
        """Save a batch. When this returns, the batch survives a crash of the machine."""

    async def compact(self, world: str, number: int, parts: Callable[[], Iterator[bytes]]) -> int:
        """Replace the base and the entries up to a number with a new base, and return the size of that.

        Do nothing and return 0 if the world was replaced meanwhile. Batches may be committed between its steps.
        """

    async def close(self) -> None:
        """Close the database."""
