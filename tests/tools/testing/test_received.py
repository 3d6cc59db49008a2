"""`received` contains every delivery that the test has caused so far."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event

import pytest

from simulator.testing import Delivery, World, receiver, world
from simulator.testing.receiving.receivers import HOST_VARIABLE

EVENT = "beneficiary.created"


@pytest.fixture(params=["over HTTP", "in process"])
def a_world(request: pytest.FixtureRequest) -> Iterator[World]:
    with world(in_process=request.param == "in process", seed=7) as made:
        yield made


def test_deliveries_in_flight_are_awaited(a_world: World) -> None:
    with receiver(a_world) as webhooks:
        webhooks.respond(200, delay="50ms")
        a_world.act("emit", type=EVENT)
        a_world.act("emit", type=EVENT)
        assert [delivery.status for delivery in webhooks.received] == [200, 200]
        assert len(webhooks.events(EVENT)) == 2


def test_a_handler_that_looks_at_it_does_not_wait_for_itself(a_world: World) -> None:
    seen: list[int] = []

    def handle(delivery: Delivery) -> int:
        seen.append(len(webhooks.received))
        return 200

    with receiver(a_world) as webhooks:
        webhooks.respond_with(handle)
        a_world.act("emit", type=EVENT)
        assert len(webhooks.received) == 1
    assert seen == [1]


def test_a_handler_that_waits_for_the_test_is_not_waited_for_long(a_world: World) -> None:
    gate = Event()
    with receiver(a_world) as webhooks:
        webhooks.patience_seconds = 0.1
        webhooks.respond_with(lambda delivery: 200 if gate.wait(30) else 500)
        a_world.act("emit", type=EVENT)
        assert [delivery.status for delivery in webhooks.received] == [None]
        gate.set()
        assert webhooks.wait_for(EVENT).status == 200


def test_the_name_of_this_machine_is_that_of_the_receiver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOST_VARIABLE, "localhost")
    with world() as one, receiver(one) as webhooks:
        assert webhooks.url.startswith("http://localhost:")
        one.act("emit", type=EVENT)
        assert len(webhooks.events(EVENT)) == 1
