"""The clock and its timers (control interface, chapter "Clock")."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from simulator.engine.control.call import ControlCall
from simulator.engine.control.operation import WAIT, calls_under
from simulator.engine.control.refusals import wrong
from simulator.engine.scenario.play.held_steps import held_steps
from simulator.engine.text.fields import Body, Text
from simulator.engine.text.shapes import Count, Meanings, Number, OneOf, Timestamp
from simulator.kernel.clock import FASTEST, LAST_MS, SLOWEST, format_timestamp, parse_timestamp
from simulator.kernel.world import World

operation = calls_under("Clock")

Rate = Annotated[float, Field(ge=float(SLOWEST), le=int(FASTEST), allow_inf_nan=False)]


MODE_MEANINGS = {
    "real": "It runs with the wall clock.",
    "manual": "It moves only when it is told to.",
    "scaled": "It runs `rate` times as fast as the wall clock.",
}
Mode = Annotated[str, OneOf(MODE_MEANINGS)]


class ClockState(TypedDict):
    mode: Mode
    """How simulated time passes."""
    now: Timestamp
    """The simulated time now."""
    rate: Number
    """How many simulated seconds pass in a second of the wall clock, in mode scaled."""
    timers: Count
    """How many timers are planned."""
    next_timer_at: Timestamp | None
    """When the next of them fires; null when there is none."""
    ended: NotRequired[str]
    """Why the clock stands still for ever; there once simulated time has come to its end."""


class ClockBody(Body):
    mode: Annotated[Literal["real", "manual", "scaled"], Meanings(MODE_MEANINGS)] | None = None
    """How simulated time is to pass."""
    now: Text | None = None
    """The moment to move to, which may only lie ahead; a new world begins there."""
    rate: Rate | None = None
    """How many simulated seconds pass in a second of the wall clock, in mode scaled."""


def show_clock(world: World) -> ClockState:
    """The clock object; `timers` counts steps that wait for a network too."""
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
    """Simulated seconds per real second; 1 where nothing is said."""
    return Decimal(1) if value is None else Decimal(str(value))


@operation("GET /clock", "The clock")
async def get_clock(call: ControlCall) -> ClockState:
    """The mode, the time, and how many timers are planned."""
    return show_clock(call.world)


@operation("PUT /clock", "Set mode, rate or time", body=ClockBody, query=WAIT, recorded_as="time")
async def put_clock(call: ControlCall) -> ClockState:
    """Set mode, rate or time, time first. 400 for a time that is past, 409 clock_busy during an advance."""
    world, body, driver = call.world, call.body, call.runtime.driver
    target = None if body.now is None else moment("now", body.now)
    if target is not None and target < world.now_ms:
        raise wrong("now", "the clock never moves back")
    call.require_idle(world)
    if target is not None:
        await call.advance(world, target)
    if body.mode is not None:
        world.clock.mode = body.mode
    if body.rate is not None:
        world.clock.rate = rate_of(body.rate)
    driver.anchor(world)
    call.runtime.changed(world)
    return show_clock(world)
