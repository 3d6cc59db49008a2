"""Simulated crashes of an application that runs in the tests' process. Finds the lines at which the application can
crash, and makes the application crash at one of these lines.

If an application crashes between two statements, its earlier writes remain and the rest of its work is lost. A traced
run records the lines at which a crash matters: the first line of a webhook handler, and the first line after each
write. Lines with no write between them count as one line. A later run raises `Died` at one of these lines.

`Died` is an exception that propagates up to the webhook receiver or the test. So `finally`, `with` and `except
BaseException` blocks still run, unlike in a killed process. Memory is also preserved, unless the suite's hook rebuilds
the application.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import CodeType, FrameType
from typing import Any
from unittest.mock import patch

from simulator.exploration.runs.holding import Holding, watched_locks
from simulator.exploration.runs.scenes import IS_SIMULATOR, Scene, current, own_file, written
from simulator.exploration.runs.tasks import Document
from simulator.testing.explored import Died, has_died

_AFTER_OPENING = 3
"""The number of lines after opening a file for writing that count as places, because its writes are not visible."""
_BEFORE_FACTORY = 5
"""The number of parameters of `sqlite3.connect` before its `factory`."""
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def restarted(is_quiet: Callable[[], object], after_death: Callable[[], None]) -> Callable[[], object]:
    """Wrap a check of the application's queue. The new check also works if the application crashes while the check
    runs.

    After a crash, the new check calls `after_death` and returns False, so it is called again later. The test continues,
    as it would if the application ran in its own process and were killed.
    """

    def check() -> object:
        try:
            return is_quiet()
        except BaseException as error:
            if not has_died(error):
                raise
            after_death()
            return False

    return check


class Tracer:
    """Traces the application's lines during one run. `plan`: the line at which the application crashes, or None to
    record the lines at which it can crash.

    `own`: the code of the test itself, which is not part of the application. `holding`: holds back work in the same
    run, or records where it can be held back.
    """

    def __init__(self, plan: Mapping[str, Any] | None, own: CodeType | None, holding: Holding | None = None) -> None:
        self.holding = holding
        self.places: list[Document] = []
        self.deaths = 0
        self._plan = plan
        self._own = own
        self._visits: Counter[tuple[str, str, int]] = Counter()
        self._begins: dict[CodeType, frozenset[int]] = {}
        self.databases = _Databases()
        self._active = False

    @contextmanager
    def following(self) -> Iterator[None]:
        """Trace all threads that start in this block, and the current thread."""
        before = sys.gettrace()
        self._active = True
        patches = [patch.object(sqlite3, "connect", self.databases.connect), *watched_locks()]
        if self._plan is None:
            patches += _sockets()
            _Opened.tell = lambda: written(_AFTER_OPENING)
            _Opened.begin()
        for one in patches:
            one.start()
        threading.settrace(self._calls)
        sys.settrace(self._calls)
        try:
            yield
        finally:
            sys.settrace(before)
            threading.settrace(before)
            for one in patches:
                one.stop()
            _Opened.tell = lambda: None
            self._active = False

    def bury(self) -> None:
        """Roll back the open transactions of an application that has crashed."""
        self.databases.roll_back()

    def _calls(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        """Return the function that traces the lines of a called function, or None if the called function is not part of
        the application.
        """
        if not self._active or not self._name_of(frame.f_code):
            return None
        return self._lines

    def _name_of(self, code: CodeType) -> str:
        """Return the file of the application's code, relative to the current directory, or "" for other code."""
        name = own_file(code)
        return "" if code is self._own or name == IS_SIMULATOR else name

    def _lines(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        scene = current() if event == "line" and self._active else None
        if scene is not None and self._begins_a_line(frame):
            name = self._name_of(frame.f_code)
            if self.holding is not None:
                self.holding.at_line(scene, frame, name)
            key = (scene.event or scene.kind, name, frame.f_lineno)
            self._visits[key] += 1
            if self._plan is None:
                self._record(scene, frame, key)
            elif not self.deaths and self._is_planned(key):
                self.deaths += 1
                raise Died(f"the application crashes at {name}:{frame.f_lineno}")
        return self._lines

    def _begins_a_line(self, frame: FrameType) -> bool:
        """Return True if the frame is at the beginning of a line.

        At the end of a `with` block, Python visits the line of the `with` again to release its resources. The
        application must not crash before the release.
        """
        code = frame.f_code
        begins = self._begins.get(code)
        if begins is None:
            firsts: dict[int, int] = {}
            for start, _, line in code.co_lines():
                if line is not None:
                    firsts.setdefault(line, start)
            begins = self._begins[code] = frozenset(firsts.values())
        return frame.f_lasti in begins

    def _record(self, scene: Scene, frame: FrameType, key: tuple[str, str, int]) -> None:
        if self.databases.have_changed():
            scene.wrote = 1
        if scene.wrote:
            scene.wrote -= 1
            within, name, line = key
            what = f"{name}:{line} in {frame.f_code.co_name}" + (f" at {scene.event}" if scene.event else "")
            place = {"what": what, "within": within, "file": name, "line": line, "visit": self._visits[key]}
            self.places.append({"scene": scene.kind, **place})

    def _is_planned(self, key: tuple[str, str, int]) -> bool:
        assert self._plan is not None
        meant = (self._plan["within"], self._plan["file"], self._plan["line"])
        return key == meant and self._visits[key] == self._plan["visit"]


class _Databases:
    """The SQLite connections of a run. `connect` replaces `sqlite3.connect`.

    A write counts for the work (the handling of a delivery, or the test function) that commits it, even if another
    thread uses the same connection at the same time. So the speed of threads does not decide at which lines the
    application can crash.
    """

    def __init__(self) -> None:
        self._open: list[sqlite3.Connection] = []
        self._committed: dict[int, int] = {}
        self._connect = sqlite3.connect
        self._changed = False

    def connect(self, *given: Any, **more: Any) -> Any:
        if len(given) > _BEFORE_FACTORY:
            before, whole, after = given[:_BEFORE_FACTORY], given[_BEFORE_FACTORY], given[_BEFORE_FACTORY + 1 :]
            given = (*before, _reporting_connection(whole, self._report), *after)
        else:
            more["factory"] = _reporting_connection(more.get("factory", sqlite3.Connection), self._report)
        made = self._connect(*given, **more)
        self._open.append(made)
        return made

    def _report(self, one: sqlite3.Connection) -> None:
        """Record that the current work wrote, if this connection has committed changes since the last check."""
        if (scene := current()) is not None:
            (scene.transactions.add if one.in_transaction else scene.transactions.discard)(id(one))
        if not one.in_transaction and one.total_changes != self._committed.get(id(one), 0):
            self._committed[id(one)] = one.total_changes
            if scene is not None:
                written()
            elif threading.current_thread() is not threading.main_thread():
                self._changed = True

    def have_changed(self) -> bool:
        """Return True if, since the last call of this method, a thread committed changes outside any handling of a
        delivery and any test.

        Database libraries use such threads. The main thread does not count, because it also sets up tests and runs the
        integrator's job.
        """
        changed, self._changed = self._changed, False
        return changed

    def roll_back(self) -> None:
        for one in self._open:
            with suppress(sqlite3.Error):  # the connection is closed or belongs to another thread
                if one.in_transaction:
                    one.rollback()


def _reporting_connection(
    whole: type[sqlite3.Connection], report: Callable[[sqlite3.Connection], None]
) -> type[sqlite3.Connection]:
    """Return a subclass of a connection class that calls `report` after every method that can commit, including methods
    of its cursors.
    """

    def cursor(self: Any, factory: type[sqlite3.Cursor] = sqlite3.Cursor) -> sqlite3.Cursor:
        names = ("execute", "executemany", "executescript", "fetchone", "fetchmany", "fetchall", "__next__")
        made: sqlite3.Cursor = whole.cursor(self, _reporting(factory, names, lambda one: report(one.connection)))
        return made

    names = ("execute", "executemany", "executescript", "commit", "__exit__")
    return type(whole.__name__, (_reporting(whole, names, report),), {"cursor": cursor})


def _reporting(whole: type, names: Iterable[str], report: Callable[[Any], None]) -> type:
    """Return a subclass of `whole` in which each method in `names` calls `report(self)` after it succeeds."""

    def reporting(name: str) -> Callable[..., Any]:
        method = getattr(whole, name)

        def called(self: Any, *given: Any, **more: Any) -> Any:
            answer = method(self, *given, **more)
            report(self)
            return answer

        return called

    return type(whole.__name__, (whole,), {name: reporting(name) for name in names})


def _is_pair(one: Any) -> bool:
    """Return True if a socket is one end of a socket pair. Event loops use socket pairs to wake themselves up."""
    try:
        return one.getpeername() in ("", b"")
    except OSError:
        return True  # it is closed, as when a loop has ended, so nothing is sent


def _sockets() -> list[Any]:
    """Return patches of the methods of `socket.socket` that send data. The patched methods report each call."""
    import socket

    def reporting(name: str) -> Any:
        send = getattr(socket.socket, name)

        def sent(self: socket.socket, *given: Any, **more: Any) -> Any:
            if not _is_pair(self):
                written()
                if (scene := current()) is not None:
                    scene.has_sent = True
            return send(self, *given, **more)

        return patch.object(socket.socket, name, sent)

    return [reporting(name) for name in ("send", "sendall")]


class _Opened:
    """Reports files that are opened for writing. All runs share one audit hook, because Python cannot remove audit
    hooks.
    """

    tell: Callable[[], None] = staticmethod(lambda: None)
    _is_begun = False

    @classmethod
    def begin(cls) -> None:
        if not cls._is_begun:
            cls._is_begun = True
            sys.addaudithook(cls._hear)

    @classmethod
    def _hear(cls, event: str, given: tuple[Any, ...]) -> None:
        writes = event == "open" and isinstance(given[2], int) and given[2] & _WRITING
        if (writes and not str(given[0]).startswith(os.devnull)) or event in ("os.rename", "os.remove", "os.link"):
            cls.tell()
