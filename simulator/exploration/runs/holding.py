"""Holds back one piece of the application's work while other pieces of work go on.

A piece of work is the handling of a delivery or the call phase of a test. It is held at the last line before one of its
writes, when it has read everything that the write depends on. A traced run records these lines. The work is not
held while it has an open transaction or holds a lock, because the other work would wait for it.

A test's call is held until no delivery is in flight. A handler is held until another delivery, the copy of its own
event, has been handled. So the schedule depends on what happens, not on time. The time limit only ends a deadlock.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any
from unittest.mock import patch

from simulator.exploration.runs.scenes import HANDLER, IS_SIMULATOR, Scene, current, own_file, without_scene
from simulator.exploration.runs.tasks import Document

LIMIT_SECONDS = 2.0
"""The largest number of real seconds for which a piece of work is held."""


class Holding:
    """Holds one piece of work in a run. `plan`: the place at which it is held, or None to record the places.

    `drain`: waits until no delivery is in flight. Returns False if that takes longer than the given number of seconds.
    """

    def __init__(self, plan: Mapping[str, Any] | None, drain: Callable[[float], bool]) -> None:
        self.places: list[Document] = []
        self.times = 0
        """How often another piece of work ended while this one was held."""
        self._plan = plan
        self._drain = drain
        self._begun: Counter[str] = Counter()
        self._ended = 0
        self._changed = threading.Condition()
        self._target: Scene | None = None
        """The piece of work that is held, once it has begun."""
        self._is_past = False
        """True once the target is held or has ended."""

    def begun(self, scene: Scene) -> None:
        """Count a piece of work that begins in the current thread."""
        self._begun[scene.event] += 1
        scene.number = self._begun[scene.event]
        scene.thread = threading.get_ident()
        plan = self._plan
        if plan is None:
            scene.on_write = self._record
        elif (scene.event or scene.kind, scene.number) == (plan["within"], plan["scene"]):
            self._target = scene
        elif self._target is not None and not self._is_past:
            scene.follows = True

    def ended(self) -> None:
        """Count the end of the current piece of work. The response to its delivery is sent afterwards."""
        scene = current()
        if scene is not None:
            scene.last = None
        with self._changed:
            self._ended += 1
            self._is_past = self._is_past or scene is self._target
            self._changed.notify_all()

    def at_line(self, scene: Scene, frame: FrameType, file: str) -> None:
        """Record or hold the current piece of work, which is at the beginning of a line of the application."""
        place = (file, frame.f_lineno)
        scene.visits[place] += 1
        if self._plan is None:
            self._look_on(scene, frame, file)
        elif scene is self._target and not self._is_past:
            if (*place, scene.visits[place]) == tuple(self._plan[name] for name in ("file", "line", "visit")):
                self.times += self._hold(scene)
        elif scene.follows and threading.get_ident() != scene.thread:
            scene.follows = False
            with self._changed:
                self._changed.wait_for(lambda: self._is_past, LIMIT_SECONDS)

    def _hold(self, scene: Scene) -> bool:
        """Hold the current piece of work. Return True if another one ended in time."""
        with self._changed:
            ended, self._is_past = self._ended, True
            self._changed.notify_all()
            if scene.kind == HANDLER:
                return self._changed.wait_for(lambda: self._ended > ended, LIMIT_SECONDS)
        return self._drained() and self._ended > ended

    def _drained(self) -> bool:
        with without_scene():
            return self._drain(LIMIT_SECONDS)

    def _look_on(self, scene: Scene, frame: FrameType, file: str) -> None:
        """Remember a line as the last one before the next write, if the work can be held there.

        After each request, wait for the deliveries that it caused. A call can only be held back if there are any.
        """
        if scene.kind == HANDLER:
            scene.others = 1
        elif scene.has_sent:
            scene.has_sent = False
            ended = self._ended
            self._drained()
            scene.others += self._ended - ended
        in_loop = scene.kind == HANDLER and threading.get_ident() == scene.thread
        if scene.transactions or scene.locks > 0 or in_loop:
            return
        within, function, line = scene.event or scene.kind, frame.f_code.co_name, frame.f_lineno
        visit = scene.visits[file, line]
        what = f"{file}:{line} in {function}" + (f" at {scene.event}" if scene.event else "")
        scene.last = {
            "scene": scene.number, "within": within, "file": file, "line": line, "visit": visit,
            "what": what, "event": scene.event, "group": scene.event or function,
        }  # fmt: skip

    def _record(self, scene: Scene) -> None:
        """Record the last line before a write."""
        if scene.last is not None and scene.others:
            self.places.append(scene.last)
        scene.last, scene.others = None, 0


def watched_locks() -> list[Any]:
    """Return patches that count the locks that the application creates and a piece of work holds."""

    def watched(make: Callable[[], Any]) -> Callable[[], Any]:
        def made() -> Any:
            lock = make()
            is_own = own_file(sys._getframe(1).f_code) not in ("", IS_SIMULATOR)
            return _Watched(lock) if is_own else lock

        return made

    return [patch.object(threading, name, watched(getattr(threading, name))) for name in ("Lock", "RLock")]


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
        scene.locks += locks
