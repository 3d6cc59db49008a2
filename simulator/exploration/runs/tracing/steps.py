"""Holds back handlers that run in an event loop (`async def`), at the places where they are suspended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from contextvars import copy_context
from functools import partial
from types import CodeType
from types import coroutine as coroutine_function
from typing import Any
from unittest.mock import patch

from simulator.exploration.runs.tracing.holding import Holding
from simulator.exploration.runs.tracing.scenes import IS_SIMULATOR, Scene, current, own_file, written
from simulator.exploration.runs.tracing.writes import Databases
from simulator.testing.links.loop_thread import in_thread
from simulator.testing.receiving.loopback import Answer

Running = Coroutine[object, None, object]
"""A coroutine of an application."""


class Steps:
    """Runs coroutines step by step: from one `await` that suspends them to the next one. Between two steps, a coroutine
    can be held without blocking the event loop, so other handlers go on.
    """

    def __init__(self, holding: Holding, databases: Databases) -> None:
        self._holding = holding
        self._databases = databases

    async def handle(self, scene: Scene, coroutine: Coroutine[object, None, Answer]) -> Answer:
        """Run the coroutine of a handler, and all tasks that it starts, once the handler may begin."""
        self._follow_tasks(asyncio.get_running_loop())
        waits = self._holding.may_begin(scene)
        if waits is not None:
            await in_thread(waits)
        answer: Answer = await _steps_of(coroutine, self)
        return answer

    def _follow_tasks(self, loop: asyncio.AbstractEventLoop) -> None:
        """Follow the tasks that a loop starts from now on. A task factory of the application still makes them."""
        make: Any = loop.get_task_factory() or _task
        if isinstance(make, _Following):
            return
        loop.set_task_factory(_Following(make, self))

    def after(self, place: tuple[CodeType, str, int]) -> Running | None:
        """Return what to wait for before the current work continues at a place at which it was suspended."""
        scene = current()
        if scene is None:
            return None
        if self._databases.have_changed():
            written()
        if self._databases.transactions:
            return None
        hold = self._holding.suspended(scene, *place)
        return None if hold is None else in_thread(hold)


def contexts_in_executors() -> AbstractContextManager[object]:
    """Return a patch that copies the context of a handler to what it runs with `run_in_executor`."""
    run = asyncio.BaseEventLoop.run_in_executor

    def run_in_executor(
        self: asyncio.BaseEventLoop, executor: Executor | None, function: Callable[..., object], *given: object
    ) -> asyncio.Future[object]:
        if current() is not None:
            function = partial(copy_context().run, function)
        return run(self, executor, function, *given)

    return patch.object(asyncio.BaseEventLoop, "run_in_executor", run_in_executor)


def _task(loop: asyncio.AbstractEventLoop, coroutine: Running, **more: Any) -> asyncio.Future[object]:
    return asyncio.Task(coroutine, loop=loop, **more)


class _Following:
    """A task factory. `make`: the factory that makes the tasks."""

    def __init__(self, make: Callable[..., asyncio.Future[object]], steps: Steps) -> None:
        self._make = make
        self._steps = steps

    def __call__(self, loop: asyncio.AbstractEventLoop, coroutine: Any, **more: Any) -> Any:
        task = self._make(loop, _stepwise(coroutine, self._steps), **more)
        task.add_done_callback(lambda _: coroutine.close())  # it has not started if the task was cancelled at once
        return task


async def _stepwise(coroutine: Running, steps: Steps) -> object:
    return await _steps_of(coroutine, steps)


@coroutine_function
def _steps_of(coroutine: Running, steps: Steps) -> Generator[object, object, Any]:
    step = partial(coroutine.send, None)
    while True:
        try:
            awaited = step()
        except StopIteration as end:
            return end.value
        place = _own_place(coroutine)
        try:
            yield awaited
        except BaseException as error:
            step = partial(coroutine.throw, error)
            continue
        step = partial(coroutine.send, None)
        hold = None if place is None else steps.after(place)
        if hold is not None:
            try:
                yield from hold.__await__()
            except BaseException as error:  # the handler is cancelled while it is held
                step = partial(coroutine.throw, error)


def _own_place(coroutine: object) -> tuple[CodeType, str, int] | None:
    """Return the innermost place in the application's code at which a coroutine is suspended, or None."""
    found = None
    while coroutine is not None:
        code, frame = getattr(coroutine, "cr_code", None), getattr(coroutine, "cr_frame", None)
        if code is not None and frame is not None and (name := own_file(code)) not in ("", IS_SIMULATOR):
            found = (code, name, frame.f_lineno)
        coroutine = getattr(coroutine, "cr_await", None)
    return found
