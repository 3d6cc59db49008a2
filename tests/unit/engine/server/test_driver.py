"""The driver: it fires due timers in slices, never blocks the server, and advances until it is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from decimal import Decimal
from functools import wraps
from math import inf
from typing import Any, ParamSpec

import pytest

from simulator.engine.server.running.advance import AdvanceCancelled, ClockBusy, Progress
from simulator.engine.server.running.driver import Driver
from simulator.engine.webhooks.courier.courier import Courier, Patience, Unanswered
from simulator.kernel.agenda import Timer
from simulator.kernel.clock import DAY_MS, LAST_MS, Clock
from simulator.kernel.journal import Cause
from simulator.kernel.world import World
from tests.fake_transport import FakeTransport
from tests.unit.engine.webhooks.support import happen, register, webhook_world
from tests.unit.kernel.test_world import wiring

CAUSE = Cause("start", "test")
P = ParamSpec("P")


class Bench:
    """A driver with a wall clock that stands still unless it is moved; a timer takes a millisecond of it."""

    def __init__(self) -> None:
        self.seconds = 100.0
        self.changes: list[World] = []
        self.transport = FakeTransport()
        self.courier = Courier(self, self.transport, wall_clock_ms=lambda: 0)
        self.driver = Driver(self.courier, self, lambda: self.seconds)
        self.turns = 0
        self.on_change: Callable[[], object] = lambda: None

    async def catch_up(self, world: World) -> None:
        pass

    def reported(self, world: World) -> None:
        self.courier.pump(world)

    def changed(self, world: World) -> None:
        self.changes.append(world)
        self.on_change()

    def world(self, mode: str = "manual", rate: int = 1, **handlers: Any) -> World:
        return World("w", 1, Clock(0, mode, Decimal(rate)), wiring(note=self._take_time, **handlers))

    def _take_time(self, world: World, timer: Timer) -> None:
        self.seconds += 0.001

    async def count_turns(self) -> None:
        while True:
            await asyncio.sleep(0)
            self.turns += 1


@pytest.fixture
def bench() -> Bench:
    return Bench()


def in_a_loop(play: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """A test that runs in an event loop of its own."""

    @wraps(play)
    def test(*given: P.args, **named: P.kwargs) -> None:
        asyncio.run(play(*given, **named))

    return test


def plan(world: World, count: int, due_at_ms: int = 0, kind: str = "note") -> None:
    with world.change(CAUSE):
        for number in range(count):
            world.agenda.plan(due_at_ms, kind, str(number))


@in_a_loop
async def test_due_timers_fire_in_slices_of_milliseconds(bench: Bench) -> None:
    world = bench.world()
    plan(world, 100)
    counting = asyncio.create_task(bench.count_turns())
    await bench.driver.fire_due(world)
    counting.cancel()
    assert len(world.agenda) == 0
    assert bench.turns >= 15, "somebody else had a turn after every six timers or so"
    assert bench.changes == [world]


@in_a_loop
async def test_little_work_is_done_in_one_turn(bench: Bench) -> None:
    world = bench.world()
    plan(world, 3)
    counting = asyncio.create_task(bench.count_turns())
    await bench.driver.fire_due(world)
    await bench.driver.bring_up_to_date(world)
    assert (len(world.agenda), bench.turns) == (0, 0)
    counting.cancel()


@in_a_loop
async def test_callers_during_a_timer_run_wait_for_it(bench: Bench) -> None:
    world = bench.world("scaled", 1_000_000)
    bench.driver.anchor(world)
    plan(world, 50, 10)
    bench.seconds += 0.001
    await asyncio.gather(*(bench.driver.bring_up_to_date(world) for _ in range(3)))
    assert (len(world.agenda), world.now_ms) == (0, 1_000_000)
    assert bench.changes == [world]
    bench.driver.close()


def never_caught_up(bench: Bench) -> World:
    """A world whose clock is far behind, with a timer that plans itself anew for as long as it runs."""

    def again(world: World, timer: Timer) -> None:
        bench.seconds += 0.001
        world.agenda.plan(world.now_ms + 1, "again", timer.target)

    bench.driver.patience_seconds = 0.01
    world = bench.world("scaled", 1_000_000, again=again)
    bench.driver.anchor(world)
    plan(world, 1, 1, "again")
    bench.seconds += 1_000_000
    return world


@in_a_loop
async def test_a_call_stops_waiting_for_a_clock_that_never_catches_up(bench: Bench) -> None:
    world = never_caught_up(bench)
    async with asyncio.timeout(10):
        await bench.driver.bring_up_to_date(world)
        await bench.driver.bring_up_to_date(world)
    assert 0 < world.now_ms < 1_000_000_000
    bench.driver.forget(world)


@in_a_loop
async def test_a_clock_that_never_catches_up_can_be_paused(bench: Bench) -> None:
    world = never_caught_up(bench)
    await bench.driver.bring_up_to_date(world)
    world.clock.mode = "manual"
    bench.driver.anchor(world)
    async with asyncio.timeout(10):
        await bench.driver.bring_up_to_date(world)
        stood_ms = world.now_ms
        await bench.driver.fire_due(world)
    assert world.now_ms == stood_ms < 1_000_000_000


@in_a_loop
async def test_a_world_that_is_over_fires_no_more(bench: Bench) -> None:
    world = bench.world()
    plan(world, 100)
    firing = asyncio.create_task(bench.driver.fire_due(world))
    await asyncio.sleep(0)
    bench.driver.forget(world)
    await firing
    left = len(world.agenda)
    assert 0 < left < 100
    await bench.driver.fire_due(world)
    assert len(world.agenda) == left


@in_a_loop
async def test_a_running_clock_ends_with_the_year_9998(bench: Bench) -> None:
    world = World("w", 1, Clock(LAST_MS - 1_000, "scaled", Decimal(1_000_000)), wiring(note=print))
    plan(world, 1, LAST_MS + 1)
    bench.driver.anchor(world)
    bench.seconds += 1e9
    await bench.driver.bring_up_to_date(world)
    bench.driver.set_alarm(world)
    assert (world.now_ms, len(world.agenda)) == (LAST_MS, 1)


@in_a_loop
async def test_an_alarm_is_set_again_only_when_the_next_timer_or_the_clock_changes(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop, world = asyncio.get_running_loop(), bench.world("scaled", 10)
    call_later, delays = loop.call_later, list[float]()

    def noted(delay: float, *rest: Any, **more: Any) -> asyncio.TimerHandle:
        delays.append(round(delay, 3))
        return call_later(delay, *rest, **more)

    monkeypatch.setattr(loop, "call_later", noted)
    plan(world, 1, 60_000)
    bench.driver.anchor(world)
    assert delays == [6.001]
    bench.seconds += 1
    bench.driver.follow(world)
    assert delays == [6.001]
    with world.change(CAUSE):
        world.agenda.plan(30_000, "note", "earlier")
    bench.driver.follow(world)
    assert delays == [6.001, 2.001]
    world.clock.rate = Decimal(20)
    bench.driver.anchor(world)
    assert delays == [6.001, 2.001, 1.501]
    bench.driver.forget(world)


@in_a_loop
async def test_an_advance_gives_everybody_a_turn_by_time(bench: Bench) -> None:
    world = bench.world()
    plan(world, 100, 5)
    counting = asyncio.create_task(bench.count_turns())
    receipt = await bench.driver.advance(world, 10)
    counting.cancel()
    assert (receipt.fired, receipt.to_ms) == (100, 10)
    assert bench.turns >= 15


@in_a_loop
async def test_an_advance_reports_progress_four_times_a_second(bench: Bench) -> None:
    world = bench.world()
    with world.change(CAUSE):
        for number in range(600):
            world.agenda.plan(5 if number < 300 else 7, "note", str(number))
    told: list[Progress | None] = []
    bench.on_change = lambda: told.append(bench.driver.progress(world))
    receipt = await bench.driver.advance(world, 10)
    assert receipt.fired == 600
    first, second, after = told
    assert first is not None
    assert second is not None
    assert (first.from_ms, first.now_ms, first.to_ms, first.events) == (0, 5, 10, 0)
    assert (second.now_ms, second.to_ms) == (7, 10)
    assert 250 <= first.fired <= 260 < 500 <= second.fired <= 520
    assert after is None, "no progress is told of what has ended"


@in_a_loop
async def test_an_advance_to_a_condition_has_no_target_time(bench: Bench) -> None:
    world = endless(bench)
    told: list[Progress | None] = []
    bench.on_change = lambda: told.append(bench.driver.progress(world))
    await bench.driver.advance(world, None, lambda: world.now_ms > 400 * DAY_MS)
    assert told[0] is not None
    assert told[0].to_ms is None


@in_a_loop
async def test_calls_during_an_advance_fire_no_timers(bench: Bench) -> None:
    world = bench.world()
    plan(world, 100, 5)
    advancing = asyncio.create_task(bench.driver.advance(world, 10))
    await asyncio.sleep(0)
    left = len(world.agenda)
    await bench.driver.bring_up_to_date(world)
    await bench.driver.fire_due(world)
    assert len(world.agenda) == left > 0
    with pytest.raises(ClockBusy):
        await bench.driver.advance(world, 20)
    assert (await advancing).fired == 100


def endless(bench: Bench) -> World:
    def tomorrow(world: World, timer: Timer) -> None:
        bench.seconds += 0.001
        world.agenda.plan(world.now_ms + DAY_MS, "daily", timer.target)

    world = bench.world(daily=tomorrow)
    plan(world, 1, DAY_MS, "daily")
    return world


@in_a_loop
async def test_a_cancelled_advance_returns_a_receipt(bench: Bench) -> None:
    world = endless(bench)
    advancing = asyncio.create_task(bench.driver.advance(world, None, lambda: False))
    for _ in range(3):
        await asyncio.sleep(0)
    assert bench.driver.is_busy(world)
    ended = bench.driver.call_off(world, "enough")
    assert ended is not None
    receipt = await ended
    with pytest.raises(AdvanceCancelled, match="enough") as caught:
        await advancing
    assert caught.value.receipt == receipt
    assert receipt.fired == world.now_ms // DAY_MS > 0
    assert not bench.driver.is_busy(world)
    assert bench.driver.call_off(world, "again") is None


def with_a_silent_receiver(bench: Bench) -> tuple[World, asyncio.Event]:
    """A world with an event for a receiver, and what has to be set before that answers anything."""
    gate = bench.transport.gate = asyncio.Event()
    world = webhook_world()
    register(world)
    happen(world)
    return world, gate


@in_a_loop
async def test_an_advance_that_waits_for_a_receiver_is_cancelled_too(bench: Bench) -> None:
    world, _ = with_a_silent_receiver(bench)
    advancing = asyncio.create_task(bench.driver.advance(world, world.now_ms + 1))
    await asyncio.sleep(0)
    bench.driver.forget(world)
    with pytest.raises(AdvanceCancelled):
        await advancing
    await bench.courier.close()


@in_a_loop
async def test_an_advance_to_a_moment_may_fire_more_than_one_that_waits(bench: Bench) -> None:
    bench.driver.most_timers_awaiting = 3
    world = endless(bench)
    receipt = await bench.driver.advance(world, world.now_ms + 10 * DAY_MS)
    assert receipt.fired == 10
    await bench.courier.close()


@in_a_loop
async def test_timers_left_by_a_cancelled_advance_fire_beside_calls(bench: Bench) -> None:
    bench.driver.leftover_patience_seconds = 0.0
    world = bench.world()
    plan(world, 1_000, 10)
    advancing = asyncio.create_task(bench.driver.advance(world, 10))
    while world.now_ms < 10:
        await asyncio.sleep(0)
    bench.driver.call_off(world, "the caller disconnected")
    with pytest.raises(AdvanceCancelled):
        await advancing
    await bench.driver.fire_due(world)
    assert 500 < len(world.agenda) < 1_000, "the call waits for a moment only"
    for _ in range(1_000):
        await asyncio.sleep(0)
    plan(world, 100, 10)
    await bench.driver.fire_due(world)
    assert len(world.agenda) == 0, "once all has fired, calls wait again for what they plan"


@pytest.mark.parametrize(
    ("name", "most"),
    [("most_timers", 10), ("most_events", -1), ("most_timers_awaiting", 10), ("most_events_awaiting", -1)],
)
@in_a_loop
async def test_an_advance_that_grows_too_large_ends_by_itself(bench: Bench, name: str, most: int) -> None:
    setattr(bench.driver, name, most)
    with pytest.raises(AdvanceCancelled, match="shorter spans") as caught:
        await bench.driver.advance(endless(bench), None, lambda: False)
    assert caught.value.receipt.fired == max(most, 0) + 1


@in_a_loop
async def test_an_advance_looks_no_further_than_its_horizon(bench: Bench) -> None:
    world = endless(bench)
    receipt = await bench.driver.advance(world, None, lambda: False, horizon_ms=10 * DAY_MS)
    assert (receipt.fired, world.now_ms) == (10, 10 * DAY_MS)


@in_a_loop
async def test_an_advance_waits_only_so_long_for_an_earlier_attempt(bench: Bench) -> None:
    world, gate = with_a_silent_receiver(bench)
    bench.courier.pump(world)
    await asyncio.sleep(0)
    patience = Patience(0.0, bench.courier.unanswered(world, inf))
    with pytest.raises(Unanswered) as caught:
        await bench.driver.advance(world, world.now_ms + 1, patience=patience)
    assert caught.value.url == "https://receiver.example.com/hooks"
    assert not bench.driver.is_busy(world)
    gate.set()
    assert (await bench.driver.advance(world, world.now_ms + 1, patience=patience)).deliveries == 1


@pytest.mark.parametrize("bound", ["rest_seconds", "most_seconds"])
@in_a_loop
async def test_settle_with_a_limit_gives_up_on_a_busy_world(bench: Bench, bound: str) -> None:
    world, gate = with_a_silent_receiver(bench)
    patience = Patience(0.0, frozenset(), **{"rest_seconds": 0.0, bound: 0.0})
    with pytest.raises(Unanswered) as caught:
        await bench.courier.settle(world, patience=patience)
    assert caught.value.waited_seconds is not None
    gate.set()
    assert await bench.courier.settle(world, patience=patience) == 1


@in_a_loop
async def test_an_advance_waits_for_its_own_attempts_without_limit(bench: Bench) -> None:
    world, gate = with_a_silent_receiver(bench)
    patience = Patience(0.0, bench.courier.unanswered(world, inf))
    advancing = asyncio.create_task(bench.driver.advance(world, world.now_ms + 1, patience=patience))
    for _ in range(10):
        await asyncio.sleep(0)
    gate.set()
    assert (await advancing).deliveries == 1


@in_a_loop
async def test_an_advance_picks_its_target_after_attempts_in_flight(bench: Bench) -> None:
    world, gate = with_a_silent_receiver(bench)
    bench.transport.script.append(500)

    def next_due_ms() -> int:
        timer = world.agenda.next()
        assert timer is not None, "the retry is planned"
        return timer.due_at_ms

    start_ms = world.now_ms
    advancing = asyncio.create_task(bench.driver.advance(world, next_due_ms))
    await asyncio.sleep(0)
    gate.set()
    assert (await advancing).to_ms == start_ms + 60_000
