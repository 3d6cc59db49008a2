"""Reads worlds in PostgreSQL over a read-only connection, including worlds that other replicas own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from simulator.engine.durable.backend import StoreDamaged, StoredWorld
from simulator.engine.durable.shared.session import Connection, connect, translated
from simulator.engine.server.storage import RawPiece, Use
from simulator.kernel.dataclass import dataclass

LOCKS = 1918987632
"""The class of the advisory locks on worlds: the ASCII bytes of `ramp` as a number. schema.sql uses the same number."""


@dataclass(frozen=True)
class Reserved:
    """The result of reserving public keys or tokens for a world."""

    new: Sequence[str]
    """The keys that did not belong to any world before."""
    holder: str | None
    """Another world that one of the keys belongs to, or None."""


class Reader:
    """The reading connection of a replica. `address` is where other replicas reach this replica."""

    def __init__(self, url: str, address: str, lease_seconds: float) -> None:
        self.address = address
        self._url, self._lease_seconds = url, lease_seconds
        self._reading: Connection | None = None
        self._reading_turn = asyncio.Lock()

    async def close_reading(self) -> None:
        """Close the connection. The next query opens a new one."""
        reading, self._reading = self._reading, None
        if reading is not None:
            with suppress(Exception):
                await reading.close(timeout=1)

    @asynccontextmanager
    async def _read(self) -> AsyncIterator[Connection]:
        async with self._reading_turn:
            with translated():
                if self._reading is None or self._reading.is_closed():
                    self._reading = await connect(self._url, self._lease_seconds)
                connection = self._reading
                try:
                    yield connection
                except BaseException:  # A cancelled query may still be in progress.
                    connection.terminate()
                    raise

    async def _value(self, query: str, *values: object) -> Any:
        async with self._read() as connection:
            return await connection.fetchval(query, *values)

    async def all_worlds(self) -> Sequence[tuple[str, bool]]:
        """Return the id of each world, and True if a replica owns the world now. The oldest world is first."""
        query = f"SELECT id, {_IS_LOCKED} AS is_owned FROM worlds WHERE base IS NOT NULL ORDER BY place"
        async with self._read() as connection:
            return [(row["id"], row["is_owned"]) for row in await connection.fetch(query, LOCKS)]

    async def uses(self) -> Mapping[str, Use]:
        query = "SELECT id, used_ms, objects, journal_bytes FROM worlds WHERE base IS NOT NULL ORDER BY place"
        async with self._read() as connection:
            return {world: Use(*use) for world, *use in await connection.fetch(query)}

    async def world_of(self, credential: str) -> str | None:
        """Return the id of the world that a key or token belongs to, or None if the key or token is unknown."""
        if "\0" in credential:  # PostgreSQL cannot store such strings and raises an error.
            return None
        found: str | None = await self._value("SELECT world FROM credentials WHERE credential = $1", credential)
        return found

    async def owns(self, address: str, world: str) -> bool:
        """Return True if the replica at an address owns the world."""
        query = f"SELECT EXISTS (SELECT FROM worlds WHERE id = $2 AND owner = $3 AND {_IS_LOCKED})"
        return bool(await self._value(query, LOCKS, world, address))

    async def is_owned(self, world: str) -> bool:
        """Return True if any replica owns the world."""
        query = f"SELECT EXISTS (SELECT FROM worlds WHERE id = $2 AND {_IS_LOCKED})"
        return bool(await self._value(query, LOCKS, world))

    async def other_owner(self, world: str) -> str | None:
        """Return the address of the owner of a world, or of another replica that owns any world, or None."""
        query = f"SELECT owner FROM worlds WHERE owner <> $2 AND {_IS_LOCKED} ORDER BY id = $3 DESC, place LIMIT 1"
        found: str | None = await self._value(query, LOCKS, self.address, world)
        return found

    async def owns_any(self, address: str) -> bool:
        """Return True if the replica at an address owns any world."""
        query = f"SELECT EXISTS (SELECT FROM worlds WHERE owner = $2 AND {_IS_LOCKED})"
        return bool(await self._value(query, LOCKS, address))

    async def reserve(self, keys: Sequence[str], world: str) -> Reserved:
        """Reserve keys for a world, unless one of them belongs to another world."""
        async with self._read() as connection, connection.transaction():
            new = await connection.fetch(_RESERVE, sorted(keys), world)
            holder: str | None = await connection.fetchval(
                "SELECT world FROM credentials WHERE credential = ANY($1) AND world <> $2 LIMIT 1", keys, world
            )
            reserved = Reserved([row["credential"] for row in new], holder)
            if holder is not None:
                await connection.execute(_GIVE_BACK, reserved.new, world)
        return reserved

    async def give_back(self, keys: Sequence[str], world: str) -> None:
        """Release reserved keys that were not assigned to the world."""
        async with self._read() as connection:
            await connection.execute(_GIVE_BACK, keys, world)

    async def snapshot_world(self, snapshot: str) -> str | None:
        """Return the id of the world that a snapshot belongs to, or None if there is no such snapshot."""
        if "\0" in snapshot:
            return None
        found: str | None = await self._value("SELECT world FROM snapshots WHERE id = $1", snapshot)
        return found

    async def due(self) -> Sequence[str]:
        """Return the ids of worlds that have a due timer and no owner."""
        async with self._read() as connection:
            query = f"SELECT id FROM worlds WHERE wake_at <= now() AND NOT {_IS_LOCKED} ORDER BY wake_at LIMIT 20"
            return [row["id"] for row in await connection.fetch(query, LOCKS)]

    async def load(self, world: str) -> StoredWorld:
        stored = await self._stored(world)
        if stored is None:  # An error inside `_read` would close the connection, and become an `OwnershipLost`.
            raise KeyError(world)
        return stored

    async def _stored(self, world: str) -> StoredWorld | None:
        async with self._read() as connection, connection.transaction(isolation="repeatable_read", readonly=True):
            row = await connection.fetchrow("SELECT number, base, used_ms FROM worlds WHERE id = $1", world)
            if row is None or row["base"] is None:
                return None
            entries = await connection.fetch("SELECT number, content FROM entries WHERE world = $1 ORDER BY 1", world)
            number, first = row["number"], row["number"] - len(entries) + 1
            if [entry["number"] for entry in entries] != list(range(first, number + 1)):
                raise StoreDamaged(
                    f"the database is damaged: entries of the world {world!r} are missing; restore a backup"
                )
            snapshots = await connection.fetch("SELECT base FROM snapshots WHERE world = $1 ORDER BY place", world)
            bases = [await self._parts(connection, base) for base in (row["base"], *(one["base"] for one in snapshots))]
        if not all(bases):
            raise StoreDamaged(
                f"the database is damaged: a saved state of the world {world!r} is missing; restore a backup"
            )
        contents = [entry["content"] for entry in entries]
        return StoredWorld(world, number, bases[0], contents, bases[1:], row["used_ms"])

    async def raw(self, world: str) -> Sequence[RawPiece]:
        async with self._read() as connection, connection.transaction(isolation="repeatable_read", readonly=True):
            base = await connection.fetchval("SELECT base FROM worlds WHERE id = $1", world)
            entries = await connection.fetch("SELECT number, content FROM entries WHERE world = $1 ORDER BY 1", world)
            snapshots = await connection.fetch("SELECT id, base FROM snapshots WHERE world = $1 ORDER BY place", world)
            bases = [("base", base), *((f"snapshot {row['id']}", row["base"]) for row in snapshots)]
            pieces = [
                RawPiece(part, number, content, True)
                for part, one in bases
                for number, content in enumerate(await self._parts(connection, one))
            ]
        if base is None:
            raise KeyError(world)
        return [*pieces, *(RawPiece("entry", row["number"], row["content"], True) for row in entries)]

    async def _parts(self, connection: Connection, base: int) -> Sequence[bytes]:
        rows = await connection.fetch("SELECT content FROM parts WHERE base = $1 ORDER BY number", base)
        return [row["content"] for row in rows]

    async def server(self) -> Mapping[str, bytes]:
        async with self._read() as connection:
            return {row["name"]: row["value"] for row in await connection.fetch("SELECT name, value FROM server")}


_IS_LOCKED = """EXISTS (
    SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = $1 AND objid = place::oid AND granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
)"""
"""An SQL condition: a session holds the lock for a world."""
UNLESS_HELD = """
ON CONFLICT (credential) DO UPDATE SET world = excluded.world
    WHERE NOT EXISTS (SELECT FROM worlds WHERE id = credentials.world AND base IS NOT NULL)
"""
_RESERVE = f"INSERT INTO credentials SELECT unnest($1::text[]), $2 {UNLESS_HELD} RETURNING credential"
_GIVE_BACK = "DELETE FROM credentials WHERE credential = ANY($1) AND world = $2"
