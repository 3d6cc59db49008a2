"""The webhook queue: which endpoint gets which event, and when (decisions W5, W6, W7, W9, W11, W12)."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from simulator.engine import webhooks
from simulator.engine.vocabulary.vocabulary import identity_of
from simulator.engine.webhooks import Outcome
from simulator.engine.webhooks.delivery import attempts
from simulator.engine.webhooks.delivery.deliveries import deliveries_of
from simulator.kernel.clock import HOUR_MS, MINUTE_MS
from simulator.kernel.journal import Cause
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
    report,
    status_of,
    take,
    webhook_world,
)

DAY = 24 * HOUR_MS
SCHEDULE_MINUTES = [0, 1, 6, 36, 156, 516, 1236, 1956, 2676, 3396, 4116]


def resend(world: World, event_id: str) -> int:
    with world.change(Cause("action", "resend")):
        return webhooks.resend(world, event_id)


def test_every_enabled_and_subscribed_endpoint_gets_an_event_once() -> None:
    world = webhook_world()
    everything, some = register(world), register(world, events=("loan.returned", "news.good"))
    other, off = register(world, events=("news.bad",)), register(world)
    call(world, "PATCH", "/webhooks/{id}", {"status": "disabled"}, id=off)
    happen(world)
    assert [attempt.endpoint_id for attempt in drain(world)] == [everything, some]
    assert drain(world) == []
    assert call(world, "GET", "/webhooks/{id}/deliveries", id=other)["data"] == []


def test_an_event_that_was_rolled_back_is_not_sent() -> None:
    world = webhook_world()
    register(world)
    with suppress(RuntimeError), world.change(Cause("action", "test")):
        happen(world)
        raise RuntimeError
    assert take(world) == []


def test_first_attempts_go_out_one_by_one_in_event_order() -> None:
    """Decision W6."""
    world = webhook_world()
    slow, quick = register(world), register(world)
    events = [happen(world) for _ in range(3)]
    started = take(world)
    assert [(attempt.endpoint_id, attempt.event_id) for attempt in started] == [
        (slow, events[0].id),
        (quick, events[0].id),
    ]
    assert take(world) == []
    report(world, started[1])
    (second,) = take(world)
    assert (second.endpoint_id, second.event_id) == (quick, events[1].id)
    report(world, second)
    (third,) = take(world)
    assert (third.endpoint_id, third.event_id) == (quick, events[2].id)
    report(world, started[0], BROKEN)
    assert [attempt.event_id for attempt in take(world)] == [events[1].id]


def test_the_retry_schedule_is_exact() -> None:
    """Decision W5: 11 attempts, then the endpoint is disabled."""
    world = webhook_world()
    endpoint = register(world)
    start = world.now_ms
    event = happen(world)
    made = deliver_all_until(world, start + 5 * DAY, BROKEN)
    assert [(attempt.started_at_ms - start) // MINUTE_MS for attempt in made] == SCHEDULE_MINUTES
    assert [attempt.number for attempt in made] == list(range(1, 12))
    deliveries = webhooks.all_deliveries(world, event_id=event.id)
    assert [row.next_attempt_at_ms for row in deliveries] == [attempt.started_at_ms for attempt in made[1:]] + [None]
    assert status_of(world, endpoint) == "disabled"


def test_the_last_failure_disables_and_records_an_email() -> None:
    """Decisions W5 and W9."""
    world = webhook_world()
    endpoint = register(world)
    happen(world)
    deliver_all_until(world, world.now_ms + 10 * HOUR_MS, BROKEN)
    happen(world)
    assert webhooks.emails(world) == []
    deliver_all_until(world, world.now_ms + 5 * DAY, BROKEN)
    (email,) = webhooks.emails(world)
    assert set(email) == {"id", "at", "to", "subject", "body"}
    assert email["to"] == identity_of(world).account(world).email
    assert email["at"] == "2026-01-08T04:36:00.000Z"
    assert call(world, "GET", "/webhooks/{id}", id=endpoint)["url"] in email["body"]
    assert len(world.agenda) == 0
    assert world.journal.history(endpoint)[-1].on == "repeated_failures"
    late = [
        row for row in webhooks.all_deliveries(world) if row.event_id == webhooks.all_deliveries(world)[-1].event_id
    ]
    assert late[-1].next_attempt_at_ms is None


def test_a_retry_is_planned_from_the_moment_of_the_answer() -> None:
    world = webhook_world()
    register(world)
    happen(world)
    (attempt,) = take(world)
    world.clock.move_to(world.now_ms + 7_000)
    delivery = report(world, attempt, BROKEN)
    assert delivery.created_at_ms == world.now_ms - 7_000
    assert delivery.next_attempt_at_ms == world.now_ms + MINUTE_MS


def test_a_retry_holds_nothing_back_and_success_ends_it() -> None:
    """Decision W6: a retry holds nothing back."""
    world = webhook_world()
    register(world)
    first = happen(world)
    drain(world, BROKEN)
    world.fire_due(world.now_ms + MINUTE_MS)
    (retry,) = take(world)
    second = happen(world)
    (fresh,) = take(world)
    assert (retry.event_id, fresh.event_id) == (first.id, second.id)
    report(world, retry)
    report(world, fresh)
    assert len(world.agenda) == 0


def test_a_retry_does_not_release_the_queue() -> None:
    world = webhook_world()
    register(world)
    happen(world)
    drain(world, BROKEN)
    happen(world)
    (flying,) = take(world)
    waiting = happen(world)
    world.fire_due(world.now_ms + MINUTE_MS)
    (retry,) = take(world)
    report(world, retry)
    assert take(world) == []
    report(world, flying)
    assert [attempt.event_id for attempt in take(world)] == [waiting.id]


@pytest.mark.parametrize(("status", "succeeded"), [(200, True), (204, True), (299, True), (300, False), (199, False)])
def test_any_2xx_is_a_success(status: int, succeeded: bool) -> None:
    world = webhook_world()
    register(world)
    happen(world)
    (attempt,) = take(world)
    delivery = report(world, attempt, Outcome(status))
    assert (delivery.status == "succeeded") is succeeded
    assert (delivery.next_attempt_at_ms is None) is succeeded
    assert (delivery.error is None) is succeeded


def test_no_answer_is_a_failure_with_its_reason() -> None:
    """Decision W12: response_status is null without an answer."""
    world = webhook_world()
    register(world)
    happen(world)
    drain(world, Outcome(None, "connection refused"))
    (delivery,) = webhooks.all_deliveries(world)
    assert (delivery.status, delivery.response_status, delivery.error) == ("failed", None, "connection refused")
    shown = webhooks.shapes.render_recorded_delivery(world, delivery)
    assert (shown["response_headers"], shown["response_body"]) == (None, None)


def test_a_recorded_delivery_shows_both_sides_to_the_byte() -> None:
    world = webhook_world()
    register(world)
    event = happen(world)
    answer = Outcome(200, None, 3, (("X-Timestamp", "1"),), (("Server", "mine"),), b"thanks")
    drain(world, answer)
    shown = webhooks.shapes.render_recorded_delivery(world, webhooks.all_deliveries(world)[0])
    assert shown["request_headers"] == {"X-Timestamp": "1"}
    assert shown["request_body"].encode() == event.raw
    assert shown["response_headers"] == {"Server": "mine"}
    assert shown["response_body"] == "thanks"
    assert shown["duration_ms"] == 3


def test_a_report_of_an_unknown_attempt_changes_nothing() -> None:
    world = webhook_world()
    register(world)
    happen(world)
    (attempt,) = take(world)
    report(world, attempt)
    before = world.store.tables()
    assert report(world, attempt, BROKEN) is None
    assert world.store.tables() == before


def test_a_restored_attempt_may_start_again_with_its_id() -> None:
    world = webhook_world()
    register(world)
    happen(world)
    (attempt,) = take(world)
    for _ in range(2):
        with world.change(Cause("law", "webhook")):
            attempts.put_back(world, attempt)
    (again,) = take(world)
    assert again == attempt
    report(world, again)
    assert not webhooks.may_take(world)


def test_a_resend_goes_to_present_recipients_with_new_numbers() -> None:
    """Decision W11: no new retry schedule."""
    world = webhook_world()
    first = register(world)
    event = happen(world)
    drain(world)
    second, _ = register(world), register(world, events=("news.good",))
    assert resend(world, event.id) == 2
    made = drain(world, BROKEN)
    assert [(attempt.endpoint_id, attempt.number) for attempt in made] == [(first, 2), (second, 1)]
    assert len(world.agenda) == 0
    assert status_of(world, first) == "enabled"


def test_a_resend_leaves_planned_retries_alone() -> None:
    world = webhook_world()
    register(world)
    event = happen(world)
    drain(world, BROKEN)
    assert resend(world, event.id) == 1
    drain(world)
    made = deliver_all_until(world, world.now_ms + MINUTE_MS, OK)
    assert [attempt.number for attempt in made] == [3]


FAULTS: dict[str, dict[str, Any]] = {
    "none": {},
    "copies": {"deliver": {"copies": 2}},
    "held": {"webhook": {"event": "news.good"}, "deliver": {"reorder": True}},
    "delayed": {"webhook": {"event": "news.good"}, "deliver": {"delay": "2m"}},
    "dropped": {"webhook": {"event": "news.good"}, "deliver": {"drop": True}},
}


@pytest.mark.parametrize("answer", [OK, BROKEN])
@pytest.mark.parametrize("fault", FAULTS)
def test_deliveries_of_a_deleted_endpoint_ignore_response_times(answer: Outcome, fault: str) -> None:
    def run(answered_before: int) -> list[object]:
        world = webhook_world()
        endpoint = register(world)
        if FAULTS[fault]:
            add_fault(world, **FAULTS[fault])
        for event_type in ("loan.returned", "news.good", "news.bad", "news.old"):
            happen(world, event_type)
        waiting = take(world)
        for _ in range(answered_before):
            for attempt in waiting:
                report(world, attempt, answer)
            waiting = take(world)
        call(world, "DELETE", "/webhooks/{id}", id=endpoint)
        happen(world)
        for attempt in waiting:
            report(world, attempt, answer)
        deliver_all_until(world, world.now_ms + 4 * DAY, answer)
        return [
            (one.event_type, one.attempt, one.status, one.next_attempt_at_ms) for one in webhooks.all_deliveries(world)
        ]

    first, *others = [run(answered_before) for answered_before in range(6)]
    assert first
    assert others == 5 * [first]


def test_a_deleted_endpoint_gets_no_retry() -> None:
    world = webhook_world()
    endpoint = register(world)
    happen(world)
    drain(world, BROKEN)
    call(world, "DELETE", "/webhooks/{id}", id=endpoint)
    assert deliver_all_until(world, world.now_ms + 4 * DAY, OK) == []


def test_a_test_event_is_resent_to_its_endpoint_only() -> None:
    world = webhook_world()
    register(world)
    endpoint = register(world, events=("news.good",))
    envelope = call(world, "POST", "/webhooks/{id}/test", id=endpoint)
    drain(world)
    assert resend(world, envelope["id"]) == 1
    assert [attempt.endpoint_id for attempt in drain(world)] == [endpoint]
    call(world, "PATCH", "/webhooks/{id}", {"status": "disabled"}, id=endpoint)
    assert resend(world, envelope["id"]) == 0


def test_resending_an_unknown_event_is_a_lookup_error() -> None:
    with pytest.raises(LookupError):
        resend(webhook_world(), "evt_unknown")


def test_response_order_changes_no_ids_records_or_timers() -> None:
    def run(backwards: bool) -> tuple[object, object, object]:
        world = webhook_world()
        for _ in range(3):
            register(world)
        for _ in range(2):
            happen(world)
        while attempts := take(world):
            for attempt in reversed(attempts) if backwards else attempts:
                report(world, attempt, BROKEN)
        deliveries = [webhooks.shapes.render_delivery(world, row) for row in webhooks.all_deliveries(world)]
        timers = [(timer.due_at_ms, timer.target) for timer in world.agenda.in_firing_order()]
        endpoint = deliveries[0]["endpoint_id"]
        return deliveries, timers, call(world, "GET", "/webhooks/{id}/deliveries", id=endpoint)

    assert run(backwards=False) == run(backwards=True)


def test_deliveries_are_found_by_event_endpoint_and_status() -> None:
    world = webhook_world()
    one, two = register(world), register(world)
    first, second = happen(world), happen(world)
    drain(world, lambda attempt: OK if attempt.endpoint_id == one else BROKEN)
    assert len(webhooks.all_deliveries(world)) == 4
    assert {row.endpoint_id for row in webhooks.all_deliveries(world, event_id=first.id)} == {one, two}
    assert {row.event_id for row in deliveries_of(world, two).values()} == {first.id, second.id}
    assert {row.endpoint_id for row in webhooks.all_deliveries(world, status="failed")} == {two}
    call(world, "DELETE", "/webhooks/{id}", id=two)
    assert len(deliveries_of(world, two)) == 2
    assert len(webhooks.all_deliveries(world)) == 4


def test_a_disabled_queue_waits_for_its_attempt_in_flight() -> None:
    world = webhook_world()
    endpoint = register(world)
    happen(world)
    (flying,) = take(world)
    call(world, "PATCH", "/webhooks/{id}", {"status": "disabled"}, id=endpoint)
    call(world, "PATCH", "/webhooks/{id}", {"status": "enabled"}, id=endpoint)
    fresh = happen(world)
    assert take(world) == []
    report(world, flying)
    assert [attempt.event_id for attempt in take(world)] == [fresh.id]


def test_disabling_before_the_attempt_started_frees_the_line() -> None:
    world = webhook_world()
    endpoint = register(world)
    happen(world)
    call(world, "PATCH", "/webhooks/{id}", {"status": "disabled"}, id=endpoint)
    call(world, "PATCH", "/webhooks/{id}", {"status": "enabled"}, id=endpoint)
    fresh = happen(world)
    assert [attempt.event_id for attempt in drain(world)] == [fresh.id]
