"""The SQLite store: one file for all worlds, and one thread for all operations.

The file is in WAL mode with full synchronisation. A committed batch therefore survives a machine crash, and other
programs can read the file at the same time. A lock (`locking`) excludes a second server.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from errno import EDQUOT, ENOSPC
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias, TypeVar
from zlib import crc32

from simulator.engine.durable import backend
from simulator.engine.durable.backend import Batch, Sizes, StoreDamaged, StoredWorld, StoreError
from simulator.engine.durable.cards import SCHEMA, NewCard, cards_in, put_cards, put_uses, raw_pieces
from simulator.engine.durable.locking import FileLock
from simulator.engine.durable.sqlite_schema import FORMAT, PRAGMAS, TABLES, UPGRADES
from simulator.engine.server.storage import RawPiece, Use
from simulator.version import __version__

_BUSY_SECONDS = 5.0
"""The time for which a write waits if another program, such as a backup, has locked the file."""

_ROWS_AT_ONCE = 1000
"""The maximum number of entries in one statement. SQLite accepts at most 32,766 values, and each entry has four."""

T = TypeVar("T")
_Row: TypeAlias = tuple[str, int, int, bytes]


class SqliteStore(backend.Backend):
    """A SQLite file in which worlds are saved. A missing file is created. A missing directory is an error."""

    is_shared = False

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._path = path
        self._thread: ThreadPoolExecutor | None = None
        self._lock: FileLock | None = None
        self._open: sqlite3.Connection | None = None

    # Backend methods, which run in one thread

    async def open(self) -> None:
        await self._do(self._acquire)

    async def heads(self) -> Sequence[str]:
        return await self._do(lambda: [row[0] for row in self._run("SELECT id FROM worlds ORDER BY place")])

    async def uses(self) -> Mapping[str, Use]:
        query = "SELECT id, used_ms, objects, journal_bytes FROM worlds ORDER BY place"
        return await self._do(lambda: {world: Use(*use) for world, *use in self._run(query)})

    async def load(self, world: str) -> StoredWorld:
        return await self._do(lambda: self._load(world))

    async def cards(self) -> Mapping[str, bytes]:
        """Call `cards.cards_in`."""
        return await self._do(lambda: cards_in(self._connection))

    async def put_cards(self, cards: Mapping[str, NewCard]) -> set[str]:
        """Call `cards.put_cards` in a transaction."""
        return await self._do(lambda: self._in_transaction(lambda: put_cards(self._connection, cards)))

    async def raw(self, world: str) -> Sequence[RawPiece]:
        return await self._do(lambda: self._raw(world))

    async def server(self) -> Mapping[str, bytes]:
        return await self._do(lambda: dict(self._run("SELECT name, value FROM server ORDER BY name")))

    async def commit(self, batch: Batch) -> Sizes:
        return await self._do(lambda: self._commit(batch))

    async def compact(self, world: str, number: int, parts: Callable[[], Iterator[bytes]]) -> int:
        old = await self._do(lambda: self._base_of(world))
        if old is None:
            return 0
        # The base is encoded in another thread and written part by part, so that the store's thread can commit
        # batches in between. Writing a large world in one step would block all others.
        made = await asyncio.to_thread(lambda: list(parts()))
        new = await self._do(partial(self._in_transaction, self._new_base))
        for place, part in enumerate(made):
            await self._do(partial(self._in_transaction, partial(self._put_part, new, place, part)))
        taken = await self._do(lambda: self._in_transaction(lambda: self._take_base(world, old, new, number)))
        return sum(map(len, made)) if taken else 0

    async def close(self) -> None:
        await self._do(self._release)
        if self._thread is not None:
            self._thread.shutdown(wait=False)
            self._thread = None

    async def _do(self, act: Callable[[], T]) -> T:
        def carry_out() -> T:
            with self._errors():
                return act()

        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "store")
        return await asyncio.get_running_loop().run_in_executor(self._thread, carry_out)

    # Opening and closing

    def _acquire(self) -> None:
        self._close()
        if not self._path.parent.is_dir():
            raise StoreError(f"the directory {str(self._path.parent)!r} does not exist; create it first")
        if self._path.is_dir():
            raise StoreError(f"{self.name!r} is a directory; use a file in it")
        if self._lock is None:
            self._lock = FileLock(self._path)
        try:
            self._connect()
        except BaseException:
            self._release()
            raise

    def _connect(self) -> None:
        connection = self._open = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None)
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if tables and "about" not in tables:
            raise StoreDamaged(f"{self.name!r} is the database of another program; use another file")
        written = self._check(connection) if tables else FORMAT
        for pragma in PRAGMAS:
            connection.execute(pragma)
        with self._transaction() as write:
            if not tables:
                for statement in filter(str.strip, TABLES.split(";")):
                    write.execute(statement)
            for step in range(written, FORMAT):
                for statement in UPGRADES[step]:
                    write.execute(statement)
            write.execute(SCHEMA)
            about = {"format": str(FORMAT), "simulator": __version__}
            write.executemany("INSERT OR REPLACE INTO about VALUES (?, ?)", about.items())
            # Delete bases that interrupted compactions have left behind.
            used = "SELECT base FROM worlds UNION SELECT base FROM snapshots"
            write.execute(f"DELETE FROM parts WHERE base NOT IN ({used})")
            write.execute(f"DELETE FROM bases WHERE id NOT IN ({used})")

    def _check(self, connection: sqlite3.Connection) -> int:
        """Return the format number of an existing file, and raise an error if the file is not a usable store. Call this
        before the file is changed.
        """
        about = dict(connection.execute("SELECT name, value FROM about"))
        written, by = about.get("format", ""), about.get("simulator", "an unknown version")
        if not written.isdecimal():
            raise StoreDamaged(f"{self.name!r} has no format number, so it is not a rampsim store; use another file")
        if int(written) > FORMAT:
            raise StoreError(
                f"{self.name!r} was written by a newer rampsim ({by}, format {written}; this is {__version__}, "
                f"format {FORMAT}): use that version, or another file"
            )
        (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if found != "ok":
            raise StoreDamaged(f"{self.name!r} is damaged ({found}): restore a backup, or use another file")
        return int(written)

    def _release(self) -> None:
        self._close()
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _close(self) -> None:
        if self._open is not None:
            with suppress(sqlite3.Error):
                self._open.close()
            self._open = None

    # Reading

    @property
    def _connection(self) -> sqlite3.Connection:
        if self._open is None:
            raise StoreError(f"{self.name!r} is closed")
        return self._open

    def _run(self, statement: str, *values: object) -> sqlite3.Cursor:
        return self._connection.execute(statement, values)

    def _load(self, world: str) -> StoredWorld:
        found = self._run("SELECT number, base, used_ms FROM worlds WHERE id = ?", world).fetchone()
        if found is None:
            raise KeyError(world)
        number, base, used_ms = found
        rows = self._run("SELECT number, crc, content FROM entries WHERE world = ? ORDER BY number", world).fetchall()
        last = number + len(rows)
        if [row[0] for row in rows] != list(range(number + 1, last + 1)):
            raise self._damaged(f"entries of the world {world!r} are missing; restore a backup")
        snapshots = self._run("SELECT base FROM snapshots WHERE world = ? ORDER BY place", world)
        return StoredWorld(
            world,
            last,
            self._parts(base, world),
            [self._whole(crc, content, world) for _, crc, content in rows],
            [self._parts(one, world) for (one,) in snapshots.fetchall()],
            used_ms,
        )

    def _raw(self, world: str) -> list[RawPiece]:
        if (base := self._base_of(world)) is None:
            raise KeyError(world)
        return raw_pieces(self._connection, world, base)

    def _parts(self, base: int, world: str) -> list[bytes]:
        rows = self._run("SELECT crc, content FROM parts WHERE base = ? ORDER BY number", base)
        parts = [self._whole(crc, content, world) for crc, content in rows]
        if not parts:
            raise self._damaged(f"the saved state of the world {world!r} is missing; restore a backup")
        return parts

    def _whole(self, crc: int, content: object, world: str) -> bytes:
        if not isinstance(content, bytes) or crc32(content) != crc:
            why = f"its data for the world {world!r} differs from what was saved; restore a backup, or use another file"
            raise self._damaged(why)
        return content

    def _damaged(self, why: str) -> StoreDamaged:
        return StoreDamaged(f"{self.name!r} is damaged: {why}")

    # Writing

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
            raise

    def _in_transaction(self, act: Callable[[], T]) -> T:
        with self._transaction():
            return act()

    def _commit(self, batch: Batch) -> Sizes:
        """Save all changes in a batch in one transaction."""
        # Nearly every batch contains entries only. It becomes one statement without BEGIN and COMMIT, because this
        # thread waits after each statement for the interpreter lock, which the event loop holds.
        entries = [change for change in batch.changes if isinstance(change, backend.WorldChanged)]
        rows = [(one.world, one.number, crc32(content), content) for one in entries for content in (one.entry(),)]
        sizes = Sizes({}, {world: len(content) for world, _, _, content in rows})
        if not (batch.changes or batch.server or batch.uses):
            return sizes
        if len(rows) == len(batch.changes) <= _ROWS_AT_ONCE and not batch.server and not batch.uses:
            self._put_entries(rows)
            return sizes
        with self._transaction():
            for change in batch.changes:
                self._write(change, sizes)
            for start in range(0, len(rows), _ROWS_AT_ONCE):
                self._put_entries(rows[start : start + _ROWS_AT_ONCE])
            for name, value in batch.server.items():
                self._run("INSERT OR REPLACE INTO server VALUES (?, ?)", name, value)
            put_uses(self._connection, batch.uses)
        return sizes

    def _put_entries(self, rows: Sequence[_Row]) -> None:
        statement = f"INSERT INTO entries VALUES {', '.join(['(?, ?, ?, ?)'] * len(rows))}"
        self._connection.execute(statement, list(chain.from_iterable(rows)))

    def _write(self, change: backend.Change, sizes: Any) -> None:
        match change:
            case backend.WorldChanged():
                pass  # The caller writes all entries together.
            case backend.WorldBegan(world, number, parts):
                old = self._base_of(world)
                base, sizes.bases[world] = self._put_base(parts())
                self._delete_base(old)
                self._run("DELETE FROM entries WHERE world = ?", world)
                put = "INSERT INTO worlds (id, number, base) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE "
                self._run(put + "SET number = excluded.number, base = excluded.base", world, number, base)
            case backend.WorldEnded(world):
                snapshots = self._run("SELECT base FROM snapshots WHERE world = ?", world).fetchall()
                for base in (self._base_of(world), *(base for (base,) in snapshots)):
                    self._delete_base(base)
                for table in ("entries", "snapshots", "cards"):
                    self._run(f"DELETE FROM {table} WHERE world = ?", world)
                self._run("DELETE FROM worlds WHERE id = ?", world)
            case backend.SnapshotSaved(identifier, world, parts):
                base, _ = self._put_base(parts())
                self._run("INSERT INTO snapshots (id, world, base) VALUES (?, ?, ?)", identifier, world, base)
            case backend.SnapshotDeleted(identifier):
                row = self._run("SELECT base FROM snapshots WHERE id = ?", identifier).fetchone()
                self._delete_base(None if row is None else row[0])
                self._run("DELETE FROM snapshots WHERE id = ?", identifier)

    def _base_of(self, world: str) -> int | None:
        row = self._run("SELECT base FROM worlds WHERE id = ?", world).fetchone()
        return None if row is None else row[0]

    def _new_base(self) -> int:
        made = self._run("INSERT INTO bases DEFAULT VALUES").lastrowid
        assert made is not None
        return made

    def _put_base(self, parts: Iterable[bytes]) -> tuple[int, int]:
        base, size = self._new_base(), 0
        for place, part in enumerate(parts):
            self._put_part(base, place, part)
            size += len(part)
        return base, size

    def _put_part(self, base: int, place: int, part: bytes) -> None:
        self._run("INSERT INTO parts VALUES (?, ?, ?, ?)", base, place, crc32(part), part)

    def _delete_base(self, base: int | None) -> None:
        self._run("DELETE FROM parts WHERE base = ?", base)
        self._run("DELETE FROM bases WHERE id = ?", base)

    def _take_base(self, world: str, old: int, new: int, number: int) -> bool:
        """Replace a world's base `old` with `new`, and delete the entries up to `number`.

        If `old` is no longer the world's base, delete `new` and return False.
        """
        asked = "UPDATE worlds SET base = ?, number = ? WHERE id = ? AND base = ?"
        taken = self._run(asked, new, number, world, old).rowcount == 1
        self._delete_base(old if taken else new)
        if taken:
            self._run("DELETE FROM entries WHERE world = ? AND number <= ?", world, number)
        return taken

    # Errors

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._translated(error) from error
        except OSError as error:
            why = error.strerror or str(error)
            is_full = error.errno in (ENOSPC, EDQUOT)
            raise StoreError(self._full(why) if is_full else f"{self.name!r}: {why}") from error

    def _has_no_room(self) -> bool:
        """Return True if the disk has less than 1 MB of free space.

        On a full disk, SQLite may report only "disk I/O error", because it could not extend its shared-memory file.
        """
        with suppress(OSError):
            disk = os.statvfs(self._path.parent)
            return disk.f_bavail * disk.f_frsize < 1024 * 1024
        return False

    def _full(self, why: str) -> str:
        return f"there is no space left for {self.name!r} ({why}): free space on its disk"

    def _translated(self, error: sqlite3.Error) -> StoreError:
        name, why = getattr(error, "sqlite_errorname", "") or "", str(error)
        if name.startswith("SQLITE_FULL") or (name.startswith("SQLITE_IOERR") and self._has_no_room()):
            return StoreError(self._full(why))
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            return StoreError(f"{self.name!r} is locked by another program ({why}); stop that program")
        if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
            return StoreDamaged(
                f"{self.name!r} is damaged or not a store ({why}): restore a backup, or use another file"
            )
        if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
            return StoreError(f"{self.name!r} cannot be written ({why}): give this user write access to it")
        return StoreError(f"{self.name!r} cannot be read or written ({why})")
