"""Control calls about delivery attempts and their schedules, and a call that resends an event."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, NotRequired

from typing_extensions import TypedDict

from simulator.engine import webhooks
from simulator.engine.control.call import ControlCall
from simulator.engine.control.history.events import DeliveryCount, event_of
from simulator.engine.control.operation import LIMIT, WAIT, Raw, any_text, calls_under, event_name, one_of
from simulator.engine.control.refusals import invalid_parameter, invalid_state, not_found
from simulator.engine.control.scenarios.faults import require_in_time
from simulator.engine.control.shapes import describe_dropped
from simulator.engine.faults import models as faults
from simulator.engine.faults.effects import OF_FIRST_ATTEMPTS
from simulator.engine.faults.in_force import DeliveryPlan
from simulator.engine.records.dropped_rows import rows_dropped
from simulator.engine.records.records import find
from simulator.engine.server.running.chunks import json_list
from simulator.engine.text.fields import Body, Text
from simulator.engine.text.json import dumps
from simulator.engine.text.shapes import Count, OneOf, Timestamp
from simulator.engine.webhooks import shapes
from simulator.kernel.clock import format_timestamp
from simulator.kernel.journal import Cause, Event

operation = calls_under("Seeing")

_DELIVERIES = {
    "event_id": any_text("Only attempts for this event."),
    "endpoint_id": any_text("Only attempts at this endpoint."),
    "status": one_of(webhooks.records.DELIVERY_MEANINGS, "Only attempts with this status."),
    "event_type": event_name("Only attempts for events of this type."),
    **LIMIT,
}


class DeliveryList(TypedDict):
    data: list[shapes.RecordedDelivery]
    """The attempts, oldest first."""
    dropped: NotRequired[Count]
    """The number of attempts that could not be read and were dropped; omitted if there are none."""
    truncated: NotRequired[Literal[True]]
    """Present if attempts were dropped."""


class ScheduledAttempt(TypedDict):
    id: str | None
    """The id of the attempt; null for a planned one."""
    attempt: Count | None
    """The number of the attempt, from 1; null for a planned one."""
    at: Timestamp
    """The time of the attempt. For a planned attempt, the due time if all earlier attempts fail immediately."""
    status: Annotated[
        str,
        OneOf(
            {**webhooks.records.DELIVERY_MEANINGS, "planned": "A retry, which is sent if all earlier attempts fail."}
        ),
    ]
    """The status of the attempt."""
    response_status: int | None
    """The status of the receiver's response; null if there is none yet."""


class DeliveryStory(shapes.RecordedDelivery):
    schedule: list[ScheduledAttempt]
    """All attempts for the same event and endpoint, followed by the planned retries."""
    endpoint_status: str
    """The status of the endpoint."""


class ResendBody(Body):
    """Options of a resend. Without a body, the event is sent to all subscribed endpoints without a fault."""

    endpoint_id: Text | None = None
    """The only endpoint to send the event to. The endpoint must be enabled and subscribed to the event."""
    deliver: faults.Deliver | None = None
    """A fault that applies only to the attempts of this resend. No other faults apply to these attempts."""


@operation("POST /events/{id}/resend", "Send an event again", body=ResendBody, query=WAIT, recorded_as="nothing")
async def resend_event(call: ControlCall) -> DeliveryCount:
    """Send an event again, with the same id and bytes, to one endpoint or to all enabled and subscribed endpoints. Use
    this call to test how your receiver handles duplicates or, with `deliver`, a faulty delivery. The fields of
    `deliver` that change the order of first attempts (`reorder`, `hold`, `before_answer`) are refused with 400. Fails
    with 409 invalid_state if the endpoint is not enabled or not subscribed (decision W11).
    """
    world, event, body = call.world, event_of(call), call.body
    call.patience()
    if body.endpoint_id is not None:
        endpoint = find(call.world, body.endpoint_id)
        if endpoint is None or endpoint.kind != "webhook":
            raise not_found("webhook endpoint", body.endpoint_id, "/resources?type=webhook", "endpoint_id")
        if body.endpoint_id not in (one.id for one in webhooks.recipients(call.world, event)):
            why = f"it is not subscribed to {event.type}"
            if endpoint.status != "enabled":
                why = f"it is {endpoint.status}"
            if endpoint.environment != event.environment:
                why = f"the endpoint belongs to {endpoint.environment}, but the event to {event.environment}"
            raise invalid_state(f"The endpoint {body.endpoint_id} does not receive this event: {why}.", "endpoint_id")
    plan = None if body.deliver is None else _plan(call, event, body.deliver)
    with world.change(Cause("action", "resend", "control")):
        count = webhooks.resend(world, event.id, body.endpoint_id, plan)
    await call.settle(world)
    return {"deliveries": count}


def _plan(call: ControlCall, event: Event, deliver: faults.Deliver) -> DeliveryPlan:
    """Return the fault for the attempts of a resend. The fault is validated like any webhook fault."""
    for name in OF_FIRST_ATTEMPTS:
        if getattr(deliver, name):
            why = "it applies only to first attempts, and this event was already sent"
            raise invalid_parameter(f"deliver.{name}", why)
    about = {"event": event.type} if event.type in call.simulator.vocabulary.events else {}
    asked = deliver.model_dump(exclude_unset=True, exclude_none=True)
    faults.check_fault({"webhook": about, "deliver": asked}, call.simulator.vocabulary)
    require_in_time(call.world, deliver)
    return DeliveryPlan.of("", deliver)


@operation("GET /deliveries", "List the delivery attempts", query=_DELIVERIES)
async def deliveries(call: ControlCall) -> Raw[DeliveryList]:
    """List the delivery attempts. Each one contains the exact bytes sent and the receiver's response."""
    world, event_type = call.world, call.given("event_type")
    if event_type is not None:
        call.require_event("event_type", event_type)
    found = webhooks.all_deliveries(
        world,
        event_id=call.given("event_id"),
        status=call.choice("status", webhooks.records.DELIVERY_MEANINGS),
        endpoint_id=call.given("endpoint_id"),
        event_type=event_type,
        limit=call.limit(),
    )
    more = describe_dropped(rows_dropped(world, webhooks.records.DELIVERIES))
    return Raw(await json_list(found, lambda row: dumps(shapes.render_recorded_delivery(world, row)), **more))


@operation("GET /deliveries/{id}", "Get a delivery attempt and its schedule")
async def get_delivery(call: ControlCall) -> DeliveryStory:
    """Return a delivery attempt, all attempts for the same event and endpoint, and the planned retries."""
    world = call.world
    delivery = webhooks.delivery_of(world, call.path["id"])
    if delivery is None:
        raise not_found("delivery", call.path["id"], "/deliveries")
    endpoint = webhooks.endpoint_of(world, delivery.endpoint_id)
    return {
        **shapes.render_recorded_delivery(world, delivery),
        "schedule": list(_schedule(call, delivery)),
        "endpoint_status": "deleted" if endpoint is None else endpoint.status,
    }


def _schedule(call: ControlCall, delivery: webhooks.Delivery) -> Iterator[ScheduledAttempt]:
    event_id, endpoint_id = delivery.event_id, delivery.endpoint_id
    for made in webhooks.all_deliveries(call.world, event_id=event_id, endpoint_id=endpoint_id):
        yield {
            "id": made.id,
            "attempt": made.attempt,
            "at": format_timestamp(made.created_at_ms),
            "status": made.status,
            "response_status": made.response_status,
        }
    for at_ms in webhooks.retries_ahead(call.world, event_id=event_id, endpoint_id=endpoint_id):
        at = format_timestamp(at_ms)
        yield {"id": None, "attempt": None, "at": at, "status": "planned", "response_status": None}
