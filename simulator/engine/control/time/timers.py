"""What is planned in a world."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict

from simulator.engine.control.call import ControlCall
from simulator.engine.control.objects.inspection import show_held, show_timer
from simulator.engine.control.objects.inspection_shapes import StoryTimer
from simulator.engine.control.operation import LIMIT, calls_under
from simulator.engine.scenario.play.holding import held_steps
from simulator.engine.text.shapes import Timestamp
from simulator.kernel.clock import format_timestamp

operation = calls_under("Clock")


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
