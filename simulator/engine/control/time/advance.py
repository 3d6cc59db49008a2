"""Moving the clock: by a span, to a moment, to the next timer, or until something has happened; and what is planned."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NotRequired, TypeVar

from typing_extensions import TypedDict

from simulator.engine.control.call import ControlCall
from simulator.engine.control.objects.inspection import show_held, show_timer
from simulator.engine.control.objects.inspection_shapes import StoryTimer
from simulator.engine.control.operation import LIMIT, WAIT, any_text, calls_under, known_event
from simulator.engine.control.refusals import wrong
from simulator.engine.control.shapes import AdvanceReceipt, show_receipt
from simulator.engine.control.time.clock import moment
from simulator.engine.records.records import find, kind_of, no_resource
from simulator.engine.rows.error import ControlError
from simulator.engine.scenario.play.held_steps import held_steps
from simulator.engine.server.running.advance import Target
from simulator.engine.text.fields import Body, Text, parse
from simulator.engine.text.json import JsonObject
from simulator.engine.text.shapes import Timestamp
from simulator.engine.text.strict import refuse_names, refuse_unknown
from simulator.kernel.clock import DAY_MS, LAST_MS, format_duration, format_timestamp, parse_duration
from simulator.kernel.world import World

operation = calls_under("Clock")

BodyT = TypeVar("BodyT", bound=Body)


WAYS = ("by", "to", "to_next_timer", "until")
"""How far an advance goes: exactly one of these."""


DEFAULT_HORIZON_MS = 3652 * DAY_MS
"""How far an advance looks for what it waits for, unless the call says otherwise: ten simulated years."""


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
    "description": "How far the clock is to move: exactly one way.",
    "oneOf": [
        _object("by", by={**_DURATION, "description": "How long to move on."}),
        _object("to", to={"type": "string", "format": "date-time", "description": "The moment to move to."}),
        _object(
            "to_next_timer", to_next_timer={"const": True, "description": "Move to the next timer, if there is one."}
        ),
        _object(
            "until",
            until={
                "description": "What to wait for.",
                "oneOf": [
                    _object(
                        "event",
                        event=any_text("The event type to wait for."),
                        object_id={"type": ["string", "null"], "description": "Only about this resource."},
                    ),
                    _object(
                        "resource",
                        "status",
                        resource=any_text("The resource to watch, by id."),
                        status=any_text("The status that it is to reach."),
                    ),
                ],
            },
            horizon={**_DURATION, "description": "How far to look at most; 3652d unless given."},
            partial={"type": "boolean", "description": "200 with reached false instead of 409 not_reached."},
        ),
    ],
}
"""The body of POST /_simulator/clock/advance: exactly one way to say how far."""


class UntilEvent(Body):
    event: Text
    """The event type to wait for."""
    object_id: Text | None = None
    """Only an event about the resource of this id."""


class UntilStatus(Body):
    resource: Text
    """The resource to watch, by id."""
    status: Text
    """The status that it is to reach."""


class EventGoal(Body):
    until: UntilEvent
    """The event to wait for."""


class StatusGoal(Body):
    until: UntilStatus
    """The resource and status to wait for."""


@operation(
    "POST /clock/advance",
    "Move the clock and fire what is due",
    takes="raw",
    accepts=ADVANCE,
    query=WAIT,
    recorded_as="time",
)
async def advance(call: ControlCall) -> AdvanceReceipt:
    """Move the clock as far as the body says in exactly one way, and fire what is due.

    Returns the receipt. 409 clock_busy, not_reached or advance_cancelled, the last two with the receipt.
    """
    world, raw = call.world, call.raw
    refuse_names(raw, (*WAYS, "horizon", "partial"))
    ways = [name for name in WAYS if raw.get(name) is not None]
    if not ways:
        raise ControlError(
            400,
            "missing_parameter",
            "How far the clock goes is missing: give exactly one of by, to, to_next_timer, until.",
            "by",
        )
    if len(ways) > 1:
        raise wrong(ways[1], "give exactly one of by, to, to_next_timer, until")
    way = ways[0]
    if way != "until" and raw.get("horizon") is not None:
        raise wrong("horizon", "it goes with until only")
    if way == "until":
        return await _advance_until(call, world)
    target: Target
    if way == "to_next_timer":
        if raw["to_next_timer"] is not True:
            raise wrong("to_next_timer", "it is true")
        target = partial(_next_due_ms, world)
    elif way == "to":
        if not isinstance(raw["to"], str):
            raise wrong("to", "it must be an ISO 8601 timestamp")
        target = moment("to", raw["to"])
        if target < world.now_ms:
            raise wrong("to", "the clock never moves back")
    else:
        target = world.now_ms + _span_ms("by", raw["by"])
        if target > LAST_MS:
            raise wrong("by", "the clock ends with the year 9998")
    receipt = await call.advance(world, target)
    return {**show_receipt(receipt, reached=True), **call.stopped_scenarios(world)}


def _next_due_ms(world: World) -> int:
    timer = world.agenda.next()
    return world.now_ms if timer is None or timer.due_at_ms > LAST_MS else max(timer.due_at_ms, world.now_ms)


def _span_ms(param: str, value: Any) -> int:
    try:
        return parse_duration(value)
    except ValueError as error:
        raise wrong(param, str(error)) from None


async def _advance_until(call: ControlCall, world: World) -> AdvanceReceipt:
    goal, partly, horizon = (call.raw.get(name) for name in ("until", "partial", "horizon"))
    if not isinstance(goal, dict):
        raise wrong("until", "it is {event, object_id?} or {resource, status}")
    if not isinstance(partly, bool | None):
        raise wrong("partial", "it is true or false")
    span_ms = DEFAULT_HORIZON_MS if horizon is None else _span_ms("horizon", horizon)
    if "resource" in goal or "status" in goal:
        reached, what = _until_status(world, _checked(StatusGoal, goal).until)
    else:
        reached, what = _until_event(world, _checked(EventGoal, goal).until)
    horizon_ms = min(world.now_ms + span_ms, LAST_MS)
    receipt = await call.advance(world, None, reached, horizon_ms)
    shown: AdvanceReceipt = {**show_receipt(receipt, reached=reached()), **call.stopped_scenarios(world)}
    if shown["reached"]:
        return {**shown, "stopped": f"reached: {what}"}
    dry = world.agenda.next() is None
    why = "nothing more is scheduled" if dry else f"{format_duration(span_ms)} passed (the horizon)"
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
        raise wrong("until.status", f"a resource of this kind is {', '.join(states)}")

    def reached() -> bool:
        present = find(world, wanted.resource)
        return present is not None and present.status == wanted.status

    return reached, f"{wanted.resource} to be {wanted.status}"


def _until_event(world: World, wanted: UntilEvent) -> tuple[Callable[[], bool], str]:
    """With an object, an event already emitted counts; without one, only the next."""
    known_event(world, "until.event", wanted.event)
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


def _checked(body: type[BodyT], goal: JsonObject) -> BodyT:
    """The goal within its body, so that an error names the parameter as the caller wrote it: `until.event`."""
    refuse_unknown(body, {"until": goal})
    return parse(body, {"until": goal})


@operation("DELETE /clock/advance", "Call off the advance under way", catches_up=False, recorded_as="nothing")
async def cancel_advance(call: ControlCall) -> AdvanceReceipt:
    """Call off the advance under way; 409 invalid_state when there is none."""
    ended = call.runtime.driver.call_off(call.world, "by DELETE /_simulator/clock/advance")
    if ended is None:
        raise ControlError(409, "invalid_state", "The clock of this world is not being advanced.")
    return {**show_receipt(await asyncio.shield(ended), reached=False), "cancelled": True}


class TimerEntry(TypedDict):
    """A timer, or a step without due time because it waits for networks."""

    due_at: Timestamp | None
    """When it fires; null while it waits for a network."""
    kind: str
    """What sort of timer it is."""
    target: str | None
    """What it is for, by id; null where it is for no resource."""
    text: str
    """What it does, in words."""
    waiting_for: NotRequired[list[str]]
    """The networks that it waits for; left out when it waits for none."""


class TimerList(TypedDict):
    data: list[TimerEntry]
    """The timers, in firing order."""


@operation("GET /timers", "What is planned, in firing order", query=LIMIT)
async def timers(call: ControlCall) -> TimerList:
    """What has a due time in firing order, then what waits for a network and will have one when that is up again."""
    limit, agenda = call.limit(), call.world.agenda
    world = call.world
    due: list[TimerEntry] = [
        {
            "due_at": format_timestamp(row.due_at_ms),
            "kind": row.kind,
            "target": row.target,
            "text": in_words(show_timer(world, row)),
        }
        for row in (agenda.in_firing_order() if limit is None else agenda.first(limit))
    ]
    held: list[TimerEntry] = [
        {
            "due_at": None,
            "kind": row.kind,
            "target": row.target,
            "text": in_words(show_held(row)),
            "waiting_for": list(row.networks),
        }
        for row in held_steps(world)
    ]
    return {"data": [*due, *held][:limit]}


def in_words(timer: StoryTimer) -> str:
    """What a timer of the service does; of a step its action, its scenario and where that says so."""
    if "text" in timer:
        return timer["text"]
    line = f":{timer['line']}" if timer.get("line") else ""
    return f"{timer['action']}, a step of the scenario {timer['scenario']} ({timer['file']}{line})"
