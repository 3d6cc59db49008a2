"""Finding the deliveries of an event, and their order."""

from __future__ import annotations

from simulator.engine.webhooks import all_deliveries, deliveries_about
from tests.unit.engine.webhooks.support import BROKEN, OK, drain, happen, register, webhook_world


def test_deliveries_are_found_by_event_and_by_status_in_their_order() -> None:
    world = webhook_world()
    one, two = register(world), register(world, "https://second.example.com/hooks")
    first, second = happen(world), happen(world)
    drain(world, lambda attempt: OK if attempt.event_id == first.id else BROKEN)
    rows = all_deliveries(world)
    assert [(row.event_id, row.endpoint_id) for row in rows] == [
        (event.id, endpoint) for event in (first, second) for endpoint in (one, two)
    ]
    assert all_deliveries(world, event_id=second.id) == rows[2:]
    assert all_deliveries(world, status="succeeded") == rows[:2]
    assert all_deliveries(world, event_id=second.id, status="succeeded") == []


def test_what_is_looked_up_of_some_events_is_what_a_search_finds() -> None:
    """All attempts at all endpoints of their environment, and no others."""
    world = webhook_world()
    register(world)
    register(world, "https://second.example.com/hooks")
    register(world, environment="open")
    events = [happen(world) for _ in range(3)] + [happen(world, environment="open")]
    drain(world, BROKEN)
    for _ in range(8):
        world.fire_next(world.now_ms + 3_600_000)
        drain(world, BROKEN)
    some = [events[2].id, events[0].id]
    found = deliveries_about(world, "practice", some)
    assert max(row.attempt for row in found) > 1
    assert found == [row for row in all_deliveries(world) if row.event_id in some]
    assert deliveries_about(world, "open", some) == []
