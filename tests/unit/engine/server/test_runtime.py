"""The worlds of a running server: notifications about them, and the fate of deleted worlds."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

import pytest

from simulator.engine.rows.room import Room
from simulator.engine.server.runtime import Runtime, Watcher
from simulator.engine.worlds.simulator import Blueprint
from simulator.kernel.journal import Cause
from simulator.kernel.world import TimerRow, World
from tests.fake_transport import FakeTransport
from tests.library import Simulator, library_with

TICK = TimerRow("tick", lambda world, timer: None, "nothing happens")


class Heard(Watcher):
    """A watcher that saves its notifications."""

    def __init__(self) -> None:
        self.told: list[tuple[str, World | None]] = []

    def changed(self, world: World) -> None:
        self.told.append(("changed", world))

    def ended(self, world: World) -> None:
        self.told.append(("ended", world))

    def stopping(self) -> None:
        self.told.append(("stopping", None))


class Bench:
    """A runtime without a network, its world `w`, and somebody who watches from then on."""

    def __init__(self) -> None:
        self.transport = FakeTransport()
        self.simulator = Simulator(library_with(Room("clock", timers=(TICK,))))
        self.runtime = Runtime(self.simulator, self.transport)
        self.world = self.simulator.create_world(Blueprint("w", 1))
        self.heard = Heard()
        self.runtime.watch(self.heard)

    def plan(self, world: World) -> None:
        """A timer that is due at once."""
        with world.change(Cause("start", "test")):
            world.agenda.plan(world.now_ms, TICK.kind, "clock")


def run(coroutine: Coroutine[Any, Any, object]) -> None:
    asyncio.run(coroutine)


def test_timers_without_delay_fire_before_watchers_are_informed() -> None:
    async def scenario() -> None:
        bench = Bench()
        before = len(bench.world.agenda)
        bench.plan(bench.world)
        await bench.runtime.follow_up(bench.world)
        assert len(bench.world.agenda) == before
        assert bench.heard.told[-1] == ("changed", bench.world)
        await bench.runtime.close()

    run(scenario())


def test_a_reset_ends_a_world_and_starts_another() -> None:
    async def scenario() -> None:
        bench = Bench()
        anew = bench.simulator.reset_world("w")
        assert anew is not bench.world
        assert bench.heard.told == [("ended", bench.world), ("changed", bench.world), ("changed", anew)]
        await bench.runtime.close()

    run(scenario())


def test_nothing_starts_in_a_world_that_has_ended() -> None:
    """A call was still under way when its world was deleted."""

    async def scenario() -> None:
        bench = Bench()
        bench.simulator.delete_world("w")
        bench.heard.told.clear()
        bench.plan(bench.world)
        waiting = len(bench.world.agenda)
        await bench.runtime.follow_up(bench.world)
        bench.runtime.reported(bench.world)
        assert len(bench.world.agenda) == waiting
        assert bench.heard.told == []
        await bench.runtime.close()

    run(scenario())


def test_a_watcher_is_notified_once_until_it_leaves() -> None:
    async def scenario() -> None:
        bench = Bench()
        bench.runtime.watch(bench.heard)
        bench.runtime.changed(bench.world)
        bench.runtime.unwatch(bench.heard)
        bench.runtime.changed(bench.world)
        assert bench.heard.told == [("changed", bench.world)]
        await bench.runtime.close()

    run(scenario())


def test_a_watcher_may_leave_during_a_notification() -> None:
    async def scenario() -> None:
        bench = Bench()

        class Leaving(Heard):
            def changed(self, world: World) -> None:
                super().changed(world)
                bench.runtime.unwatch(self)

        leaving, last = Leaving(), Heard()
        bench.runtime.watch(leaving)
        bench.runtime.watch(last)
        for _ in range(2):
            bench.runtime.changed(bench.world)
        assert (len(leaving.told), len(last.told)) == (1, 2)
        await bench.runtime.close()

    run(scenario())


def test_every_ended_world_is_counted_in_the_end() -> None:
    async def scenario() -> None:
        bench = Bench()
        for _ in range(3):
            bench.simulator.reset_world("w")
        assert not bench.runtime.ended_worlds.is_complete
        await bench.runtime.remembered()
        assert bench.runtime.ended_worlds.is_complete
        bench.simulator.delete_world("w")
        await bench.runtime.remembered()
        assert bench.runtime.ended_worlds.is_complete
        await bench.runtime.close()

    run(scenario())


def test_a_world_that_cannot_be_counted_is_logged_and_skipped(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> list[World]:
        bench = Bench()
        counted: list[World] = []

        def count(world: World) -> dict[str, Any]:
            counted.append(world)
            if world is bench.world:
                raise ZeroDivisionError("sk_test_simulator cannot be counted")
            return {}

        monkeypatch.setattr("simulator.engine.insight.counting.count_world", count)
        second = bench.simulator.reset_world("w")
        bench.simulator.delete_world("w")
        await bench.runtime.remembered()
        await bench.runtime.close()
        assert counted == [bench.world, second]
        return counted

    with caplog.at_level(logging.ERROR):
        run(scenario())
    assert "ZeroDivisionError: *** cannot be counted" in caplog.text


def test_a_server_that_stops_ends_its_streams_and_its_connections() -> None:
    async def scenario() -> None:
        bench = Bench()
        await bench.runtime.close()
        assert bench.heard.told == [("stopping", None)]
        assert bench.transport.closed

    run(scenario())
