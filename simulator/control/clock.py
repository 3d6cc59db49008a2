"""The clock and its timers (control interface, chapter "Clock")."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simulator.control.operation import LIMIT, ControlCall, ControlOperation, absent, known_event, wrong
from simulator.control.worlds import ClockBody, moment, rate_of, show_clock
from simulator.kernel.clock import LAST_MS, format_timestamp, parse_duration
from simulator.kernel.world import World
from simulator.server.driver import ClockBusy, Receipt
from simulator.wire.errors import ControlError
from simulator.wire.fields import Body, Text, parse
from simulator.wire.json import JsonObject
from simulator.wire.records import find, kind_of
from simulator.wire.strict import refuse_names, refuse_unknown

WAYS = ("by", "to", "to_next_timer", "until")
"""How far an advance goes: exactly one of these."""


class UntilEvent(Body):
    event: Text
    object_id: Text | None = None


class UntilStatus(Body):
    resource: Text
    status: Text


_BUSY = ControlError(409, "clock_busy", "The clock of this world is being advanced; wait for that call to end.")


async def get_clock(call: ControlCall) -> JsonObject:
    return show_clock(call.world)


async def put_clock(call: ControlCall) -> JsonObject:
    world, body, driver = call.world, call.body, call.application.driver
    target = None if body.now is None else moment("now", body.now)
    if target is not None and target < world.now_ms:
        raise wrong("now", "the clock never moves back")
    if driver.is_busy(world):
        raise _busy()
    if target is not None:
        await _advance(call, world, target)
    if body.mode is not None:
        world.clock.mode = body.mode
    if body.rate is not None:
        world.clock.rate = rate_of(body.rate)
    driver.anchor(world)
    call.application.changed(world)
    return show_clock(world)


def _busy() -> ControlError:
    return ControlError(_BUSY.status, _BUSY.code, _BUSY.message)


async def advance(call: ControlCall) -> JsonObject:
    world, raw = call.world, call.raw
    refuse_names(raw, WAYS)
    ways = [name for name in WAYS if raw.get(name) is not None]
    if not ways:
        raise absent("by")
    if len(ways) > 1:
        raise wrong(ways[1], "give exactly one of by, to, to_next_timer, until")
    way = ways[0]
    if way == "until":
        return await _advance_until(call, world)
    if way == "to_next_timer":
        if raw["to_next_timer"] is not True:
            raise wrong("to_next_timer", "it is true")
        timer = world.agenda.next()
        target = world.now_ms if timer is None else max(timer.due_at_ms, world.now_ms)
    elif way == "to":
        if not isinstance(raw["to"], str):
            raise wrong("to", "it must be an ISO 8601 timestamp")
        target = moment("to", raw["to"])
        if target < world.now_ms:
            raise wrong("to", "the clock never moves back")
    else:
        target = world.now_ms + _span_ms(raw["by"])
        if target > LAST_MS:
            raise wrong("by", "the clock ends with the year 9998")
    return _show(await _advance(call, world, target))


def _span_ms(value: Any) -> int:
    try:
        return parse_duration(value)
    except ValueError as error:
        raise wrong("by", str(error)) from None


async def _advance(
    call: ControlCall, world: World, to_ms: int | None, reached: Callable[[], bool] | None = None
) -> Receipt:
    try:
        return await call.application.driver.advance(world, to_ms, reached)
    except ClockBusy:
        raise _busy() from None


async def _advance_until(call: ControlCall, world: World) -> JsonObject:
    goal = call.raw["until"]
    if not isinstance(goal, dict):
        raise wrong("until", "it is {event, object_id?} or {resource, status}")
    if "resource" in goal or "status" in goal:
        wanted = _prefixed(UntilStatus, goal)
        record = find(world, wanted.resource)
        if record is None:
            raise ControlError(404, "not_found", f"There is no resource with the id {wanted.resource!r}.")
        states = kind_of(world, record).machine.rows
        if wanted.status not in states:
            raise wrong("until.status", f"a resource of this kind is {', '.join(states)}")

        def reached() -> bool:
            present = find(world, wanted.resource)
            return present is not None and present.status == wanted.status

        what = f"{wanted.resource} to be {wanted.status}"
    else:
        reached, what = _until_event(world, _prefixed(UntilEvent, goal))
    receipt = await _advance(call, world, None, reached)
    done = reached()
    return _show(receipt) | {
        "reached": done,
        "stopped": f"reached: {what}" if done else f"the agenda ran dry while waiting for {what}",
    }


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


def _show(receipt: Receipt) -> JsonObject:
    return {
        "from": format_timestamp(receipt.from_ms),
        "now": format_timestamp(receipt.to_ms),
        "fired": receipt.fired,
        "events": receipt.events,
        "deliveries": receipt.deliveries,
    }


async def timers(call: ControlCall) -> JsonObject:
    rows = call.world.agenda.in_firing_order()
    limit = call.limit()
    shown = rows if limit is None else rows[:limit]
    return {
        "data": [{"due_at": format_timestamp(row.due_at_ms), "kind": row.kind, "target": row.target} for row in shown]
    }


ROWS: tuple[ControlOperation, ...] = (
    ControlOperation("GET", "/clock", "get_clock", "The clock", get_clock),
    ControlOperation("PUT", "/clock", "put_clock", "Set mode, rate or time", put_clock, 200, ClockBody),
    ControlOperation("POST", "/clock/advance", "advance", "Move the clock and fire what is due", advance, takes="raw"),
    ControlOperation("GET", "/timers", "timers", "What is planned, in firing order", timers, query=LIMIT),
)
