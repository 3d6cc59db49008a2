"""Holds back handlers that run in an event loop (`async def`), at the places where they are suspended."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from functools import partial
from types import CodeType
from typing import Any

from simulator.exploration.runs.tracing.holding import Holding
from simulator.exploration.runs.tracing.scenes import IS_SIMULATOR, Scene, current, own_file, written
from simulator.exploration.runs.tracing.writes import Databases
from simulator.testing.links.loop_thread import in_thread
from simulator.testing.receiving.loopback import Answer


class Steps:
    """Runs coroutines step by step: from one `await` that suspends them to the next one.

    Between two steps, a coroutine can be held without blocking the event loop, so other handlers go on.
    """

    def __init__(self, holding: Holding, databases: Databases) -> None:
        self._holding = holding
        self._databases = databases

    async def handle(self, scene: Scene, coroutine: Coroutine[Any, Any, Answer]) -> Answer:
        """Run the coroutine of a handler, and all tasks that it starts, once the handler may begin."""

        def start(loop: asyncio.AbstractEventLoop, task: Any, **more: Any) -> asyncio.Task[Any]:
            return asyncio.Task(_stepwise(task, self), loop=loop, **more)

        asyncio.get_running_loop().set_task_factory(start)
        waits = self._holding.may_begin(scene)
        if waits is not None:
            await in_thread(waits)
        answer: Answer = await _Stepwise(coroutine, self)
        return answer

    def after(self, place: tuple[CodeType, str, int]) -> Coroutine[Any, Any, object] | None:
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


async def _stepwise(coroutine: Coroutine[Any, Any, Any], steps: Steps) -> Any:
    return await _Stepwise(coroutine, steps)


class _Stepwise:
    def __init__(self, coroutine: Coroutine[Any, Any, Any], steps: Steps) -> None:
        self._coroutine = coroutine
        self._steps = steps

    def __await__(self) -> Generator[Any, Any, Any]:
        step = partial(self._coroutine.send, None)
        while True:
            try:
                awaited = step()
            except StopIteration as end:
                return end.value
            place = _own_place(self._coroutine)
            try:
                yield awaited
            except BaseException as error:
                step = partial(self._coroutine.throw, error)
                continue
            step = partial(self._coroutine.send, None)
            hold = None if place is None else self._steps.after(place)
            if hold is not None:
                yield from hold.__await__()


def _own_place(coroutine: Any) -> tuple[CodeType, str, int] | None:
    """Return the innermost place in the application's code at which a coroutine is suspended, or None."""
    found = None
    while coroutine is not None:
        code, frame = getattr(coroutine, "cr_code", None), getattr(coroutine, "cr_frame", None)
        if code is not None and frame is not None and (name := own_file(code)) not in ("", IS_SIMULATOR):
            found = (code, name, frame.f_lineno)
        coroutine = getattr(coroutine, "cr_await", None)
    return found
