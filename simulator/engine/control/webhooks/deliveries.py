"""Attempts to deliver events: all of them, and one with those of the same event, made and to come."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, NotRequired

from typing_extensions import TypedDict

from simulator.engine.control.call import ControlCall
from simulator.engine.control.operation import (
    LIMIT,
    Query,
    Raw,
    any_text,
    calls_under,
    event_name,
    known_event,
    one_of,
)
from simulator.engine.control.refusals import wrong
from simulator.engine.records.dropped_rows import rows_dropped
from simulator.engine.rows.error import ControlError
from simulator.engine.server.running.slices import json_list
from simulator.engine.text.json import dumps
from simulator.engine.text.shapes import Count, OneOf, Timestamp
from simulator.engine.webhooks import (
    DELIVERIES,
    DELIVERY_MEANINGS,
    Delivery,
    all_deliveries,
    delivery_of,
    endpoint_of,
    retries_ahead,
)
from simulator.engine.webhooks import shapes as webhooks
from simulator.kernel.clock import format_timestamp

operation = calls_under("Seeing")

_DELIVERIES: Query = {
    "event_id": any_text("Only attempts to deliver this event."),
    "endpoint_id": any_text("Only attempts to deliver to this endpoint."),
    "status": one_of(DELIVERY_MEANINGS, "Only attempts that ended like this."),
    "event_type": event_name("Only attempts to deliver events of this type."),
    **LIMIT,
}


class DeliveryList(TypedDict):
    data: list[webhooks.RecordedDelivery]
    """The attempts, oldest first."""
    dropped: NotRequired[Count]
    """How many attempts could not be read and were dropped; left out when there are none."""
    truncated: NotRequired[Literal[True]]
    """Present when attempts were dropped."""


class ScheduledAttempt(TypedDict):
    id: str | None
    """The delivery that it became; null for one to come."""
    attempt: Count | None
    """Its number; null for one to come."""
    at: Timestamp
    """When it was made; of one to come, when it will be if those before it fail at once."""
    status: Annotated[str, OneOf({**DELIVERY_MEANINGS, "planned": "It is to come, while all before it fail."})]
    """What came of it."""
    response_status: int | None
    """What the receiver answered; null when it did not, or has not yet."""


class DeliveryStory(webhooks.RecordedDelivery):
    schedule: list[ScheduledAttempt]
    """All attempts of its event at its endpoint: those made, and the retries to come."""
    endpoint_status: str
    """Whether the endpoint gets events now: its status."""


@operation("GET /deliveries", "Every delivery attempt", query=_DELIVERIES)
async def deliveries(call: ControlCall) -> Raw[DeliveryList]:
    """The delivery attempts by event, endpoint, status and event type; the newest `limit`, oldest first."""
    names = ("event_id", "endpoint_id", "status", "event_type")
    event_id, endpoint_id, status, event_type = (call.query.get(name) or None for name in names)
    if status is not None and status not in DELIVERY_MEANINGS:
        raise wrong("status", f"it is {' or '.join(DELIVERY_MEANINGS)}")
    if event_type is not None:
        known_event(call.world, "event_type", event_type)
    world, limit = call.world, call.limit()
    found = all_deliveries(
        world, event_id=event_id, status=status, endpoint_id=endpoint_id, event_type=event_type, limit=limit
    )
    dropped = rows_dropped(world, DELIVERIES)
    lost = {"dropped": dropped, "truncated": True} if dropped else {}
    return Raw(await json_list(found, lambda row: dumps(webhooks.render_recorded_delivery(world, row)), **lost))


@operation("GET /deliveries/{id}", "One attempt and its schedule")
async def get_delivery(call: ControlCall) -> DeliveryStory:
    """One attempt, and the schedule that it is part of; 404 for an id that there is not."""
    world = call.world
    delivery = delivery_of(world, call.path["id"])
    if delivery is None:
        raise ControlError(404, "not_found", f"There is no delivery with the id {call.path['id']!r}.")
    endpoint = endpoint_of(world, delivery.endpoint_id)
    return {
        **webhooks.render_recorded_delivery(world, delivery),
        "schedule": list(_schedule(call, delivery)),
        "endpoint_status": "deleted" if endpoint is None else endpoint.status,
    }


def _schedule(call: ControlCall, delivery: Delivery) -> Iterator[ScheduledAttempt]:
    event_id, endpoint_id = delivery.event_id, delivery.endpoint_id
    for made in all_deliveries(call.world, event_id=event_id, endpoint_id=endpoint_id):
        yield {
            "id": made.id,
            "attempt": made.attempt,
            "at": format_timestamp(made.created_at_ms),
            "status": made.status,
            "response_status": made.response_status,
        }
    for at_ms in retries_ahead(call.world, event_id=event_id, endpoint_id=endpoint_id):
        at = format_timestamp(at_ms)
        yield {"id": None, "attempt": None, "at": at, "status": "planned", "response_status": None}
