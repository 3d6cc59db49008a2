"""Counts the locks that a piece of work holds."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import cache
from importlib import import_module
from typing import Any
from unittest.mock import patch

from simulator.exploration.runs.tracing.scenes import IS_SIMULATOR, current, own_file


@cache
def begin() -> None:
    """Replace the functions that make locks for threads, so that locks of the application are counted. Called before
    the suite is imported, so that this also applies to `from threading import Lock` and to locks of modules.
    """
    for name in ("Lock", "RLock"):
        setattr(threading, name, _watching(getattr(threading, name)))


def _watching(make: Callable[[], object]) -> Callable[[], object]:
    def made() -> object:
        lock = make()
        is_own = own_file(sys._getframe(1).f_code) not in ("", IS_SIMULATOR)
        return _Watched(lock) if is_own else lock

    return made


def watched_locks() -> list[AbstractContextManager[object]]:
    """Return patches that count the locks of asyncio and anyio that a piece of work holds."""
    return [one for kind in _classes() for one in _patches(kind)]


def _classes() -> Iterator[type[asyncio.Lock]]:
    yield asyncio.Lock
    if "anyio" in sys.modules:
        yield import_module("anyio._backends._asyncio").Lock


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
