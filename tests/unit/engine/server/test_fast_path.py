"""A coroutine that starts outside a task and continues in one behaves as if it had started in the task."""

from __future__ import annotations

import asyncio
from typing import NoReturn

import pytest

from simulator.engine.server.http.fast_path import EagerCoroutine


def test_a_coroutine_that_never_waits_is_done_immediately() -> None:
    async def work() -> int:
        return 7

    begun = EagerCoroutine(work())
    assert (begun.is_done, begun.result) == (True, 7)


def test_an_immediate_error_is_raised_when_awaited() -> None:
    async def play() -> None:
        async def work() -> NoReturn:
            raise ValueError("broken")

        begun = EagerCoroutine(work())
        assert not begun.is_done
        with pytest.raises(ValueError, match="broken"):
            await begun

    asyncio.run(play())


def test_the_result_of_every_wait_comes_to_the_coroutine() -> None:
    async def play() -> None:
        first, second = (asyncio.get_running_loop().create_future() for _ in range(2))

        async def work() -> list[int]:
            return [await first, await second]

        begun = EagerCoroutine(work())
        first.set_result(1)
        asyncio.get_running_loop().call_soon(second.set_result, 2)
        assert await begun == [1, 2]

    asyncio.run(play())


def test_an_error_of_the_first_wait_is_raised_in_the_coroutine() -> None:
    async def play() -> None:
        waited = asyncio.get_running_loop().create_future()

        async def work() -> str:
            try:
                await waited
            except ValueError as error:
                return f"seen: {error}"
            return "nothing"

        begun = EagerCoroutine(work())
        waited.set_exception(ValueError("broken"))
        assert await begun == "seen: broken"

    asyncio.run(play())


def test_a_cancelled_task_ends_the_coroutine_that_it_awaits() -> None:
    async def play() -> None:
        steps: list[str] = []

        async def work() -> None:
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                steps.append("ended")

        begun = EagerCoroutine(work())

        async def rest() -> None:
            await begun

        task = asyncio.create_task(rest())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert steps == ["ended"]

    asyncio.run(play())
