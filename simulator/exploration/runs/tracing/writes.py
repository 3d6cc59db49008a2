"""Finds the writes of an application in the tests' process (SQLite transactions, requests, opened files), and its
locks.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from functools import cache, partial
from importlib import import_module
from typing import Any, ClassVar
from unittest.mock import patch

from simulator.exploration.runs.tracing.scenes import IS_SIMULATOR, WORKER, current, own_file, written

_AFTER_OPENING = 3
"""The number of lines after opening a file for writing that count as places, because its writes are not visible."""
_BEFORE_FACTORY = 5
"""The number of parameters of `sqlite3.connect` before its `factory`."""
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


@cache
def begin() -> None:
    """Trace SQLite connections and count locks. The suite is imported later, so `from threading import Lock` works."""
    original = sqlite3.connect

    def connect(*given: Any, **more: Any) -> Any:
        databases = Databases.traced
        return original(*given, **more) if databases is None else databases.connect(original, *given, **more)

    sqlite3.connect = sqlite3.dbapi2.connect = connect
    for name in ("Lock", "RLock"):
        setattr(threading, name, _watching(getattr(threading, name)))


class Databases:
    """The SQLite connections of a run. A write counts for the work that commits it, even if another thread uses the
    same connection at the same time. So the speed of threads does not decide at which lines the application can crash.
    """

    traced: ClassVar[Databases | None] = None
    """The connections of the current run, or None if it is not traced."""

    def __init__(self) -> None:
        self._open: list[sqlite3.Connection] = []
        self._committed: dict[int, int | None] = {}
        self._changed = False
        self.transactions: set[int] = set()
        """The connections that a thread uses outside all pieces of work, while they have open transactions."""

    def connect(self, original: Callable[..., sqlite3.Connection], *given: Any, **more: Any) -> sqlite3.Connection:
        """Connect with the original function of `sqlite3`."""
        before, rest = given[:_BEFORE_FACTORY], given[_BEFORE_FACTORY:]
        whole = rest[0] if rest else more.get("factory", sqlite3.Connection)
        reporting = self._reporting(whole)
        if not rest:
            more["factory"] = reporting
        made = original(*before, *((reporting, *rest[1:]) if rest else ()), **more)
        self._open.append(made)
        return made

    def _reporting(self, whole: type[sqlite3.Connection]) -> type[sqlite3.Connection]:
        """Return a subclass that calls `_report` after every method that can commit, even of its cursors."""

        def cursor(one: Any, factory: type[sqlite3.Cursor] = sqlite3.Cursor) -> sqlite3.Cursor:
            names = ("execute", "executemany", "executescript", "fetchone", "fetchmany", "fetchall", "__next__")
            made: sqlite3.Cursor = whole.cursor(one, _reporting(factory, names, lambda at: self._report(at.connection)))
            return made

        def rollback(one: sqlite3.Connection) -> None:
            whole.rollback(one)
            self._committed[id(one)] = one.total_changes
            self._report(one)

        names = ("execute", "executemany", "executescript", "commit", "close", "__exit__")
        base = _reporting(whole, names, self._report)
        return type(whole.__name__, (base,), {"cursor": cursor, "rollback": rollback})

    def _report(self, one: sqlite3.Connection) -> None:
        """Record that the current work wrote, if this connection has committed changes since the last check."""
        scene = current()
        is_alone = scene is None and threading.current_thread() is not threading.main_thread()
        is_open, changes = _state_of(one)
        if scene is not None or is_alone:
            transactions = self.transactions if scene is None else scene.transactions
            (transactions.add if is_open else transactions.discard)(id(one))
        if not is_open and changes not in (None, self._committed.get(id(one), 0)):
            self._committed[id(one)] = changes
            if scene is not None:
                written()
            if is_alone or (scene is not None and scene.kind == WORKER):
                self._changed = True

    def have_changed(self) -> bool:
        """Return True if, since the last call, a thread of a library or of the application committed changes outside
        any handling of a delivery and any test. The main thread does not count, because it also sets up tests and runs
        the job.
        """
        changed, self._changed = self._changed, False
        return changed

    def roll_back(self) -> None:
        for one in self._open:
            with suppress(sqlite3.Error):  # the connection is closed or belongs to another thread
                if one.in_transaction:
                    one.rollback()


def _state_of(one: sqlite3.Connection) -> tuple[bool, int | None]:
    """Return whether a connection has an open transaction, and its number of changes (None if it is closed)."""
    try:
        return one.in_transaction, one.total_changes
    except sqlite3.ProgrammingError:
        return False, None


def _reporting(whole: type, names: Iterable[str], report: Callable[[Any], None]) -> type:
    """Return a subclass of `whole` in which each method in `names` calls `report(self)` after it returns or fails."""

    def reporting(name: str) -> Callable[..., Any]:
        method = getattr(whole, name)

        def called(self: Any, *given: Any, **more: Any) -> Any:
            try:
                return method(self, *given, **more)
            finally:
                report(self)

        return called

    return type(whole.__name__, (whole,), {name: reporting(name) for name in names})


def _is_pair(one: socket.socket) -> bool:
    """Return True if a socket is one end of a socket pair. Event loops use socket pairs to wake themselves up."""
    try:
        return one.getpeername() in ("", b"")
    except OSError:
        return True  # it is closed, as when a loop has ended, so nothing is sent


def watched_sockets() -> list[AbstractContextManager[object]]:
    """Return patches of the methods of `socket.socket` that send data. The patched methods report each call."""

    def reporting(name: str) -> AbstractContextManager[object]:
        send = getattr(socket.socket, name)

        def sent(self: socket.socket, *given: Any, **more: Any) -> Any:
            if not _is_pair(self):
                written()
                if (scene := current()) is not None:
                    scene.has_sent = True
            return send(self, *given, **more)

        return patch.object(socket.socket, name, sent)

    return [reporting(name) for name in ("send", "sendall")]


class OpenedFiles:
    """Reports files that are opened for writing. All runs share one audit hook, because no hook can be removed."""

    tell: Callable[[], None] = staticmethod(lambda: None)
    written = staticmethod(partial(written, _AFTER_OPENING))

    @classmethod
    @cache
    def begin(cls) -> None:
        sys.addaudithook(cls._hear)

    @classmethod
    def _hear(cls, event: str, given: tuple[object, ...]) -> None:
        writes = event == "open" and isinstance(given[2], int) and given[2] & _WRITING
        if (writes and not str(given[0]).startswith(os.devnull)) or event in ("os.rename", "os.remove", "os.link"):
            cls.tell()


def _watching(make: Callable[[], object]) -> Callable[[], object]:
    def made() -> object:
        lock = make()
        is_own = own_file(sys._getframe(1).f_code) not in ("", IS_SIMULATOR)
        return _Watched(lock) if is_own else lock

    return made


def watched_locks() -> list[AbstractContextManager[object]]:
    """Return patches that count the locks of asyncio and anyio that a piece of work holds."""
    of_anyio = [import_module("anyio._backends._asyncio").Lock] if "anyio" in sys.modules else []
    return [one for kind in (asyncio.Lock, *of_anyio) for one in _patches(kind)]


def _patches(kind: type[asyncio.Lock]) -> Iterator[AbstractContextManager[object]]:
    acquire, release = kind.acquire, kind.release

    async def acquired(self: asyncio.Lock) -> object:
        _count(1)  # at once, because a task that gets the lock can be suspended before this returns
        try:
            return await acquire(self)
        except BaseException:
            _count(-1)
            raise

    def released(self: asyncio.Lock) -> None:
        release(self)
        _count(-1)

    yield patch.object(kind, "acquire", acquired)
    yield patch.object(kind, "release", released)


class _Watched:
    """A lock that counts how often the current piece of work holds it."""

    def __init__(self, lock: Any) -> None:
        self._lock = lock

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lock, name)

    def acquire(self, *given: Any, **more: Any) -> bool:
        got: bool = self._lock.acquire(*given, **more)
        _count(int(got))
        return got

    def release(self) -> None:
        self._lock.release()
        _count(-1)

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


def _count(locks: int) -> None:
    scene = current()
    if scene is not None:
        scene.locks = max(0, scene.locks + locks)  # anyio releases a lock if the task is cancelled while it gets it
