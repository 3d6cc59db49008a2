"""The courier sends ready attempts, reports outcomes, loses no attempt and releases all waiters."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from simulator.engine import webhooks
from simulator.engine.clients.exchange import Headers
from simulator.engine.rows.operation import Probe
from simulator.engine.webhooks import Outcome
from simulator.engine.webhooks.courier import courier as courier_module
from simulator.engine.webhooks.courier.courier import Courier, wall_clock_ms
from simulator.kernel.clock import MINUTE_MS
from simulator.kernel.world import World
from tests.fake_transport import FakeTransport
from tests.toy.seal import SIGNATURE
from tests.unit.engine.webhooks.support import call, happen, register, status_of, take, webhook_world

WALL_MS = 1_800_000_000_000


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(coroutine)


class Owner:
    """The owner of a courier: it starts attempts after a report, as a server does."""

    def __init__(self) -> None:
        self.courier = Courier(self)

    async def catch_up(self, world: World) -> None:
        pass

    def reported(self, world: World) -> None:
        self.courier.pump(world)

    def changed(self, world: World) -> None:
        pass


def courier_with(*script: int | Outcome | BaseException, owner: Owner | None = None) -> tuple[Courier, FakeTransport]:
    transport, owner = FakeTransport(script), owner or Owner()
    owner.courier = Courier(owner, transport, wall_clock_ms=lambda: WALL_MS)
    return owner.courier, transport


def open_world(count: int = 1) -> World:
    world = webhook_world()
    register(world)
    for _ in range(count):
        happen(world)
    return world


def test_settle_sends_everything_and_counts_the_attempts() -> None:
    async def scenario() -> None:
        world = open_world(5)
        courier, transport = courier_with()
        assert courier.is_busy(world)
        assert await courier.settle(world) == 5
        assert not courier.is_busy(world)
        assert len(webhooks.all_deliveries(world)) == 5
        assert await courier.settle(world) == 0
        bodies = [body for _, _, body in transport.sent]
        assert bodies == [event.raw for event in world.journal.events()]

    run(scenario())


def test_requests_are_stamped_with_the_wall_clock_and_signed() -> None:
    async def scenario() -> None:
        world = open_world()
        courier, transport = courier_with()
        await courier.settle(world)
        ((url, headers, body),) = transport.sent
        assert url == "https://receiver.example.com/hooks"
        assert headers["Library-Date"] == str(WALL_MS)
        assert headers["Library-Seal"] == SIGNATURE.sign(webhooks.webhook_key(world, "practice"), str(WALL_MS), body)
        assert transport.policies == ["local"]

    run(scenario())


def test_pump_does_not_wait_and_continues_by_itself() -> None:
    """Decision W6: the request that caused a delivery does not wait for it."""

    async def scenario() -> None:
        world = open_world(2)
        courier, transport = courier_with()
        transport.gate = asyncio.Event()
        courier.pump(world)
        courier.pump(world)
        await asyncio.sleep(0)
        assert len(transport.sent) == 1
        assert len(webhooks.all_deliveries(world)) == 0
        transport.gate.set()
        for _ in range(20):
            await asyncio.sleep(0)
        assert len(transport.sent) == 2
        assert len(webhooks.all_deliveries(world)) == 2

    run(scenario())


def test_several_may_wait_for_the_same_world() -> None:
    async def scenario() -> None:
        world = open_world(3)
        courier, transport = courier_with()
        transport.gate = asyncio.Event()
        waiting = [asyncio.ensure_future(courier.settle(world)) for _ in range(2)]
        await asyncio.sleep(0)
        waiting[1].cancel()
        transport.gate.set()
        assert await waiting[0] == 3

    run(scenario())


def test_failures_are_retried_on_the_simulated_clock() -> None:
    async def scenario() -> None:
        world = open_world()
        courier, _ = courier_with(500, Outcome(None, "connection refused"), 200)
        await courier.settle(world)
        for _ in range(2):
            timer = world.agenda.next()
            assert timer is not None
            world.fire_next(timer.due_at_ms)
            await courier.settle(world)
        rows = webhooks.all_deliveries(world)
        assert [(row.attempt, row.response_status, row.error) for row in rows] == [
            (1, 500, "the receiver answered 500 instead of 2xx"),
            (2, None, "connection refused"),
            (3, 200, None),
        ]
        assert rows[1].created_at_ms - rows[0].created_at_ms == MINUTE_MS

    run(scenario())


def test_a_transport_that_breaks_counts_as_a_failed_attempt(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        world = open_world()
        courier, _ = courier_with(RuntimeError("broken"))
        assert await courier.settle(world) == 1
        (row,) = webhooks.all_deliveries(world)
        assert (row.status, row.error) == ("failed", "the request could not be made (RuntimeError)")
        assert not row.was_dropped
        assert len(world.agenda) == 1

    run(scenario())
    assert "could not be made" in caplog.text


def test_listeners_hear_of_every_report_and_may_change_the_world() -> None:
    async def scenario() -> None:
        world = open_world()
        heard: list[object] = []

        class Listener(Owner):
            async def catch_up(self, world: World) -> None:
                heard.append(("before", len(webhooks.all_deliveries(world))))

            def reported(self, world: World) -> None:
                heard.append(("after", len(webhooks.all_deliveries(world))))
                if len(heard) < 6:
                    happen(world)
                self.courier.pump(world)

        courier, _ = courier_with(owner=Listener())
        assert await courier.settle(world) == 3
        assert heard == [("before", 0), ("after", 1), ("before", 1), ("after", 2), ("before", 2), ("after", 3)]
        assert [row.attempt for row in webhooks.all_deliveries(world)] == [1, 1, 1]

    run(scenario())


def test_a_failing_listener_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        world = open_world(3)

        class Broken(Owner):
            async def catch_up(self, world: World) -> None:
                raise RuntimeError("a broken listener")

            def reported(self, world: World) -> None:
                raise RuntimeError("a broken listener")

        courier, _ = courier_with(owner=Broken())
        assert await courier.settle(world) == 3

    run(scenario())
    assert "a listener of the courier failed" in caplog.text


def test_a_report_that_fails_neither_hangs_nor_repeats(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a broken report")

    async def scenario() -> None:
        world = open_world(2)
        courier, transport = courier_with()
        monkeypatch.setattr(courier_module, "report", fail)
        assert await courier.settle(world) == 0
        assert await courier.settle(world) == 0
        assert len(transport.sent) == 1

    run(scenario())
    assert "failed" in caplog.text


def test_closing_loses_no_attempt_and_releases_all_waiters() -> None:
    async def scenario() -> None:
        world = open_world(2)
        courier, transport = courier_with()
        transport.gate = asyncio.Event()
        waiting = asyncio.ensure_future(courier.settle(world))
        await asyncio.sleep(0)
        await courier.close()
        assert transport.closed
        assert await waiting == 0
        transport.gate.set()
        assert await courier.settle(world) == 2
        assert [row.attempt for row in webhooks.all_deliveries(world)] == [1, 1]

    run(scenario())


class Watching(FakeTransport):
    """Records which tasks post, and waits at the gate from the second request on."""

    def __init__(self) -> None:
        super().__init__()
        self.tasks: list[object] = []
        self.later = asyncio.Event()

    async def post(self, url: str, headers: Headers, body: bytes, timeout_seconds: float, policy: str) -> Outcome:
        self.tasks.append(asyncio.current_task())
        self.gate = self.later if self.sent else None
        return await super().post(url, headers, body, timeout_seconds, policy)


def test_one_task_carries_what_an_endpoint_gets_one_after_another() -> None:
    async def scenario() -> None:
        world = webhook_world()
        for path in ("one", "two"):
            register(world, f"https://receiver.example.com/{path}")
        for _ in range(4):
            happen(world)
        owner, transport = Owner(), Watching()
        transport.later.set()
        owner.courier = Courier(owner, transport, wall_clock_ms=lambda: WALL_MS)
        assert await owner.courier.settle(world) == 8
        assert len(set(transport.tasks)) == 2

    run(scenario())


def test_closing_loses_no_attempt_that_followed_another() -> None:
    async def scenario() -> None:
        world = open_world(3)
        owner, transport = Owner(), Watching()
        owner.courier = Courier(owner, transport, wall_clock_ms=lambda: WALL_MS)
        owner.courier.pump(world)
        while len(transport.sent) < 2:
            await asyncio.sleep(0)
        await owner.courier.close()
        assert len(webhooks.all_deliveries(world)) == 1
        transport.later.set()
        assert await owner.courier.settle(world) == 3  # the one that was answered is counted now
        assert [row.attempt for row in webhooks.all_deliveries(world)] == [1, 1, 1]

    run(scenario())


def test_an_attempt_cancelled_before_it_began_may_start_again() -> None:
    async def scenario() -> None:
        world = open_world()
        courier, transport = courier_with()
        courier.pump(world)
        await courier.close()
        assert transport.sent == []
        assert await courier.settle(world) == 1

    run(scenario())


def test_nothing_of_a_world_that_lives_no_more_is_sent() -> None:
    async def scenario() -> None:
        world = open_world(2)
        courier, transport = courier_with()
        courier.pump(world)
        courier.stop(world)
        assert await courier.settle(world) == 0
        happen(world)
        courier.pump(world)
        assert await courier.settle(world) == 0
        assert transport.sent == []

    run(scenario())


def test_attempts_without_a_carrier_are_sent_after_a_restore() -> None:
    async def scenario() -> None:
        world = open_world(2)
        take(world)
        snapshot = world.store.tables()
        restored = webhook_world()
        restored.store.replace(snapshot)
        courier, transport = courier_with()
        assert await courier.settle(restored) == 2
        assert len(transport.sent) == 2

    run(scenario())


def test_a_restored_world_ignores_attempts_in_flight() -> None:
    async def scenario() -> None:
        world = webhook_world()
        endpoint = register(world)
        before = world.store.tables()
        happen(world)
        courier, transport = courier_with(500)
        transport.gate = asyncio.Event()
        courier.pump(world)
        await asyncio.sleep(0)
        world.store.replace(before)
        world.agenda.rebuild()
        transport.gate.set()
        await courier.settle(world)
        assert webhooks.all_deliveries(world) == []
        assert status_of(world, endpoint) == "enabled"
        happen(world)
        assert await courier.settle(world) == 1

    run(scenario())


@pytest.mark.parametrize(
    ("answer", "status", "error"),
    [(200, 200, None), (204, 204, None), (Outcome(None, "connection refused"), None, "connection refused")],
)
def test_a_probe_is_signed_and_returns_the_response(
    answer: int | Outcome, status: int | None, error: str | None
) -> None:
    async def scenario() -> None:
        world = webhook_world()
        probe = call(world, "POST", "/webhooks", {"url": "https://receiver.example.com/", "events": ["*"]})
        assert isinstance(probe, Probe)
        courier, transport = courier_with(answer)
        outcome = await courier.probe(world, probe)
        assert (outcome.status, outcome.error) == (status, error)
        ((_, headers, body),) = transport.sent
        assert body == probe.raw
        assert headers["Library-Seal"] == SIGNATURE.sign(probe.key, headers["Library-Date"], body)
        assert len(webhooks.all_deliveries(world)) == 0

    run(scenario())


def test_a_test_request_has_the_time_limit_of_a_delivery() -> None:
    """Decision W4."""
    limits = []

    class Patient(FakeTransport):
        async def post(self, url: str, headers: Headers, body: bytes, timeout_seconds: float, policy: str) -> Outcome:
            limits.append(timeout_seconds)
            return await super().post(url, headers, body, timeout_seconds, policy)

    async def scenario() -> None:
        world, owner = open_world(), Owner()
        owner.courier = Courier(owner, Patient(), wall_clock_ms=lambda: WALL_MS)
        await owner.courier.settle(world)
        probe = call(world, "POST", "/webhooks", {"url": "https://receiver.example.com/", "events": ["*"]})
        await owner.courier.probe(world, probe)

    run(scenario())
    assert limits == [2.0, 2.0]


def test_a_scripted_fake_can_judge_each_request() -> None:
    async def scenario() -> None:
        world = open_world(2)
        courier, transport = courier_with()
        transport.answer = lambda url, body: 500 if b"notice-" not in body else 202
        await courier.settle(world)
        assert {row.response_status for row in webhooks.all_deliveries(world)} == {202}

    run(scenario())


def test_the_default_clock_is_the_machines() -> None:
    assert wall_clock_ms() > 1_700_000_000_000
