"""A service timer that raises an error: the world continues, and the problem is reported."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from simulator.engine.clients.asynchronous import AsgiClient
from simulator.engine.rows.room import Room
from simulator.engine.server.runtime import Runtime
from simulator.engine.worlds.simulator import Blueprint
from simulator.kernel.agenda import Timer
from simulator.kernel.journal import Cause
from simulator.kernel.world import TimerRow, World
from tests.library import Simulator, application_of, library_with


def break_off(world: World, timer: Timer) -> None:
    raise ZeroDivisionError(f"nothing for {timer.target}")


BROKEN = Room("broken", timers=(TimerRow("broken", break_off, "something breaks"),))


def test_a_law_that_breaks_is_left_out_logged_and_shown_as_advice(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> list[Any]:
        simulator = Simulator(library_with(BROKEN))
        world = simulator.create_world(Blueprint("default", 1))
        application = application_of(Runtime(simulator))
        client = AsgiClient(application)
        with world.change(Cause("start", "test")):
            world.agenda.plan(world.now_ms, "broken", "loan-1")
        answers = [
            await client.request("POST", "/_simulator/actions/rotate_webhook_key", {}),
            await client.request("GET", "/_simulator/advice"),
            await client.request("GET", "/_simulator/clock"),
        ]
        await application.runtime.close()
        return answers

    with caplog.at_level(logging.ERROR):
        acted, advice, clock = asyncio.run(scenario())
    assert [answer.status for answer in (acted, advice, clock)] == [200, 200, 200]
    (finding,) = [row for row in advice.body["data"] if row["kind"] == "timer_failed"]
    assert (finding["severity"], finding["evidence"]) == ("error", ["loan-1"])
    assert "ZeroDivisionError: nothing for loan-1" in finding["message"]
    assert clock.body["timers"] == 0
    assert "Traceback" in caplog.text
