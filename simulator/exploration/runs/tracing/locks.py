"""Counts the locks that a piece of work holds."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable
from typing import Any, Literal
from unittest.mock import patch

from simulator.exploration.runs.tracing.scenes import IS_SIMULATOR, current, own_file


def watched_locks() -> list[Any]:
    """Return patches that count the locks that a piece of work holds: locks for threads that the application creates,
    and all locks for asyncio.
    """

    def watched(make: Callable[[], Any]) -> Callable[[], Any]:
        def made() -> Any:
            lock = make()
            is_own = own_file(sys._getframe(1).f_code) not in ("", IS_SIMULATOR)
            return _Watched(lock) if is_own else lock

        return made

    acquire, release = asyncio.Lock.acquire, asyncio.Lock.release

    async def acquired(self: asyncio.Lock) -> Literal[True]:
        await acquire(self)
        _count(1)
        return True

    def released(self: asyncio.Lock) -> None:
        release(self)
        _count(-1)

    return [
        *(patch.object(threading, name, watched(getattr(threading, name))) for name in ("Lock", "RLock")),
        patch.object(asyncio.Lock, "acquire", acquired),
        patch.object(asyncio.Lock, "release", released),
    ]


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
