"""Finds the writes of an application in the tests' process: committed SQLite transactions, requests and opened files.

Each write is reported to the piece of work that makes it.
"""

from __future__ import annotations

import os
import socket
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, suppress
from functools import cache, partial
from typing import Any, ClassVar
from unittest.mock import patch

from simulator.exploration.runs.tracing.scenes import WORKER, current, written

_AFTER_OPENING = 3
"""The number of lines after opening a file for writing that count as places, because its writes are not visible."""
_BEFORE_FACTORY = 5
"""The number of parameters of `sqlite3.connect` before its `factory`."""
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


@cache
def begin() -> None:
    """Replace the function that connects to SQLite, so that connections are traced. Called before the suite is
    imported, so that this also applies to `from sqlite3 import connect`.
    """
    original = sqlite3.connect

    def connect(*given: Any, **more: Any) -> Any:
        databases = Databases.traced
        return original(*given, **more) if databases is None else databases.connect(original, *given, **more)

    sqlite3.connect = sqlite3.dbapi2.connect = connect


class Databases:
    """The SQLite connections of a run.

    A write counts for the work (the handling of a delivery, or the test function) that commits it, even if another
    thread uses the same connection at the same time. So the speed of threads does not decide at which lines the
    application can crash.
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
        if len(given) > _BEFORE_FACTORY:
            before, whole, after = given[:_BEFORE_FACTORY], given[_BEFORE_FACTORY], given[_BEFORE_FACTORY + 1 :]
            given = (*before, self._reporting(whole), *after)
        else:
            more["factory"] = self._reporting(more.get("factory", sqlite3.Connection))
        made = original(*given, **more)
        self._open.append(made)
        return made

    def _reporting(self, whole: type[sqlite3.Connection]) -> type[sqlite3.Connection]:
        return _reporting_connection(whole, self._report, self._undo)

    def _undo(self, one: sqlite3.Connection) -> None:
        """Record that the uncommitted changes of a connection have been rolled back."""
        self._committed[id(one)] = one.total_changes
        self._report(one)

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
        """Return True if, since the last call of this method, a thread committed changes outside any handling of a
        delivery and any test.

        Database libraries use such threads, and so do workers of the application. The main thread does not count,
        because it also sets up tests and runs the integrator's job.
        """
        changed, self._changed = self._changed, False
        return changed

    def roll_back(self) -> None:
        for one in self._open:
            with suppress(sqlite3.Error):  # the connection is closed or belongs to another thread
                if one.in_transaction:
                    one.rollback()


def _state_of(one: sqlite3.Connection) -> tuple[bool, int | None]:
    """Return whether a connection has an open transaction, and its number of changes. A closed connection has neither
    (None).
    """
    try:
        return one.in_transaction, one.total_changes
    except sqlite3.ProgrammingError:
        return False, None


def _reporting_connection(
    whole: type[sqlite3.Connection],
    report: Callable[[sqlite3.Connection], None],
    undo: Callable[[sqlite3.Connection], None],
) -> type[sqlite3.Connection]:
    """Return a subclass of a connection class that calls `report` after every method that can commit, including methods
    of its cursors.
    """

    def cursor(self: Any, factory: type[sqlite3.Cursor] = sqlite3.Cursor) -> sqlite3.Cursor:
        names = ("execute", "executemany", "executescript", "fetchone", "fetchmany", "fetchall", "__next__")
        made: sqlite3.Cursor = whole.cursor(self, _reporting(factory, names, lambda one: report(one.connection)))
        return made

    names = ("execute", "executemany", "executescript", "commit", "close", "__exit__")

    def rollback(self: sqlite3.Connection) -> None:
        whole.rollback(self)
        undo(self)

    return type(whole.__name__, (_reporting(whole, names, report),), {"cursor": cursor, "rollback": rollback})


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
    """Reports files that are opened for writing. All runs share one audit hook, because Python cannot remove audit
    hooks.
    """

    tell: Callable[[], None] = staticmethod(lambda: None)
    written = staticmethod(partial(written, _AFTER_OPENING))
    _is_begun = False

    @classmethod
    def begin(cls) -> None:
        if not cls._is_begun:
            cls._is_begun = True
            sys.addaudithook(cls._hear)

    @classmethod
    def _hear(cls, event: str, given: tuple[object, ...]) -> None:
        writes = event == "open" and isinstance(given[2], int) and given[2] & _WRITING
        if (writes and not str(given[0]).startswith(os.devnull)) or event in ("os.rename", "os.remove", "os.link"):
            cls.tell()
