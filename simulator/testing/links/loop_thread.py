"""An event loop in its own thread that keeps real time. It would wait forever while a test freezes the clock."""

from __future__ import annotations

import asyncio
import sys
import time
import weakref
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from contextvars import ContextVar, copy_context
from functools import partial
from threading import Thread, get_ident
from typing import Any, NoReturn, TypeVar

T = TypeVar("T")

is_handling: ContextVar[bool] = ContextVar("is_handling", default=False)
"""Whether the current code handles a webhook that has not received a response yet."""
_END_SECONDS = 5.0
"""The time limit for the end of the thread. If it hangs, it is abandoned and blocks nothing, because it is a daemon."""


def real_monotonic() -> Callable[[], float]:
    """Return the machine's `time.monotonic`, even while freezegun replaces it."""
    freezegun = sys.modules.get("freezegun.api")
    return getattr(freezegun, "real_monotonic", time.monotonic)


class _Loop(asyncio.SelectorEventLoop):
    """An event loop that keeps working while the clock is frozen."""

    def __init__(self) -> None:
        self._monotonic = real_monotonic()
        super().__init__()

    def time(self) -> float:
        return self._monotonic()


class LoopThread:
    """Runs coroutines for other threads, from its creation until `stop` or the end of the process."""

    def __init__(self, name: str) -> None:
        self.loop: asyncio.AbstractEventLoop = _Loop()
        self.at_end: list[Callable[[], object]] = []
        """Called in the thread when the thread ends."""
        self._thread = Thread(target=_run, args=(self.loop, self.at_end), name=name, daemon=True)
        self._thread.start()
        self._finish = weakref.finalize(self, _stop, self.loop, self._thread)

    @property
    def is_alive(self) -> bool:
        return self._finish.alive

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """Start a coroutine. Raises RuntimeError if the thread has ended."""
        if not self._finish.alive:
            coroutine.close()
            raise RuntimeError("the thread has ended")
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop)

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine and wait for the result. Raises RuntimeError in the loop's own thread."""
        if self._thread.ident == get_ident():
            coroutine.close()
            raise RuntimeError(f"{self._thread.name} cannot wait for itself; make this call from another thread")
        return self.submit(coroutine).result()

    def stop(self) -> None:
        """Cancel running tasks and end the thread."""
        self._finish()


def _run(loop: asyncio.AbstractEventLoop, at_end: list[Callable[[], object]]) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        for end in at_end:
            end()
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        loop.run_until_complete(_ended(tasks))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        asyncio.set_event_loop(None)
        loop.close()


async def _ended(tasks: set[asyncio.Task[Any]]) -> None:
    await asyncio.sleep(0)  # lets connections finish closing
    if tasks:
        await asyncio.wait(tasks, timeout=_END_SECONDS / 2)


def _stop(loop: asyncio.AbstractEventLoop, thread: Thread) -> None:
    if thread.is_alive():
        loop.call_soon_threadsafe(loop.stop)
        if thread.ident != get_ident():
            thread.join(_END_SECONDS)


async def in_thread(call: Callable[[], T]) -> T:
    """Run a slow function in a daemon thread, so that the process can exit without waiting for it."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Callable[[], T]] = loop.create_future()
    Thread(target=copy_context().run, args=(_call, loop, call, done), name="rampsim call", daemon=True).start()
    return (await done)()


def _call(loop: asyncio.AbstractEventLoop, call: Callable[[], T], done: asyncio.Future[Callable[[], T]]) -> None:
    # The outcome is a function. A future of `concurrent.futures` would lose an error that is falsy.
    try:
        outcome: Callable[[], T] = partial(_same, _deep(call))
    except BaseException as error:
        outcome = partial(_raise, error)
    with suppress(RuntimeError):  # the loop is closed, so no caller is waiting
        loop.call_soon_threadsafe(_tell, done, outcome)


def _same(value: T) -> T:
    return value


def _raise(error: BaseException) -> NoReturn:
    raise error


def _tell(done: asyncio.Future[T], outcome: T) -> None:
    if not done.done():
        done.set_result(outcome)


def _deep(call: Callable[[], T], frames: int = 3) -> T:
    """Call a function from a deep call stack, so that it gets the frozen time. freezegun gives real time to callers
    that are at most five frames away from `threading`.
    """
    return _deep(call, frames - 1) if frames else call()
