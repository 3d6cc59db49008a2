"""Webhook faults that hold an event, lose its acknowledgement or send it twice at once."""

from __future__ import annotations

import pytest

from simulator.engine import webhooks
from simulator.engine.faults.in_force import FAULTS
from simulator.engine.rows.event import emit
from simulator.engine.webhooks.delivery import queue
from simulator.kernel.clock import MINUTE_MS
from simulator.kernel.journal import Cause, Event
from simulator.kernel.world import World
from tests.unit.engine.webhooks.support import (
    BROKEN,
    OK,
    add_fault,
    call,
    deliver_all_until,
    drain,
    happen,
    register,
    take,
    webhook_world,
)
from tests.unit.engine.webhooks.test_faults import events_of, fault


def tell(world: World, event_type: str, object_id: str = "order-1") -> Event:
    with world.change(Cause("action", "test")):
        return emit(world, "practice", event_type, {"id": object_id}, object_id)


def lift(world: World) -> None:
    with world.change(Cause("action", "test")):
        for fault_id in list(world.store[FAULTS].rows):
            webhooks.end_fault(world, fault_id)


def test_an_event_is_held_for_as_many_first_attempts_as_asked() -> None:
    world = webhook_world()
    register(world)
    add_fault(world, webhook={"event": "news.good"}, deliver={"hold": 2})
    held = happen(world, "news.good")
    first, second, third = happen(world), happen(world), happen(world)
    assert events_of(drain(world)) == [first.id, second.id, held.id, third.id]
    assert fault(world)["hits"] == 1


def test_what_went_during_a_delay_counts_for_the_hold() -> None:
    world = webhook_world()
    register(world)
    add_fault(world, webhook={"event": "news.good"}, deliver={"delay": "1m", "hold": 2})
    held, first = happen(world, "news.good"), happen(world)
    assert events_of(deliver_all_until(world, world.now_ms + MINUTE_MS, OK)) == [first.id]
    second = happen(world)
    assert events_of(drain(world)) == [second.id, held.id]


def test_an_event_is_held_until_the_final_event_is_acknowledged() -> None:
    world = webhook_world()
    register(world)
    add_fault(world, deliver={"hold": "terminal"})
    late, other = tell(world, "order.processing"), tell(world, "order.processing", "order-2")
    end = tell(world, "order.completed")
    assert events_of(drain(world, BROKEN)) == [end.id]
    assert events_of(deliver_all_until(world, world.now_ms + MINUTE_MS, OK)) == [end.id, late.id]
    assert fault(world)["hits"] == 2
    lift(world)
    assert events_of(drain(world)) == [other.id]


def test_a_final_event_and_later_ones_are_not_held() -> None:
    world = webhook_world()
    register(world)
    add_fault(world, deliver={"hold": "terminal"})
    told = [tell(world, name) for name in ("news.no", "order.completed", "order.refunded")]
    assert events_of(drain(world)) == [event.id for event in told]
    late = tell(world, "order.processing")
    assert events_of(drain(world)) == [late.id]
    assert fault(world)["hits"] == 0


@pytest.mark.parametrize(("subscribed", "event"), [(("*",), "news.good"), (("order.processing",), "order.processing")])
def test_an_event_without_a_later_final_event_is_not_held(subscribed: tuple[str, ...], event: str) -> None:
    world = webhook_world()
    register(world, events=subscribed)
    add_fault(world, deliver={"hold": "terminal"})
    happen(world, event)
    assert len(drain(world)) == 1
    assert fault(world)["hits"] == 0


@pytest.mark.parametrize("deliver", [{"hold": 5}, {"hold": "terminal"}, {"reorder": True}])
def test_held_attempts_start_when_the_fault_ends(deliver: dict[str, object]) -> None:
    world = webhook_world()
    register(world)
    add_fault(world, deliver=deliver)
    first, second = tell(world, "order.created"), tell(world, "order.processing")
    assert drain(world) == []
    lift(world)
    assert events_of(drain(world)) == [first.id, second.id]


@pytest.mark.parametrize("deleted", [True, False])
def test_a_deleted_or_disabled_endpoint_gets_no_held_attempts(deleted: bool) -> None:
    world = webhook_world()
    endpoint = register(world)
    add_fault(world, deliver={"hold": 5})
    happen(world)
    if deleted:
        call(world, "DELETE", "/webhooks/{id}", id=endpoint)
    else:
        call(world, "PATCH", "/webhooks/{id}", {"status": "disabled"}, id=endpoint)
    lift(world)
    assert drain(world) == []


def test_a_fault_that_ended_during_a_delay_holds_nothing() -> None:
    world = webhook_world()
    register(world)
    add_fault(world, deliver={"delay": "1m", "hold": 3})
    late = happen(world)
    lift(world)
    assert events_of(deliver_all_until(world, world.now_ms + MINUTE_MS, OK)) == [late.id]


def test_a_held_step_plans_no_timer() -> None:
    world = webhook_world()
    register(world)
    add_fault(world, deliver={"hold": "terminal"})
    tell(world, "order.processing")
    assert take(world) == []
    assert len(world.agenda) == 0


def test_of_two_simultaneous_attempts_one_is_retried() -> None:
    world = webhook_world()
    register(world)
    add_fault(world, deliver={"two_at_once": True}, times=1)
    first, second = happen(world), happen(world)
    both = take(world)
    assert (events_of(both), [attempt.number for attempt in both]) == ([first.id] * 2, [1, 2])
    with world.change(world.cause):
        for attempt in both:
            queue.report(world, attempt, BROKEN)
    assert events_of(drain(world)) == [second.id]
    retries = deliver_all_until(world, world.now_ms + MINUTE_MS, OK)
    assert [(attempt.event_id, attempt.number) for attempt in retries] == [(first.id, 3)]


def test_a_lost_acknowledgement_is_a_failure_that_is_retried() -> None:
    world = webhook_world()
    register(world)
    add_fault(world, deliver={"acknowledgement_lost": True}, times=1)
    event = happen(world)
    drain(world)
    (lost,) = webhooks.all_deliveries(world)
    assert (lost.status, lost.response_status, lost.unheard) == ("failed", 200, True)
    assert lost.error == "the fault flt_1 lost the acknowledgement 200"
    assert lost.next_attempt_at_ms == world.now_ms + MINUTE_MS
    assert events_of(deliver_all_until(world, world.now_ms + MINUTE_MS, OK)) == [event.id]
    assert webhooks.all_deliveries(world)[-1].status == "succeeded"


def test_an_unacknowledged_event_keeps_its_response() -> None:
    world = webhook_world()
    register(world)
    add_fault(world, deliver={"acknowledgement_lost": True})
    happen(world)
    drain(world, BROKEN)
    (refused,) = webhooks.all_deliveries(world)
    assert (refused.response_status, refused.error, refused.unheard) == (
        500, "the receiver answered 500 instead of 2xx", False,
    )  # fmt: skip
