"""What keeps writes: the one thing that the keeper needs of a database, and how one fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Protocol, TypeAlias

from simulator.engine.server.storage import RawPiece, Use
from simulator.kernel.dataclass import dataclass


class StoreError(Exception):
    """The store cannot do what it was asked; the message is a sentence for people: what, why, and what to do."""


class StoreLocked(StoreError):
    """Another server works with it."""


class StoreDamaged(StoreError):
    """It is no store of ours, or what stands in it cannot be what was written."""


class StoreNewer(StoreError):
    """A newer version has written it, in a format that this one does not know."""


class StoreFull(StoreError):
    """There is no room for more."""


class StoreFailed(StoreError):
    """Reading or writing failed."""


@dataclass(frozen=True)
class WorldBegan:
    """A world stands in place of whatever was kept under its id. `parts`: its base, made when it is written."""

    world: str
    number: int
    parts: Callable[[], Iterator[bytes]]


@dataclass(frozen=True)
class WorldChanged:
    """A world has written. `number` is that of the entry, one more than that of the one before."""

    world: str
    number: int
    entry: Callable[[], bytes]


@dataclass(frozen=True)
class WorldEnded:
    """A world is no more, nor are its snapshots."""

    world: str


@dataclass(frozen=True)
class SnapshotSaved:
    """A snapshot of a world was taken; it is a base of its own."""

    id: str
    world: str
    parts: Callable[[], Iterator[bytes]]


@dataclass(frozen=True)
class SnapshotDeleted:
    """A snapshot was forgotten, or went with its world."""

    id: str


Change: TypeAlias = "WorldBegan | WorldChanged | WorldEnded | SnapshotSaved | SnapshotDeleted"


@dataclass(frozen=True)
class Batch:
    """All that happened in one turn of the event loop, in an order in which it can be written; all of it or nothing.

    `server`: what belongs to no world, by name. `uses`: when worlds that are kept by then were last used.
    """

    changes: Sequence[Change]
    server: Mapping[str, bytes]
    uses: Mapping[str, Use] = field(default_factory=dict)


@dataclass(frozen=True)
class Sizes:
    """How many bytes a batch has written: as bases and as entries, by world."""

    bases: Mapping[str, int]
    entries: Mapping[str, int]


@dataclass(frozen=True)
class StoredWorld:
    """A world as it is kept: the parts of its base, the entries after it, the number of the last, its snapshots.

    `used_ms`: when it was last used, to the minute.
    """

    world: str
    number: int
    parts: Sequence[bytes]
    entries: Sequence[bytes]
    snapshots: Sequence[Sequence[bytes]]
    used_ms: int


class Backend(Protocol):
    """A database. Its calls come one after another from one event loop, but for those of `compact`.

    Each raises `StoreError`; what a call that failed was to write is not there.
    """

    name: str
    """How messages call it."""
    is_shared: bool
    """Whether others may have it too: then a world is read when it is asked for, and what an answer shows has to be
    asked for as well, by a batch without changes."""

    async def open(self) -> None:
        """Take hold of it, make what it lacks; again after a failure. StoreLocked, StoreDamaged, StoreNewer."""

    async def heads(self) -> Sequence[str]:
        """The ids of the worlds that are kept, oldest first."""

    async def uses(self) -> Mapping[str, Use]:
        """When the worlds that are kept were last used, oldest world first."""

    async def load(self, world: str) -> StoredWorld:
        """What is kept of a world; KeyError."""

    async def raw(self, world: str) -> Sequence[RawPiece]:
        """Return the pieces that are kept of a world, however damaged they are; KeyError."""

    async def server(self) -> Mapping[str, bytes]:
        """What belongs to no world, by name."""

    async def commit(self, batch: Batch) -> Sizes:
        """Keep a batch: when this returns, it outlives the machine."""

    async def compact(self, world: str, number: int, parts: Callable[[], Iterator[bytes]]) -> int:
        """Put a base in place of the one there and of the entries up to a number; returns the bytes of the base.

        Nothing, and 0, where the world began anew meanwhile. Batches may be committed between its steps.
        """

    async def close(self) -> None:
        """Let go of it."""
