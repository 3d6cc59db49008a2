"""The PostgreSQL store, which several replicas share. Each replica has two connections: an owning and a reading
connection.

The owning connection holds a session-level advisory lock for each world that the replica serves. All commits are sent
over this connection, and each commit contains the epoch that its world got with the lock. PostgreSQL closes a
connection that is silent for `lease_seconds`. A replica that is paused or cut off therefore loses its worlds after that
time. After the connection has ended, `open` connects again. The replica then owns no worlds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from importlib import resources
from typing import Any, Literal

from simulator.engine.durable import backend
from simulator.engine.durable.backend import Batch, Sizes, StoreDamaged, StoreError, WorldChanged
from simulator.engine.durable.shared.reader import LOCKS, UNLESS_HELD, Reader
from simulator.engine.durable.shared.session import LEASE_SECONDS, Connection, OwnershipLost, OwningSession, translated
from simulator.kernel.dataclass import dataclass
from simulator.version import __version__

FORMAT = 2
"""Incremented when a simulator version cannot read the database of an older version, or vice versa."""

_UPGRADES = {
    1: """
ALTER TABLE worlds ADD COLUMN used_ms bigint NOT NULL DEFAULT 0, ADD COLUMN objects integer NOT NULL DEFAULT 0,
    ADD COLUMN journal_bytes bigint NOT NULL DEFAULT 0;
UPDATE worlds SET used_ms = extract(epoch FROM now()) * 1000;
"""
}
"""Statements that upgrade the database from each format to the next format."""
_OLDEST_SERVER = 14


@dataclass(frozen=True)
class Claim:
    """The result of an attempt to become the owner of a world."""

    outcome: Literal["granted", "denied", "absent"]
    epoch: int = 0
    owner: str | None = None
    """The address of the current owner."""
    is_there: bool = False
    """True if a saved state of the world exists."""
    is_here: bool = False
    """True if this replica already owned the world."""


class PostgresStore(Reader, backend.Backend):
    """A PostgreSQL store, as used by one replica. `address` is where other replicas reach this replica."""

    name = "PostgreSQL"
    is_shared = True

    def __init__(self, url: str, address: str, *, lease_seconds: float = LEASE_SECONDS) -> None:
        self.lost: Callable[[], None] = lambda: None
        """Called if the owning connection ends unexpectedly."""
        self.credentials: Callable[[], Sequence[tuple[str, str]]] = lambda: ()
        """Returns the keys and tokens that were added since the last call, with their worlds."""
        self.wake_at_ms: Callable[[str], int | None] = lambda world: None
        """Returns the wall-clock time at which the world's next timer is due, or None."""
        super().__init__(url, address, lease_seconds)
        self.secret = b""
        """The secret that all replicas of this database share. It is set once the store is open."""
        self._epochs: dict[str, int] = {}
        self._session = OwningSession(url, lease_seconds, self._ended)

    # Opening and closing

    async def open(self) -> None:
        await self.close()
        with translated():
            await self._session.open()
        try:
            async with self._session.use() as connection:
                await self._look_at(connection)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Close the connections, which releases all locks."""
        self._epochs.clear()
        await self._session.close()
        await self.close_reading()

    def _ended(self) -> None:
        self._epochs.clear()
        self.lost()

    async def _look_at(self, connection: Connection) -> None:
        if connection.get_server_version().major < _OLDEST_SERVER:
            found = connection.get_server_version().major
            raise StoreError(f"PostgreSQL {_OLDEST_SERVER} or newer is required; this server is version {found}")
        if await connection.fetchval("SELECT current_setting('synchronous_commit')") in ("off", "local"):
            await connection.execute("SET synchronous_commit = on")  # A response must survive a crash.
        async with connection.transaction():
            await connection.execute("SELECT pg_advisory_xact_lock($1, 0)", LOCKS)
            if not await connection.fetchval("SELECT 1 FROM pg_namespace WHERE nspname = 'rampsim'"):
                schema = resources.files("simulator.engine.durable.shared").joinpath("schema.sql").read_text("utf-8")
                await connection.execute(f"CREATE SCHEMA rampsim;\n{schema}")
                about = [("format", str(FORMAT)), ("simulator", __version__)]
                await connection.executemany("INSERT INTO about VALUES ($1, $2)", about)
            await self._upgrade(connection)
            await connection.execute(_DRAW_SECRET)
            self.secret = (await connection.fetchval("SELECT value FROM about WHERE name = 'secret'")).encode()

    async def _upgrade(self, connection: Connection) -> None:
        """Upgrade the database of an older version. Raise `StoreError` if the format is not supported."""
        if await connection.fetchval("SELECT to_regclass('rampsim.about')") is None:
            raise StoreDamaged("the database has a schema `rampsim` that another program created; use another database")
        about = dict(await connection.fetch("SELECT name, value FROM about"))
        written = int(about["format"])
        if written > FORMAT:
            raise StoreError(
                f"the database was written by a newer rampsim ({about['simulator']}, format {about['format']}; this is "
                f"{__version__}, format {FORMAT}): use that version, or another database"
            )
        for step in range(written, FORMAT):
            await connection.execute(_UPGRADES[step])
        if written < FORMAT:
            await connection.execute("UPDATE about SET value = $1 WHERE name = 'format'", str(FORMAT))

    # Ownership

    async def claim(self, world: str, *, creates: bool) -> Claim:
        """Try to become the owner of a world. If `creates` is True and the world does not exist, create it first."""
        async with self._session.use() as connection:
            # `_write` has already locked a world whose id was generated. PostgreSQL counts locks: a lock that is
            # taken twice remains after one release.
            if world in self._epochs:
                return Claim("granted", self._epochs[world], is_there=True, is_here=True)
            row = await connection.fetchrow("SELECT * FROM claim($1, $2, $3)", world, creates, self.address)
        assert row is not None
        claim = Claim(row["outcome"], row["epoch"] or 0, row["owner"], bool(row["is_there"]))
        if claim.outcome == "granted":
            self._epochs[world] = claim.epoch
        return claim

    async def release(self, world: str) -> None:
        """Release this replica's lock for a world."""
        epoch = self._epochs.pop(world, 0)
        async with self._session.use() as connection:
            await connection.execute("SELECT release($1, $2)", world, epoch)

    async def try_turn(self, name: str) -> bool:
        """Try to take the lock with this name, which this replica must not hold. Return True if this succeeds."""
        async with self._session.use() as connection:
            taken: bool = await connection.fetchval(f"SELECT pg_try_advisory_lock({_TURN})", TURNS, name)
        return taken

    async def end_turn(self, name: str) -> None:
        """Release a lock that was taken with `try_turn`."""
        async with self._session.use() as connection:
            await connection.execute(f"SELECT pg_advisory_unlock({_TURN})", TURNS, name)

    async def heads(self) -> Sequence[str]:
        return ()  # Replicas read worlds on demand instead of at startup.

    # Writing

    async def commit(self, batch: Batch) -> Sizes:
        """Save a batch in one transaction. Raise `OwnershipLost` if the batch was not saved or if the result is
        unknown.

        A batch without changes confirms that this replica still owns its worlds.
        """
        credentials = self.credentials()
        bases: dict[str, int] = {}
        entries = [change for change in batch.changes if isinstance(change, WorldChanged)]
        others = [change for change in batch.changes if not isinstance(change, WorldChanged)]

        def encode() -> list[bytes]:
            return [change.entry() for change in entries]

        contents = await asyncio.to_thread(encode) if len(entries) > 8 else encode()
        async with self._session.use() as connection:
            if others or batch.server or batch.uses or credentials:
                async with connection.transaction():
                    for change in others:
                        await self._write(connection, change, bases)
                    await connection.executemany(_PUT_SERVER, list(batch.server.items()))
                    await connection.executemany(_PUT_CREDENTIAL, list(credentials))
                    uses = [
                        (world, self._epochs.get(world, 0), use.used_ms, use.objects, use.journal_bytes)
                        for world, use in batch.uses.items()
                    ]
                    await connection.executemany(_PUT_USE, uses)
                    session = await self._append(connection, entries, contents)
            else:
                session = await self._append(connection, entries, contents)
            self._session.compare(session)
        return Sizes(bases, {change.world: len(content) for change, content in zip(entries, contents, strict=True)})

    async def _append(
        self, connection: Connection, entries: Sequence[WorldChanged], contents: Sequence[bytes]
    ) -> str | None:
        worlds = [change.world for change in entries]
        epochs = [self._epochs.get(world, 0) for world in worlds]
        numbers = [change.number for change in entries]
        session: str | None = await connection.fetchval(
            "SELECT append($1, $2, $3, $4, $5)", worlds, epochs, numbers, contents, [*map(self._wakes_at, worlds)]
        )
        return session

    def _wakes_at(self, world: str) -> datetime | None:
        moment = self.wake_at_ms(world)
        return None if moment is None else datetime.fromtimestamp(moment / 1000, UTC)

    async def _write(self, connection: Connection, change: backend.Change, bases: Any) -> None:
        match change:
            case backend.WorldBegan(world, number, parts):
                if world not in self._epochs:  # The id of the world was generated.
                    row = await connection.fetchrow("SELECT * FROM claim($1, true, $2)", world, self.address)
                    if row is None or row["outcome"] != "granted":
                        raise OwnershipLost(f"another replica has created the world {world!r}")
                    self._epochs[world] = row["epoch"]
                await self._delete_base(connection, world)
                base, bases[world] = await self._put_base(connection, parts())
                await self._set(connection, world, base, number)
            case backend.WorldEnded(world):
                await self._delete_base(connection, world)
                await connection.execute(_DELETE_SNAPSHOTS.format("world"), world)
                await connection.execute("DELETE FROM credentials WHERE world = $1", world)
                await self._set(connection, world, None, 0)
            case backend.SnapshotSaved(identifier, world, parts):
                base, _ = await self._put_base(connection, parts())
                put = "INSERT INTO snapshots (id, world, base) VALUES ($1, $2, $3)"
                await connection.execute(put, identifier, world, base)
            case backend.SnapshotDeleted(identifier):
                await connection.execute(_DELETE_SNAPSHOTS.format("id"), identifier)

    async def _set(self, connection: Connection, world: str, base: int | None, number: int) -> None:
        asked = "UPDATE worlds SET base = $3, number = $4, wake_at = $5 WHERE id = $1 AND epoch = $2"
        wakes = None if base is None else self._wakes_at(world)
        if await connection.execute(asked, world, self._epochs.get(world, 0), base, number, wakes) != "UPDATE 1":
            raise OwnershipLost(f"another replica owns the world {world!r}")

    async def _delete_base(self, connection: Connection, world: str) -> None:
        await connection.execute("DELETE FROM parts USING worlds WHERE id = $1 AND parts.base = worlds.base", world)
        await connection.execute("DELETE FROM entries WHERE world = $1", world)

    async def _put_base(self, connection: Connection, parts: Iterable[bytes]) -> tuple[int, int]:
        base: int = await connection.fetchval("SELECT nextval('bases')")
        size = 0
        for number, part in enumerate(parts):
            await connection.execute("INSERT INTO parts VALUES ($1, $2, $3)", base, number, part)
            size += len(part)
        return base, size

    async def compact(self, world: str, number: int, parts: Callable[[], Iterator[bytes]]) -> int:
        epoch = self._epochs.get(world, 0)
        made = await asyncio.to_thread(lambda: list(parts()))
        async with self._session.use() as connection, connection.transaction():
            old = await connection.fetchval(
                "SELECT base FROM worlds WHERE id = $1 AND epoch = $2 AND number >= $3 FOR UPDATE", world, epoch, number
            )
            if old is None or not await connection.fetchval(
                "SELECT 1 FROM entries WHERE world = $1 AND number = $2", world, number
            ):
                return 0
            base, size = await self._put_base(connection, made)
            await connection.execute("UPDATE worlds SET base = $2 WHERE id = $1", world, base)
            await connection.execute("DELETE FROM parts WHERE base = $1", old)
            await connection.execute("DELETE FROM entries WHERE world = $1 AND number <= $2", world, number)
        return size


TURNS = LOCKS + 1
"""The class of the advisory locks that `try_turn` takes."""
_TURN = "$1, hashtext($2)"
_DRAW_SECRET = """
INSERT INTO about VALUES ('secret', gen_random_uuid()::text || gen_random_uuid()::text) ON CONFLICT DO NOTHING
"""
_DELETE_SNAPSHOTS = """
WITH gone AS (DELETE FROM snapshots WHERE {} = $1 RETURNING base)
DELETE FROM parts USING gone WHERE parts.base = gone.base
"""
_PUT_SERVER = """
INSERT INTO server VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = CASE
    WHEN server.name = 'tokens_issued'
    THEN convert_to(
        greatest(convert_from(server.value, 'UTF8')::bigint, convert_from(excluded.value, 'UTF8')::bigint)::text, 'UTF8'
    )
    ELSE excluded.value END
"""
"""Saves server state. The number of issued tokens never decreases, no matter which replica writes it."""
_PUT_USE = "UPDATE worlds SET used_ms = $3, objects = $4, journal_bytes = $5 WHERE id = $1 AND epoch = $2"
_PUT_CREDENTIAL = f"INSERT INTO credentials VALUES ($1, $2) {UNLESS_HELD}"
"""Saves a key or token. A key belongs to the first world that gets it, as long as that world exists.

Importing a document with the same key into another world does not change this.
"""
