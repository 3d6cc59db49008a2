"""The lock that reserves a SQLite file for one server at a time, even if another server uses another path to it."""

from __future__ import annotations

import os
import struct
from contextlib import ExitStack
from errno import EDQUOT, ENOSPC
from pathlib import Path

from simulator.engine.durable.backend import StoreError

try:
    import fcntl
except ImportError:  # Windows does not have this module.
    fcntl = None  # type: ignore[assignment]  # what uses it asks first

_BYTE = 1 << 62
"""The locked byte in the database file.

SQLite locks only bytes near 1 GiB, and no database file is long enough to contain this byte.
"""
_BY_OPEN_FILE: int | None = getattr(fcntl, "F_OFD_SETLK", None)


class FileLock:
    """Two file locks on a SQLite database. Both locks end when this process ends.

    Raise `StoreError` if another server holds one of the locks or a file cannot be opened, and `OSError` if the disk is
    full.

    The first lock is on a file next to the database. This file contains the process id. Symbolic links to the database
    are resolved first, but a hard link would bypass this lock. The second lock is therefore on the database file
    itself. SQLite must not open a file under two names at once, because each name would have its own write-ahead log.
    """

    def __init__(self, path: Path) -> None:
        self._files = ExitStack()
        if fcntl is None:
            raise StoreError(
                "a SQLite store needs file locks that this system does not have: run the server in a container, or "
                "use a PostgreSQL store"
            )
        try:
            self._lock(path)
        except BaseException:
            self.release()
            raise

    def _lock(self, path: Path) -> None:
        real = path.resolve()
        beside = self._open(path, real.with_name(f"{real.name}-lock"))
        try:
            fcntl.flock(beside, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(beside, 20, 0).decode("ascii", "replace").strip() or "unknown"
            raise StoreError(
                f"another rampsim serves {str(path)!r} (process {holder}). Stop it, or use another file"
            ) from None
        database = self._open(path, real)
        try:
            # A lock on the open file description does not end when another descriptor is closed.
            if _BY_OPEN_FILE is not None:
                fcntl.fcntl(database, _BY_OPEN_FILE, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, _BYTE, 1, 0))
            else:
                fcntl.lockf(database, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _BYTE, os.SEEK_SET)
        except OSError:
            raise StoreError(
                f"another rampsim serves {str(path)!r} under another name (a hard link). Stop it, or use another file"
            ) from None
        os.ftruncate(beside, 0)
        os.pwrite(beside, f"{os.getpid()}\n".encode(), 0)

    def _open(self, named: Path, path: Path) -> int:
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            if error.errno in (ENOSPC, EDQUOT):
                raise
            raise StoreError(
                f"{str(named)!r} cannot be written ({error.strerror}): give this user write access to it"
            ) from None
        self._files.callback(os.close, file)
        return file

    def release(self) -> None:
        """Release both locks. Close the database first: closing any descriptor of a file ends all its locks."""
        self._files.close()
