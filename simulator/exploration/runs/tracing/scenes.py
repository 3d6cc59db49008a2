"""The pieces of work of an application in the tests' process: the handling of a delivery, the call phase of a test, or
a call in a thread of the application.

Each belongs to a context, so code in other threads finds it if the context was copied to them.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from types import CodeType

import simulator
from simulator.exploration.runs.tasks import Document

HANDLER, CALL, WORKER = "handler", "call", "worker"
"""The kinds of work: the application handles an event, it works for the test, or it works in a thread of its own."""
_INSTALLED = tuple({os.path.realpath(path) + os.sep for path in sysconfig.get_paths().values() if path != sys.prefix})
"""Directories with code that is not the integrator's."""
_SIMULATOR = os.path.dirname(os.path.realpath(simulator.__file__)) + os.sep
IS_SIMULATOR = "simulator"


@cache
def own_file(code: CodeType) -> str:
    """Return the file of the integrator's code, relative to the current directory. Return `IS_SIMULATOR` for the
    simulator's own code, and "" for installed packages and code without a file.
    """
    path = os.path.realpath(code.co_filename)
    if path.startswith(_SIMULATOR):
        return IS_SIMULATOR
    return "" if path.startswith(_INSTALLED) or not os.path.isfile(path) else os.path.relpath(path)


class Scene:
    """One piece of the application's work. `event`: the type of the event that a handler handles. `function`: the
    function that a thread of the application runs.
    """

    def __init__(self, kind: str, event: str = "", function: str = "") -> None:
        self.kind = kind
        self.event = event
        self.within = event or function or kind
        """The name that this scene shares with others of its sort: the event, the function, or the kind."""
        self.wrote = 1 if kind == HANDLER else 0
        """The number of following lines at which the work can crash. A handler that has not started counts as one."""
        self.number = 0
        """The number of the scene among those with the same `within`."""
        self.thread = 0
        """The thread in which the scene began. For a handler, it runs the receiver's event loop."""
        self.visits: Counter[tuple[str, int]] = Counter()
        self.has_sent = False
        """True if a request was sent since the last line."""
        self.others = 0
        """The number of other pieces of work that can go on since the last write."""
        self.transactions: set[int] = set()
        """The database connections with open transactions."""
        self.locks = 0
        """The number of locks that the scene holds."""
        self.queue_calls = 0
        """The number of calls of the suite's hook for the application's queue that are in progress."""
        self.queued = 0
        """The number of writes since the last call of this hook."""
        self.is_awaited = False
        """True if a delivery in flight waits for this scene, which therefore must not wait for deliveries."""
        self.last: Document | None = None
        """The last place at which the work can be held, before the next write."""
        self.on_write: Callable[[Scene], None] = lambda scene: None

    @property
    def is_busy(self) -> bool:
        """True if other work might wait for this work, because it has an open transaction or holds a lock."""
        return bool(self.transactions) or self.locks > 0


_scene: ContextVar[Scene | None] = ContextVar("scene", default=None)


def begin(kind: str, event: str = "", function: str = "") -> Scene:
    """Begin a piece of work in the current context, and return it. See `Scene`."""
    scene = Scene(kind, event, function)
    _scene.set(scene)
    return scene


def end() -> None:
    """End the piece of work that `begin` has begun."""
    _scene.set(None)


def current() -> Scene | None:
    """Return the current piece of work, or None."""
    return _scene.get()


@contextmanager
def apart(scene: Scene | None = None) -> Iterator[None]:
    """Run a block that does not belong to the current piece of work, but to `scene` or to none."""
    token = _scene.set(scene)
    try:
        yield
    finally:
        _scene.reset(token)


def written(lines: int = 1) -> None:
    """Report a write of the current piece of work. It can crash at the given number of following lines."""
    scene = _scene.get()
    if scene is not None:
        scene.wrote = lines
        scene.on_write(scene)


def within_queue(hook: Callable[[], object]) -> Callable[[], object]:
    """Wrap the suite's hook for the application's queue, so that the current work knows that it runs the workers."""

    def called() -> object:
        scene = current()
        if scene is None:
            return hook()
        scene.queue_calls += 1
        try:
            return hook()
        finally:
            scene.queue_calls -= 1
            scene.queued = 0

    return called
