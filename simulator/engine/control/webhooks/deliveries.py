"""Attempts to deliver events: all of them, one with those of the same event, and an event that is sent again.

It is sent again to everybody who would get it now, or to one endpoint, as it should go or with a fault.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, NotRequired

from typing_extensions import TypedDict

from simulator.engine.control.call import ControlCall
from simulator.engine.control.history.queries import DeliveryCount, event_of
from simulator.engine.control.operation import (
    LIMIT,
    WAIT,
    Query,
    Raw,
    any_text,
    calls_under,
    event_name,
    known_event,
    one_of,
)
from simulator.engine.control.refusals import wrong
from simulator.engine.control.scenarios.faults import require_in_time
from simulator.engine.faults import models as faults
from simulator.engine.faults.in_force import DeliveryPlan
from simulator.engine.records.dropped_rows import rows_dropped
from simulator.engine.records.records import find
from simulator.engine.rows.error import ControlError
from simulator.engine.server.running.chunks import json_list
from simulator.engine.text.fields import Body, Text
from simulator.engine.text.json import dumps
from simulator.engine.text.shapes import Count, OneOf, Timestamp
from simulator.engine.webhooks import (
    DELIVERIES,
    DELIVERY_MEANINGS,
    Delivery,
    all_deliveries,
    delivery_of,
    endpoint_of,
    recipients,
    resend,
    retries_ahead,
)
from simulator.engine.webhooks import shapes as webhooks
from simulator.kernel.clock import format_timestamp
from simulator.kernel.journal import Cause, Event

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


class ResendBody(Body):
    """Left out as a whole: to everybody, as it should go."""

    endpoint_id: Text | None = None
    """Only to this endpoint, which has to be enabled and subscribed."""
    deliver: faults.Deliver | None = None
    """What is to go wrong with it, this once, as in a fault; faults in force then leave it alone."""


@operation("POST /events/{id}/resend", "Send an event again", body=ResendBody, query=WAIT, recorded_as="nothing")
async def resend_event(call: ControlCall) -> DeliveryCount:
    """Send an event again to every endpoint now enabled and subscribed (decision W11), or to one of them.

    With `deliver` it goes with that fault, once. What orders first attempts (`reorder`, `hold`, `before_answer`) is 400
    there, an endpoint that does not get the event 409 invalid_state.
    """
    world, event, body = call.world, event_of(call), call.body
    call.patience()
    if body.endpoint_id is not None:
        _require_recipient(call, event, body.endpoint_id)
    plan = None if body.deliver is None else _plan(call, event, body.deliver)
    with world.change(Cause("action", "resend", "control")):
        count = resend(world, event.id, body.endpoint_id, plan)
    await call.settle(world)
    return {"deliveries": count}


def _require_recipient(call: ControlCall, event: Event, endpoint_id: str) -> None:
    endpoint = find(call.world, endpoint_id)
    if endpoint is None or endpoint.kind != "webhook":
        raise ControlError(404, "not_found", f"There is no webhook endpoint {endpoint_id!r}.", "endpoint_id")
    if endpoint_id not in (one.id for one in recipients(call.world, event)):
        why = f"it is {endpoint.status}" if endpoint.status != "enabled" else f"it is not subscribed to {event.type}"
        if endpoint.environment != event.environment:
            why = f"it is of {endpoint.environment}, the event of {event.environment}"
        raise ControlError(409, "invalid_state", f"The endpoint {endpoint_id} does not get it: {why}.", "endpoint_id")


def _plan(call: ControlCall, event: Event, deliver: faults.Deliver) -> DeliveryPlan:
    """What becomes of the attempts; refused like a fault of deliveries that says the same."""
    for name in faults.OF_FIRST_ATTEMPTS:
        if getattr(deliver, name):
            raise wrong(f"deliver.{name}", "it is about first attempts, which an event sent again is not")
    about = {"event": event.type} if event.type in call.simulator.vocabulary.events else {}
    asked = deliver.model_dump(exclude_unset=True, exclude_none=True)
    faults.check_fault({"webhook": about, "deliver": asked}, call.simulator.vocabulary)
    require_in_time(call.world, deliver)
    return DeliveryPlan.of("", deliver)


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
