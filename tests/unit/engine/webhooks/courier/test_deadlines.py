"""Time limits of many tasks by one timer: each cuts off its own task, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from simulator.engine.webhooks.courier.deadlines import Deadlines

LONG, SHORT = 1_000.0, 0.01


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(coroutine)


async def waits(deadlines: Deadlines, seconds: float, until: asyncio.Event) -> str:
    limit = deadlines.begin(seconds)
    try:
        await until.wait()
        return "answered"
    except asyncio.CancelledError:
        if not limit.absorbs():
            raise
        return "cut off"
    finally:
        deadlines.end(limit)


def test_a_task_is_cut_off_when_its_time_is_over_and_goes_on() -> None:
    async def scenario() -> None:
        assert await waits(Deadlines(asyncio.get_running_loop()), SHORT, asyncio.Event()) == "cut off"
        await asyncio.sleep(0)  # it was not cancelled for good

    run(scenario())


def test_the_shortest_limit_rings_first_whoever_came_first() -> None:
    async def scenario() -> None:
        deadlines, never = Deadlines(asyncio.get_running_loop()), asyncio.Event()
        tasks = [asyncio.ensure_future(waits(deadlines, seconds, never)) for seconds in (LONG, 3 * SHORT, SHORT)]
        done, left = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        assert done == {tasks[2]}
        assert left == {tasks[0], tasks[1]}
        assert await tasks[1] == "cut off"
        tasks[0].cancel()
        with pytest.raises(asyncio.CancelledError):
            await tasks[0]

    run(scenario())


def test_what_ended_in_time_is_not_cut_off() -> None:
    async def scenario() -> None:
        deadlines, soon, never = Deadlines(asyncio.get_running_loop()), asyncio.Event(), asyncio.Event()
        first = asyncio.ensure_future(waits(deadlines, SHORT, soon))
        second = asyncio.ensure_future(waits(deadlines, SHORT, never))
        await asyncio.sleep(0)
        soon.set()
        assert await first == "answered"
        assert await second == "cut off"

    run(scenario())


def test_who_is_cancelled_by_somebody_else_too_is_cancelled() -> None:
    async def scenario() -> None:
        deadlines = Deadlines(asyncio.get_running_loop())
        task = asyncio.ensure_future(waits(deadlines, LONG, asyncio.Event()))
        await asyncio.sleep(0)
        for limit in list(deadlines._limits):
            limit.cut_off()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(scenario())
