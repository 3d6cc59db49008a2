"""Time limits of many tasks with one timer, on a clock that the test moves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import cast

import pytest

from simulator.engine.webhooks.courier.transport import Deadlines


class Timer:
    def __init__(self, at: float, callback: Callable[[], None]) -> None:
        self.at, self.callback = at, callback
        self.is_cancelled = False

    def when(self) -> float:
        return self.at

    def cancel(self) -> None:
        self.is_cancelled = True


class Clock:
    """The time and the timers of an event loop, which stand still until `advance`."""

    def __init__(self) -> None:
        self.now = 0.0
        self.timers: list[Timer] = []
        self.deadlines = Deadlines(cast(asyncio.AbstractEventLoop, self))

    def time(self) -> float:
        return self.now

    def call_at(self, when: float, callback: Callable[[], None]) -> Timer:
        self.timers.append(Timer(when, callback))
        return self.timers[-1]

    def advance(self, to: float) -> None:
        """Run the timers that are due by then, each at its time."""
        while due := sorted((one for one in self.pending if one.at <= to), key=Timer.when):
            self.timers.remove(due[0])
            self.now = due[0].at
            due[0].callback()
        self.now = to

    @property
    def pending(self) -> list[Timer]:
        return [one for one in self.timers if not one.is_cancelled]

    async def start(self, seconds: float, until: asyncio.Event) -> asyncio.Task[str]:
        """Start a task that waits for an event under a limit."""

        async def wait() -> str:
            limit = self.deadlines.begin(seconds)
            try:
                await until.wait()
                return "finished"
            except asyncio.CancelledError:
                if not limit.absorbs():
                    raise
                return "cut off"
            finally:
                self.deadlines.end(limit)

        task = asyncio.ensure_future(wait())
        await asyncio.sleep(0)
        return task


def test_a_task_is_cut_off_at_its_limit_and_continues() -> None:
    async def scenario() -> None:
        clock = Clock()
        task = await clock.start(1.0, asyncio.Event())
        clock.advance(0.9)
        await asyncio.sleep(0)
        assert not task.done()
        clock.advance(1.0)
        assert await task == "cut off"

    asyncio.run(scenario())


def test_the_shortest_limit_ends_first_in_any_order() -> None:
    async def scenario() -> None:
        clock, never = Clock(), asyncio.Event()
        long, middle, short = [await clock.start(seconds, never) for seconds in (9.0, 3.0, 1.0)]
        assert len(clock.pending) == 1
        clock.advance(1.0)
        assert await short == "cut off"
        assert not long.done()
        assert not middle.done()
        clock.advance(3.0)
        assert await middle == "cut off"
        assert not long.done()
        long.cancel()
        with pytest.raises(asyncio.CancelledError):
            await long

    asyncio.run(scenario())


def test_a_task_that_finished_in_time_is_not_cut_off() -> None:
    async def scenario() -> None:
        clock, soon = Clock(), asyncio.Event()
        first, second = await clock.start(1.0, soon), await clock.start(1.0, asyncio.Event())
        soon.set()
        assert await first == "finished"
        clock.advance(1.0)
        assert await second == "cut off"
        assert clock.pending == []

    asyncio.run(scenario())


def test_a_task_that_is_also_cancelled_is_cancelled() -> None:
    async def scenario() -> None:
        clock = Clock()
        task = await clock.start(1.0, asyncio.Event())
        clock.advance(1.0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scenario())
