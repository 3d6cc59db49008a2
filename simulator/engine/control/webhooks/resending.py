"""Sending an event again: to everybody who would get it now, or to one endpoint, as it should go or with a fault."""

from __future__ import annotations

from simulator.engine import webhooks
from simulator.engine.control.call import ControlCall
from simulator.engine.control.history.queries import DeliveryCount, event_of
from simulator.engine.control.operation import WAIT, calls_under
from simulator.engine.control.refusals import wrong
from simulator.engine.control.scenarios.faults import require_in_time
from simulator.engine.faults import models as faults
from simulator.engine.faults.in_force import DeliveryPlan
from simulator.engine.records.records import find
from simulator.engine.rows.error import ControlError
from simulator.engine.text.fields import Body, Text
from simulator.kernel.journal import Cause, Event

operation = calls_under("Seeing")


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
        count = webhooks.resend(world, event.id, body.endpoint_id, plan)
    await call.settle(world)
    return {"deliveries": count}


def _require_recipient(call: ControlCall, event: Event, endpoint_id: str) -> None:
    endpoint = find(call.world, endpoint_id)
    if endpoint is None or endpoint.kind != "webhook":
        raise ControlError(404, "not_found", f"There is no webhook endpoint {endpoint_id!r}.", "endpoint_id")
    if endpoint_id not in (one.id for one in webhooks.recipients(call.world, event)):
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
