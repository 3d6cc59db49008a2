"""The clock and its timers (control interface, chapter "Clock")."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field, WithJsonSchema
from typing_extensions import TypedDict

from simulator.control.operation import (
    LIMIT,
    WAIT,
    AdvanceReceipt,
    ControlCall,
    ControlOperation,
    absent,
    known_event,
    show_receipt,
    wrong,
)
from simulator.kernel.clock import (
    DAY_MS,
    FASTEST,
    LAST_MS,
    SLOWEST,
    format_duration,
    format_timestamp,
    parse_duration,
    parse_timestamp,
)
from simulator.kernel.world import World
from simulator.scenario.holding import held_steps
from simulator.server.driver import Target
from simulator.wire.assumptions import SIMULATOR_ONLY, assume
from simulator.wire.errors import ControlError
from simulator.wire.fields import Body, Text, parse
from simulator.wire.json import JsonObject
from simulator.wire.records import find, kind_of
from simulator.wire.shapes import Count, Number, Timestamp
from simulator.wire.strict import refuse_names, refuse_unknown

WAYS = ("by", "to", "to_next_timer", "until")
"""How far an advance goes: exactly one of these."""

DEFAULT_HORIZON_MS = 3652 * DAY_MS
"""How far an advance looks for what it waits for, unless told: ten simulated years."""

ASSUMPTIONS = assume(
    "advancing the clock",
    SIMULATOR_ONLY,
    ("until-horizon", "`until` looks ten simulated years ahead (3652d) unless `horizon` says how far."),
    (
        "until-event",
        "`until` the event of an object is reached at once where that was emitted already; without `object_id` it is "
        "the next such event.",
    ),
    (
        "advance-cancelled",
        "An advance ends when its caller leaves, by DELETE /clock/advance, or with its world; it is answered 409 "
        "advance_cancelled then, with the receipt of what it did, which stays done. What is due at that moment goes on "
        "firing; calls wait 0.2 s for it, then they act beside it.",
    ),
    (
        "advance-bounds",
        "One advance emits at most 1,000,000 events and fires at most 5,000,000 timers, with `until` 200,000 and "
        "1,000,000; then it ends as if cancelled.",
    ),
    (
        "receiver-waits",
        "A call that would wait for a receiver which does not answer an attempt sent before that call is 409 "
        "clock_busy after 0.7 s, because the receiver may be the caller; with `wait=true`, or over a connection "
        "opened before that attempt was sent, it waits.",
    ),
    ("reset-real", "A real clock that was given no start begins at the wall clock again when its world is reset."),
    (
        "timers-held",
        "Steps that wait for a network (S22) stand at the end of `GET /timers` and of a resource's `timers`, with "
        "`due_at` null and `waiting_for`; the clock's `timers` counts them, its `next_timer_at` does not know them.",
    ),
    ("clock-end", "A running clock stops with the year 9998; GET /clock then says so in `ended`."),
)


_ANY_TEXT: Mapping[str, Any] = {"type": "string"}

_DURATION: Mapping[str, Any] = {
    "anyOf": [
        {"type": "string", "examples": ["500ms", "20s", "2h30m", "3d", "PT90S"]},
        {"type": "number", "minimum": 0, "description": "Seconds."},
    ]
}

ADVANCE: Mapping[str, Any] = {
    "title": "Advance",
    "oneOf": [
        {"type": "object", "required": ["by"], "properties": {"by": _DURATION}},
        {
            "type": "object",
            "required": ["to"],
            "properties": {"to": {"type": "string", "format": "date-time"}},
        },
        {
            "type": "object",
            "required": ["to_next_timer"],
            "properties": {"to_next_timer": {"const": True}},
        },
        {
            "type": "object",
            "required": ["until"],
            "properties": {
                "until": {
                    "oneOf": [
                        {
                            "type": "object",
                            "required": ["event"],
                            "properties": {"event": _ANY_TEXT, "object_id": {"type": ["string", "null"]}},
                        },
                        {
                            "type": "object",
                            "required": ["resource", "status"],
                            "properties": {"resource": _ANY_TEXT, "status": _ANY_TEXT},
                        },
                    ]
                },
                "horizon": {**_DURATION, "description": "How far to look at most; 3652d unless given."},
                "partial": {"type": "boolean", "description": "200 with reached false instead of 409 not_reached."},
            },
        },
    ],
}
"""The body of POST /_simulator/clock/advance: exactly one way to say how far."""


Rate = Annotated[float, Field(ge=float(SLOWEST), le=int(FASTEST), allow_inf_nan=False)]


Mode = Annotated[str, WithJsonSchema({"enum": ["real", "manual", "scaled"], "type": "string"})]


class ClockState(TypedDict):
    mode: Mode
    now: Timestamp
    rate: Number
    timers: Count
    next_timer_at: Timestamp | None
    ended: NotRequired[str]


class ClockBody(Body):
    mode: Literal["real", "manual", "scaled"] | None = None
    now: Text | None = None
    rate: Rate | None = None


def show_clock(world: World) -> ClockState:
    timer = world.agenda.next()
    shown: ClockState = {
        "mode": world.clock.mode,
        "now": format_timestamp(world.now_ms),
        "rate": world.clock.rate,
        "timers": len(world.agenda) + sum(1 for _ in held_steps(world)),
        "next_timer_at": None if timer is None else format_timestamp(timer.due_at_ms),
    }
    if world.now_ms >= LAST_MS:
        shown["ended"] = "The clock has reached the end of the year 9998, where simulated time ends."
    return shown


def moment(param: str, text: str) -> int:
    """A timestamp of a control call; 400 with `param`."""
    try:
        at_ms = parse_timestamp(text)
    except ValueError as error:
        raise wrong(param, str(error)) from None
    if not 0 <= at_ms <= LAST_MS:
        raise wrong(param, "it lies outside the years 1970 to 9998")
    return at_ms


def rate_of(value: float | None) -> Decimal:
    return Decimal(1) if value is None else Decimal(str(value))


class TimerEntry(TypedDict):
    """A timer, or a step without due time because it waits for networks."""

    due_at: Timestamp | None
    kind: str
    target: str | None
    waiting_for: NotRequired[list[str]]


class TimerList(TypedDict):
    data: list[TimerEntry]


class UntilEvent(Body):
    event: Text
    object_id: Text | None = None


class UntilStatus(Body):
    resource: Text
    status: Text


async def get_clock(call: ControlCall) -> ClockState:
    return show_clock(call.world)


async def put_clock(call: ControlCall) -> ClockState:
    world, body, driver = call.world, call.body, call.runtime.driver
    target = None if body.now is None else moment("now", body.now)
    if target is not None and target < world.now_ms:
        raise wrong("now", "the clock never moves back")
    if driver.is_busy(world):
        raise ControlError(409, "clock_busy", "The clock of this world is being advanced; wait for that call to end.")
    if target is not None:
        await call.advance(world, target)
    if body.mode is not None:
        world.clock.mode = body.mode
    if body.rate is not None:
        world.clock.rate = rate_of(body.rate)
    driver.anchor(world)
    call.runtime.changed(world)
    return show_clock(world)


async def advance(call: ControlCall) -> AdvanceReceipt:
    world, raw = call.world, call.raw
    refuse_names(raw, (*WAYS, "horizon", "partial"))
    ways = [name for name in WAYS if raw.get(name) is not None]
    if not ways:
        raise absent("by")
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
        reached, what = _until_status(world, _prefixed(UntilStatus, goal))
    else:
        reached, what = _until_event(world, _prefixed(UntilEvent, goal))
    horizon_ms = min(world.now_ms + span_ms, LAST_MS)
    receipt = await call.advance(world, None, reached, horizon_ms)
    shown: AdvanceReceipt = {**show_receipt(receipt, reached=reached()), **call.stopped_scenarios(world)}
    if shown["reached"]:
        return {**shown, "stopped": f"reached: {what}"}
    dry = world.agenda.next() is None
    why = "the agenda ran dry" if dry else f"{format_duration(span_ms)} passed (the horizon)"
    shown["stopped"] = f"{why} while waiting for {what}"
    if partly:
        return shown
    message = f"{why[:1].upper()}{why[1:]} while waiting for {what}."
    raise ControlError(409, "not_reached", message, receipt=shown)


def _until_status(world: World, wanted: UntilStatus) -> tuple[Callable[[], bool], str]:
    record = find(world, wanted.resource)
    if record is None:
        raise ControlError(404, "not_found", f"There is no resource with the id {wanted.resource!r}.")
    states = kind_of(world, record).machine.rows
    if wanted.status not in states:
        raise wrong("until.status", f"a resource of this kind is {', '.join(states)}")

    def reached() -> bool:
        present = find(world, wanted.resource)
        return present is not None and present.status == wanted.status

    return reached, f"{wanted.resource} to be {wanted.status}"


def _until_event(world: World, wanted: UntilEvent) -> tuple[Callable[[], bool], str]:
    """With an object, an event already emitted counts; without one, only the next."""
    known_event("until.event", wanted.event)
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


def _prefixed(model: Any, goal: JsonObject) -> Any:
    class Until(Body):
        until: model

    refuse_unknown(Until, {"until": goal})
    return parse(Until, {"until": goal}).until


async def cancel_advance(call: ControlCall) -> AdvanceReceipt:
    """Call off the advance under way; 409 invalid_state when there is none."""
    ended = call.runtime.driver.call_off(call.world, "by DELETE /_simulator/clock/advance")
    if ended is None:
        raise ControlError(409, "invalid_state", "The clock of this world is not being advanced.")
    return {**show_receipt(await asyncio.shield(ended), reached=False), "cancelled": True}


async def timers(call: ControlCall) -> TimerList:
    """What has a due time in firing order, then what waits for a network and will have one when that is up again."""
    due: list[TimerEntry] = [
        {"due_at": format_timestamp(row.due_at_ms), "kind": row.kind, "target": row.target}
        for row in call.world.agenda.in_firing_order()
    ]
    held: list[TimerEntry] = [
        {"due_at": None, "kind": row.kind, "target": row.target, "waiting_for": list(row.networks)}
        for row in held_steps(call.world)
    ]
    limit = call.limit()
    return {"data": [*due, *held][:limit]}


ROWS: tuple[ControlOperation, ...] = (
    ControlOperation("GET", "/clock", "get_clock", "Clock", "The clock", get_clock),
    ControlOperation(
        "PUT",
        "/clock",
        "put_clock",
        "Clock",
        "Set mode, rate or time",
        put_clock,
        200,
        ClockBody,
        query=WAIT,
        recorded_as="time",
    ),
    ControlOperation(
        "POST",
        "/clock/advance",
        "advance",
        "Clock",
        "Move the clock and fire what is due",
        advance,
        takes="raw",
        accepts=ADVANCE,
        query=WAIT,
        recorded_as="time",
    ),
    ControlOperation(
        "DELETE",
        "/clock/advance",
        "cancel_advance",
        "Clock",
        "Call off the advance under way",
        cancel_advance,
        catches_up=False,
        recorded_as="nothing",
    ),
    ControlOperation("GET", "/timers", "timers", "Clock", "What is planned, in firing order", timers, query=LIMIT),
)
