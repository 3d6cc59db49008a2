"""Control calls that advance the clock, and a call that lists the planned timers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NotRequired

from typing_extensions import TypedDict

from simulator.engine.control.call import ControlCall
from simulator.engine.control.objects.inspection import show_held, show_timer
from simulator.engine.control.objects.inspection_shapes import StoryTimer
from simulator.engine.control.operation import LIMIT, WAIT, any_text, calls_under
from simulator.engine.control.refusals import invalid_parameter, invalid_state
from simulator.engine.control.shapes import AdvanceReceipt, show_receipt
from simulator.engine.control.time.clock import moment
from simulator.engine.records.records import find, kind_of, no_resource
from simulator.engine.rows.error import ControlError
from simulator.engine.scenario.play.delays import held_steps
from simulator.engine.server.running.advance import Target
from simulator.engine.text.fields import Body, Text, parse
from simulator.engine.text.shapes import Timestamp
from simulator.engine.text.strict import refuse_names, refuse_unknown
from simulator.kernel.clock import DAY_MS, LAST_MS, format_duration, format_timestamp, parse_duration
from simulator.kernel.world import World

operation = calls_under("Clock")

WAYS = ("by", "to", "to_next_timer", "until")
"""The fields that set how far the clock advances. A request must contain exactly one of these fields."""

DEFAULT_HORIZON_MS = 3652 * DAY_MS
"""The default limit of an advance with `until`: ten simulated years."""

_DURATION: Mapping[str, Any] = {
    "anyOf": [
        {"type": "string", "examples": ["500ms", "20s", "2h30m", "3d", "PT90S"]},
        {"type": "number", "minimum": 0, "description": "Seconds."},
    ]
}


def _object(*required: str, **properties: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"type": "object", "required": list(required), "properties": properties}


ADVANCE: Mapping[str, Any] = {
    "title": "Advance",
    "description": "How far to advance the clock. Give exactly one of these fields.",
    "oneOf": [
        _object("by", by={**_DURATION, "description": "The duration to advance by."}),
        _object("to", to={"type": "string", "format": "date-time", "description": "The time to advance to."}),
        _object(
            "to_next_timer", to_next_timer={"const": True, "description": "Advance to the next timer, if there is one."}
        ),
        _object(
            "until",
            until={
                "description": "The event or status to wait for.",
                "oneOf": [
                    _object(
                        "event",
                        event=any_text("The event type to wait for."),
                        object_id={"type": ["string", "null"], "description": "Only events about this resource."},
                    ),
                    _object(
                        "resource",
                        "status",
                        resource=any_text("The resource to watch, by id."),
                        status=any_text("The status to wait for."),
                    ),
                ],
            },
            horizon={**_DURATION, "description": "The maximum duration of the advance. The default is 3652d."},
            partial={"type": "boolean", "description": "Return 200 with `reached` false instead of 409."},
        ),
    ],
}
"""The body of POST /_simulator/clock/advance."""


class UntilEvent(Body):
    event: Text
    """The event type to wait for."""
    object_id: Text | None = None
    """Only events about the resource with this id match."""


class UntilStatus(Body):
    resource: Text
    """The resource to watch, by id."""
    status: Text
    """The status to wait for."""


# The goal is parsed inside `until`, so that errors name parameters as in the request, such as `until.event`.
class EventGoal(Body):
    until: UntilEvent


class StatusGoal(Body):
    until: UntilStatus


@operation("POST /clock/advance", "Advance the clock", takes="raw", accepts=ADVANCE, query=WAIT, recorded_as="time")
async def advance(call: ControlCall) -> AdvanceReceipt:
    """Advance the clock, and fire each timer at its due time. Webhooks are delivered during the advance. Use this call
    instead of waiting: advance by a duration, to a time, to the next timer, or until an event or a status. Fails with
    409 clock_busy during another advance. The errors 409 not_reached and 409 advance_cancelled contain the result so
    far in `error.receipt`.
    """
    world, raw = call.world, call.raw
    refuse_names(raw, (*WAYS, "horizon", "partial"))
    ways = [name for name in WAYS if raw.get(name) is not None]
    if not ways:
        message = "The body does not say how far to advance. Give exactly one of by, to, to_next_timer, until."
        raise ControlError(400, "missing_parameter", message, "by")
    if len(ways) > 1:
        raise invalid_parameter(ways[1], "give exactly one of by, to, to_next_timer, until")
    way = ways[0]
    if way != "until" and raw.get("horizon") is not None:
        raise invalid_parameter("horizon", "it can be used only with until")
    if way == "until":
        return await _advance_until(call, world)
    target: Target
    if way == "to_next_timer":
        if raw["to_next_timer"] is not True:
            raise invalid_parameter("to_next_timer", "it must be true")
        target = partial(_next_due_ms, world)
    elif way == "to":
        if not isinstance(raw["to"], str):
            raise invalid_parameter("to", "it must be an ISO 8601 timestamp")
        target = moment("to", raw["to"], world.now_ms)
    else:
        target = world.now_ms + _span_ms("by", raw["by"])
        if target > LAST_MS:
            raise invalid_parameter("by", "it is too long: simulated time ends with the year 9998")
    receipt = await call.advance(world, target)
    return {**show_receipt(receipt, reached=True), **call.stopped_scenarios(world)}


def _next_due_ms(world: World) -> int:
    timer = world.agenda.next()
    return world.now_ms if timer is None or timer.due_at_ms > LAST_MS else max(timer.due_at_ms, world.now_ms)


def _span_ms(param: str, value: Any) -> int:
    try:
        return parse_duration(value)
    except ValueError as error:
        raise invalid_parameter(param, str(error)) from None


async def _advance_until(call: ControlCall, world: World) -> AdvanceReceipt:
    goal, partly, horizon = (call.raw.get(name) for name in ("until", "partial", "horizon"))
    if not isinstance(goal, dict):
        why = "it must have the fields event and optionally object_id, or the fields resource and status"
        raise invalid_parameter("until", why)
    if not isinstance(partly, bool | None):
        raise invalid_parameter("partial", "it must be true or false")
    span_ms = DEFAULT_HORIZON_MS if horizon is None else _span_ms("horizon", horizon)
    model: type[StatusGoal | EventGoal] = StatusGoal if "resource" in goal or "status" in goal else EventGoal
    refuse_unknown(model, {"until": goal})
    wanted = parse(model, {"until": goal}).until
    if isinstance(wanted, UntilEvent):
        call.require_event("until.event", wanted.event)
        reached, what = _until_event(world, wanted)
    else:
        reached, what = _until_status(world, wanted)
    receipt = await call.advance(world, None, reached, min(world.now_ms + span_ms, LAST_MS))
    shown: AdvanceReceipt = {**show_receipt(receipt, reached=reached()), **call.stopped_scenarios(world)}
    if shown["reached"]:
        return {**shown, "stopped": f"reached: {what}"}
    is_idle = world.agenda.next() is None
    why = "nothing more is scheduled" if is_idle else f"{format_duration(span_ms)} passed (the horizon)"
    shown["stopped"] = f"{why} while waiting for {what}"
    if partly:
        return shown
    message = f"{why[:1].upper()}{why[1:]} while waiting for {what}."
    raise ControlError(409, "not_reached", message, receipt=shown)


def _until_status(world: World, wanted: UntilStatus) -> tuple[Callable[[], bool], str]:
    record = find(world, wanted.resource)
    if record is None:
        raise no_resource(world, wanted.resource)
    states = kind_of(world, record).machine.rows
    if wanted.status not in states:
        raise invalid_parameter("until.status", f"it must be one of {', '.join(states)}")

    def reached() -> bool:
        present = find(world, wanted.resource)
        return present is not None and present.status == wanted.status

    return reached, f"{wanted.resource} to be {wanted.status}"


def _until_event(world: World, wanted: UntilEvent) -> tuple[Callable[[], bool], str]:
    # With an object id, events emitted before the advance also match. Without one, only later events match.
    looked_at = 0 if wanted.object_id is not None else world.journal.event_count
    seen = False

    def reached() -> bool:
        nonlocal looked_at, seen
        fresh = world.journal.event_count - looked_at
        if fresh and not seen:
            for event, _ in zip(world.journal.events_newest_first(), range(fresh), strict=False):
                if event.type == wanted.event and wanted.object_id in (None, event.object_id):
                    seen = True
            looked_at = world.journal.event_count
        return seen

    of = "" if wanted.object_id is None else f" of {wanted.object_id}"
    return reached, f"the event {wanted.event}{of}"


@operation("DELETE /clock/advance", "Cancel the advance", catches_up=False, recorded_as="nothing")
async def cancel_advance(call: ControlCall) -> AdvanceReceipt:
    """Cancel the advance in progress. The request that started it returns 409 advance_cancelled. Fails with 409
    invalid_state if the clock is not being advanced.
    """
    ended = call.runtime.driver.call_off(call.world, "by DELETE /_simulator/clock/advance")
    if ended is None:
        raise invalid_state("The clock of this world is not being advanced, so there is nothing to cancel.")
    return {**show_receipt(await asyncio.shield(ended), reached=False), "cancelled": True}


class TimerEntry(TypedDict):
    due_at: Timestamp | None
    """When the timer fires; null for a scenario step that waits for an unavailable network."""
    kind: str
    """The kind of timer."""
    target: str | None
    """The id of the resource that the timer is about; null if there is none."""
    text: str
    """A description of the timer."""
    waiting_for: NotRequired[list[str]]
    """The unavailable networks that a step waits for; omitted if there are none."""


class TimerList(TypedDict):
    data: list[TimerEntry]
    """The timers, in firing order."""


@operation("GET /timers", "List the planned timers", query=LIMIT)
async def timers(call: ControlCall) -> TimerList:
    """List the planned timers in firing order, followed by scenario steps that wait for an unavailable network."""
    limit, world = call.limit(), call.world
    due: list[TimerEntry] = [
        {
            "due_at": format_timestamp(row.due_at_ms),
            "kind": row.kind,
            "target": row.target,
            "text": _describe(show_timer(world, row)),
        }
        for row in (world.agenda.in_firing_order() if limit is None else world.agenda.first(limit))
    ]
    held: list[TimerEntry] = [
        {
            "due_at": None,
            "kind": row.kind,
            "target": row.target,
            "text": _describe(show_held(row)),
            "waiting_for": list(row.networks),
        }
        for row in held_steps(world)
    ]
    return {"data": [*due, *held][:limit]}


def _describe(timer: StoryTimer) -> str:
    """Return the description of a service timer. For a scenario step, return its action, scenario, file and line."""
    if "text" in timer:
        return timer["text"]
    line = f":{timer['line']}" if timer.get("line") else ""
    return f"{timer['action']}, a step of the scenario {timer['scenario']} ({timer['file']}{line})"
