"""Coroutines that begin before there is a task for them (Python 3.12 has this as `asyncio.eager_task_factory`)."""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from functools import partial
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Begun(Generic[T]):
    """A coroutine that has run to its end or to its first wait, outside of any task; to be awaited for its result.

    Nearly every call of the interface is answered without waiting for anything: a task for it would take as long as
    reading its head does. Until its first wait the coroutine must not ask for the task that it runs in.
    """

    __slots__ = ("_coroutine", "_error", "_waits_for", "is_done", "result")

    result: T
    """What it has returned; only when it `is_done`."""

    def __init__(self, coroutine: Coroutine[Any, Any, T]) -> None:
        self.is_done = False
        self._error: Exception | None = None
        self._coroutine = coroutine
        try:
            self._waits_for = coroutine.send(None)
        except StopIteration as end:
            self.result, self.is_done = end.value, True
        except Exception as error:
            self._error = error

    def __await__(self) -> Generator[Any, Any, T]:
        if self._error is not None:
            raise self._error
        while not self.is_done:
            # What it waits for first has not been heard by any task yet: the one that runs now is told of it here. And
            # how a wait ends, well, badly or because the task is cancelled, is for the coroutine itself.
            try:
                answer = yield self._waits_for
            except BaseException as error:
                go_on = partial(self._coroutine.throw, error)
            else:
                go_on = partial(self._coroutine.send, answer)
            try:
                self._waits_for = go_on()
            except StopIteration as end:
                self.result, self.is_done = end.value, True
        return self.result
