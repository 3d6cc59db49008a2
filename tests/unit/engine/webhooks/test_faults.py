"""Webhook faults: copies, delays, reordering and losses (control interface, chapter "Faults")."""

from __future__ import annotations

from simulator.engine import webhooks
from simulator.engine.faults.in_force import FAULTS, FaultEntry
from simulator.engine.webhooks import Attempt
from simulator.engine.webhooks.delivery import attempts
from simulator.engine.webhooks.shapes import render_recorded_delivery
from simulator.kernel.clock import MINUTE_MS
from simulator.kernel.dataclass import replace
from simulator.kernel.journal import Cause
from simulator.kernel.world import World
from tests.unit.engine.webhooks.support import (
    BROKEN,
    OK,
    add_fault,
    deliver_all_until,
    drain,
    happen,
    register,
    report,
    status_of,
    take,
    webhook_world,
)


def events_of(attempts: list[Attempt]) -> list[str]:
    return [attempt.event_id for attempt in attempts]


def fault(world: World) -> FaultEntry:
    (row,) = world.store[FAULTS].values()
    return row


def test_copies_follow_one_another_and_only_the_first_is_retried() -> None:
    world = webhook_world()
    register(world)
    add_fault(world, deliver={"copies": 3}, times=1)
    first, second = happen(world), happen(world)
    start = world.now_ms
    assert len(take_and_answer(world)) == 1
    made = drain(world, BROKEN)
    assert events_of(made) == [first.id, first.id, second.id]
    retries = deliver_all_until(world, start + MINUTE_MS, OK)
    assert [(attempt.event_id, attempt.number) for attempt in retries] == [(first.id, 4), (second.id, 2)]
    assert fault(world)["hits"] == 1


def test_a_fault_matches_events_of_its_time_for_any_receiver() -> None:
    world = webhook_world()
    slow, _quick = register(world), register(world, "https://quick.example.com/hooks")
    happen(world)
    add_fault(world, deliver={"alter_body": True}, times=1)
    second = happen(world)
    to_slow, to_quick = take(world)
    report(world, to_quick)
    drain(world)
    report(world, to_slow)
    drain(world)
    altered = [row for row in webhooks.all_deliveries(world) if row.altered]
    assert [(row.event_id, row.endpoint_id) for row in altered] == [(second.id, slow)]


def test_a_fault_that_ended_still_affects_a_queued_event() -> None:
    world = webhook_world()
    register(world)
    happen(world)
    add_fault(world, deliver={"alter_body": True})
    second = happen(world)
    with world.change(Cause("action", "test")):
        for fault_id in list(world.store[FAULTS].rows):
            webhooks.end_fault(world, fault_id)
    happen(world)
    drain(world)
    assert [row.event_id for row in webhooks.all_deliveries(world) if row.altered] == [second.id]


def take_and_answer(world: World) -> list[Attempt]:
    attempts = take(world)
    for attempt in attempts:
        report(world, attempt, BROKEN)
    return attempts


def test_times_counts_attempts_retries_included() -> None:
    world = webhook_world()
    register(world)
    add_fault(world, deliver={"corrupt_signature": True}, times=2)
    happen(world)
    made = deliver_all_until(world, world.now_ms + 6 * MINUTE_MS, BROKEN)
    assert [bool(attempt.pending.plan and attempt.pending.plan.corrupt_signature) for attempt in made] == [
        True,
        True,
        False,
    ]
    assert (fault(world)["times_left"], fault(world)["hits"]) == (0, 2)


def test_copies_of_a_retry_start_together() -> None:
    world = webhook_world()
    register(world)
    happen(world)
    drain(world, BROKEN)
    add_fault(world, deliver={"copies": 2}, times=1)
    world.fire_due(world.now_ms + MINUTE_MS)
    assert [attempt.number for attempt in take(world)] == [2, 3]


def test_delivery_says_whether_it_is_a_retry_a_copy_or_a_resend() -> None:
    world = webhook_world()
    endpoint = register(world)
    event = happen(world)
    drain(world, BROKEN)
    add_fault(world, deliver={"copies": 2}, times=1)
    deliver_all_until(world, world.now_ms + MINUTE_MS, OK)
    with world.change(Cause("control", "resend")):
        webhooks.resend(world, event.id)
    drain(world)
    made = [render_recorded_delivery(world, row) for row in webhooks.all_deliveries(world, endpoint_id=endpoint)]
    fault_id = fault(world)["id"]
    assert [(row["attempt"], row["cause"], row["fault_id"]) for row in made] == [
        (1, "first", None),
        (2, "retry", fault_id),
        (3, "copy", fault_id),
        (4, "resend", None),
    ]


def test_delivery_saved_without_a_cause_says_first_or_retry() -> None:
    world = webhook_world()
    endpoint = register(world)
    happen(world)
    drain(world, BROKEN)
    deliver_all_until(world, world.now_ms + MINUTE_MS, OK)
    saved = [replace(row, cause=None) for row in webhooks.all_deliveries(world, endpoint_id=endpoint)]
    assert [render_recorded_delivery(world, row)["cause"] for row in saved] == ["first", "retry"]


def test_a_delayed_delivery_lets_others_overtake_it() -> None:
    world = webhook_world()
    register(world)
    add_fault(world, webhook={"event": "news.good"}, deliver={"delay": "2m"})
    late, second = happen(world, "news.good"), happen(world)
    assert events_of(drain(world)) == [second.id]
    due = world.now_ms + 2 * MINUTE_MS
    assert drain(world) == []
    made = deliver_all_until(world, due, OK)
    assert [(attempt.event_id, attempt.started_at_ms, attempt.number) for attempt in made] == [(late.id, due, 1)]
    assert fault(world)["hits"] == 1


def test_a_delayed_delivery_is_dropped_when_the_endpoint_is_deleted_or_disabled() -> None:
    world = webhook_world()
    endpoint = register(world)
    add_fault(world, deliver={"delay": 30})
    happen(world)
    with world.change(world.cause):
        attempts.discard_pending(world, endpoint)
    assert len(world.agenda) == 0


def test_a_reordered_delivery_goes_right_after_the_next_first_attempt() -> None:
    world = webhook_world()
    register(world)
    add_fault(world, webhook={"event": "news.good"}, deliver={"reorder": True})
    held = happen(world, "news.good")
    assert take(world) == []
    second, third = happen(world), happen(world)
    (going,) = take(world)
    assert going.event_id == second.id
    assert take(world) == []
    report(world, going)
    assert events_of(drain(world)) == [held.id, third.id]


def test_a_delay_counts_towards_a_hold() -> None:
    world = webhook_world()
    register(world)
    add_fault(world, webhook={"event": "news.good"}, deliver={"delay": "2m", "reorder": True})
    held = happen(world, "news.good")
    second = happen(world)
    assert events_of(drain(world)) == [second.id]
    assert events_of(deliver_all_until(world, world.now_ms + 2 * MINUTE_MS, OK)) == [held.id]


def test_a_delayed_delivery_is_held_if_nothing_else_went() -> None:
    world = webhook_world()
    register(world)
    before = happen(world)
    drain(world)
    add_fault(world, webhook={"event": "news.good"}, deliver={"delay": "2m", "reorder": True})
    held = happen(world, "news.good")
    assert deliver_all_until(world, world.now_ms + 2 * MINUTE_MS, OK) == []
    after = happen(world)
    assert events_of(drain(world)) == [after.id, held.id]
    assert before.id != after.id


def test_one_that_is_held_does_not_release_another() -> None:
    world = webhook_world()
    register(world)
    add_fault(world, webhook={"event": "news.good"}, deliver={"reorder": True})
    first, second = happen(world, "news.good"), happen(world, "news.good")
    assert drain(world) == []
    third = happen(world)
    assert events_of(drain(world, BROKEN)) == [third.id, first.id, second.id]


def test_a_retry_does_not_release_a_held_delivery() -> None:
    world = webhook_world()
    register(world)
    first = happen(world)
    drain(world, BROKEN)
    add_fault(world, webhook={"event": "news.good"}, deliver={"reorder": True})
    held = happen(world, "news.good")
    made = deliver_all_until(world, world.now_ms + MINUTE_MS, OK)
    assert events_of(made) == [first.id]
    fresh = happen(world)
    assert events_of(drain(world)) == [fresh.id, held.id]


def test_a_dropped_delivery_is_recorded_only() -> None:
    world = webhook_world()
    endpoint = register(world)
    add_fault(world, deliver={"drop": True}, times=1)
    lost, second = happen(world), happen(world)
    assert events_of(drain(world)) == [second.id]
    (record,) = webhooks.all_deliveries(world, event_id=lost.id)
    assert (record.status, record.response_status, record.next_attempt_at_ms) == ("failed", None, None)
    assert (record.error, record.was_dropped) == ("dropped by the fault flt_1", True)
    assert len(world.agenda) == 0
    assert status_of(world, endpoint) == "enabled"


def test_only_the_first_matching_fault_applies() -> None:
    world = webhook_world()
    one, two = register(world), register(world)
    add_fault(world, webhook={"event": "news.good", "endpoint_id": two}, deliver={"drop": True})
    add_fault(world, webhook={"endpoint_id": two}, deliver={"stale_timestamp": True})
    happen(world, "news.good")
    happen(world, "news.bad")
    made = drain(world)
    assert [attempt.endpoint_id for attempt in made].count(one) == 2
    (disturbed,) = [attempt for attempt in made if attempt.endpoint_id == two]
    assert disturbed.pending.plan is not None
    assert disturbed.pending.plan.stale_timestamp


def test_faults_of_interface_calls_are_left_alone() -> None:
    world = webhook_world()
    register(world)
    with world.change(world.cause):
        row: FaultEntry = {
            "id": "flt_x",
            "match": {},
            "respond": {"status": 503},  # type: ignore[typeddict-unknown-key]  # only the state is typed
            "times_left": None,
            "hits": 0,
            "scenario": None,
        }
        world.store[FAULTS].put("flt_x", row)
    happen(world)
    assert len(drain(world)) == 1
    assert fault(world) == row


def test_a_probability_is_drawn_from_the_seed() -> None:
    def dropped() -> list[str]:
        world = webhook_world()
        register(world)
        add_fault(world, deliver={"drop": True}, probability=0.5)
        for _ in range(40):
            happen(world)
        drain(world)
        return [row.event_id for row in webhooks.all_deliveries(world, status="failed")]

    assert dropped() == dropped()
    assert 5 < len(dropped()) < 35


def _mixed(world: World, *, slow: str = "") -> list[str]:
    """Three events at one instant, some held, copied or resent; answers of `slow` come last. The attempts as made."""
    add_fault(world, webhook={"event": "news.good"}, deliver={"reorder": True})
    add_fault(world, webhook={"event": "news.bad"}, deliver={"copies": 2})
    first = happen(world, "loan.returned")
    happen(world, "news.good")
    happen(world, "news.bad")
    happen(world, "news.old")
    made: list[str] = []
    waiting: list[Attempt] = []
    while attempts := [*waiting, *take(world)]:
        waiting = []
        quick = [attempt for attempt in attempts if attempt.endpoint_id != slow]
        for attempt in attempts:
            made += [attempt.id] * (attempt.id not in made)
        for attempt in quick or attempts:
            report(world, attempt)
        waiting = [attempt for attempt in attempts if quick and attempt.endpoint_id == slow]
    with world.change(Cause("action", "resend")):
        webhooks.resend(world, first.id)
    made += [attempt.id for attempt in drain(world)]
    return made


def test_deliveries_are_listed_as_they_went_out() -> None:
    world = webhook_world()
    one, other = register(world), register(world, events=("news.good", "news.old"))
    made = _mixed(world)
    listed = webhooks.all_deliveries(world)
    for endpoint in (one, other):
        own = [delivery.id for delivery in listed if delivery.endpoint_id == endpoint]
        assert own == [identifier for identifier in made if identifier in own]
    types = [delivery.event_type for delivery in listed if delivery.endpoint_id == one]
    assert types == [
        "loan.returned", "news.bad", "news.bad", "news.good", "news.old",
        "loan.returned",
    ]  # fmt: skip


def test_delivery_order_does_not_depend_on_response_order() -> None:
    listed = []
    for slow in (0, 1, 2):
        world = webhook_world()
        endpoints = ["", register(world), register(world, events=("news.good", "news.old"))]
        _mixed(world, slow=endpoints[slow])
        listed.append([delivery.id for delivery in webhooks.all_deliveries(world)])
    assert listed[0] == listed[1] == listed[2]


def test_attempts_due_at_the_same_time_follow_a_new_event() -> None:
    world = webhook_world()
    register(world)
    happen(world, "news.good")
    drain(world, BROKEN)
    world.clock.move_to(world.now_ms + MINUTE_MS)
    happen(world, "news.bad")
    world.fire_due()
    made = [attempt.id for attempt in drain(world)]
    assert [delivery.id for delivery in webhooks.all_deliveries(world)][1:] == made
