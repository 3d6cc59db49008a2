"""Control calls that read and set the clock."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from simulator.engine.control.call import ControlCall
from simulator.engine.control.operation import WAIT, calls_under
from simulator.engine.control.refusals import invalid_parameter
from simulator.engine.scenario.play.delays import held_steps
from simulator.engine.text.fields import Body, Text
from simulator.engine.text.shapes import Count, Meanings, Number, OneOf, Timestamp
from simulator.kernel.clock import FASTEST, LAST_MS, SLOWEST, format_timestamp, parse_timestamp
from simulator.kernel.world import World

operation = calls_under("Clock")

Rate = Annotated[float, Field(ge=float(SLOWEST), le=int(FASTEST), allow_inf_nan=False)]

MODE_MEANINGS = {
    "real": "It runs at the speed of the wall clock.",
    "manual": "It is paused and changes only when you advance it.",
    "scaled": "It runs `rate` times as fast as the wall clock.",
}
Mode = Annotated[str, OneOf(MODE_MEANINGS)]


class ClockState(TypedDict):
    mode: Mode
    """The mode of the clock."""
    now: Timestamp
    """The simulated time."""
    rate: Number
    """The number of simulated seconds per real second, in the mode `scaled`."""
    timers: Count
    """The number of planned timers, including scenario steps that wait for an unavailable network."""
    next_timer_at: Timestamp | None
    """When the next timer is due; null if there is none."""
    ended: NotRequired[str]
    """Present at the end of simulated time. The clock stops permanently there."""


class ClockBody(Body):
    mode: Annotated[Literal["real", "manual", "scaled"], Meanings(MODE_MEANINGS)] | None = None
    """The mode of the clock."""
    now: Text | None = None
    """The time to advance to, which must not be in the past. For a new world, the start time."""
    rate: Rate | None = None
    """The number of simulated seconds per real second, in the mode `scaled`."""


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


def moment(param: str, text: str, present_ms: int = 0) -> int:
    """Parse a timestamp to milliseconds. Raise `ControlError` 400 for `param` if it is not valid or in the past."""
    try:
        at_ms = parse_timestamp(text)
    except ValueError as error:
        raise invalid_parameter(param, str(error)) from None
    if not 0 <= at_ms <= LAST_MS:
        raise invalid_parameter(param, "it must be between the years 1970 and 9998")
    if at_ms < present_ms:
        raise invalid_parameter(param, "the clock cannot go back; give a time that is not in the past")
    return at_ms


@operation("GET /clock", "Get the clock")
async def get_clock(call: ControlCall) -> ClockState:
    """Return the mode, the simulated time and the number of planned timers."""
    return show_clock(call.world)


@operation("PUT /clock", "Set the clock", body=ClockBody, query=WAIT, recorded_as="time")
async def put_clock(call: ControlCall) -> ClockState:
    """Set the time, the mode or the rate. If you set the time, all timers that are due by then fire. Fails with 400 for
    a time in the past, or 409 clock_busy during an advance.
    """
    world, body, driver = call.world, call.body, call.runtime.driver
    target = None if body.now is None else moment("now", body.now, world.now_ms)
    call.require_idle(world)
    if target is not None:
        await call.advance(world, target)
    if body.mode is not None:
        world.clock.mode = body.mode
    if body.rate is not None:
        world.clock.rate = Decimal(str(body.rate))
    driver.anchor(world)
    call.runtime.changed(world)
    return show_clock(world)
