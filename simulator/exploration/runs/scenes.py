"""The pieces of work of an application in the tests' process: the handling of a delivery, or the call phase of a test.

Each piece of work belongs to a context, so code in other threads finds it if the context was copied to them.
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

HANDLER, CALL = "handler", "call"
"""The two kinds of work: the application handles an event, or it works for the test."""
_INSTALLED = tuple({os.path.realpath(path) + os.sep for path in sysconfig.get_paths().values() if path != sys.prefix})
"""Directories with code that is not the integrator's."""
_SIMULATOR = os.path.dirname(os.path.realpath(simulator.__file__)) + os.sep
IS_SIMULATOR = "simulator"


@cache
def own_file(code: CodeType) -> str:
    """Return the file of the integrator's code, relative to the current directory.

    Return `IS_SIMULATOR` for the simulator's own code, and "" for installed packages and code without a file.
    """
    path = os.path.realpath(code.co_filename)
    if path.startswith(_SIMULATOR):
        return IS_SIMULATOR
    return "" if path.startswith(_INSTALLED) or not os.path.isfile(path) else os.path.relpath(path)


class Scene:
    """One piece of the application's work: either the handling of one delivery, or the call phase of a test."""

    def __init__(self, kind: str, event: str) -> None:
        self.kind = kind
        self.event = event
        self.wrote = 1 if kind == HANDLER else 0
        """The number of following lines at which the work can crash. A handler that has not started counts as one."""
        self.number = 0
        """The number of the scene among those with the same event."""
        self.thread = 0
        """The thread in which the scene began. For a handler, it runs the receiver's event loop."""
        self.visits: Counter[tuple[str, int]] = Counter()
        self.follows = False
        """True if the scene waits for another one that is to be held."""
        self.has_sent = False
        """True if a request was sent since the last line."""
        self.others = 0
        """The number of other pieces of work that can go on since the last write."""
        self.transactions: set[int] = set()
        """The database connections with open transactions."""
        self.locks = 0
        """The number of locks that the scene holds."""
        self.last: Document | None = None
        """The last line at which the work can be held, before the next write."""
        self.on_write: Callable[[Scene], None] = lambda scene: None


_scene: ContextVar[Scene | None] = ContextVar("scene", default=None)


def begin(kind: str, event: str = "") -> Scene:
    """Begin a piece of work (the handling of a delivery, or the call phase of a test) in the current context, and
    return it.

    `event`: the type of the delivered event, or "" for a test.
    """
    scene = Scene(kind, event)
    _scene.set(scene)
    return scene


def end() -> None:
    """End the handling of a delivery or the test that `begin` has begun."""
    _scene.set(None)


def current() -> Scene | None:
    """Return the current piece of work, or None."""
    return _scene.get()


@contextmanager
def without_scene() -> Iterator[None]:
    """Run a block that does not belong to the current piece of work."""
    token = _scene.set(None)
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
