"""Rehearsing a timer: what it would bring about if it fired now, found out on a copy of the world."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

from simulator.engine.rows.action import events_since
from simulator.engine.scenario.run.ways import ways_of
from simulator.engine.worlds.simulator import Simulator
from simulator.kernel.agenda import Timer
from simulator.kernel.journal import Cause, Event
from simulator.kernel.world import World


def rehearse(simulator: Simulator, world: World, timer: Timer, cause: Cause, *, empty: bool) -> Sequence[Event]:
    """The events that a timer would emit at its due time, as things stand; with an empty balance if that is asked.

    It fires in a copy, whose clock can be moved there and forgotten: the clock of a world never goes back. What the
    present change has written is in the copy, because its tables are copied as they are.
    """
    copy = simulator.from_state(simulator.state_of(world), world.id)
    copy.clock.move_to(max(copy.now_ms, timer.due_at_ms))
    without_funds = ways_of(copy).emptied(copy, simulator.actions, timer.target, cause) if empty else nullcontext()
    with copy.change(cause), without_funds:
        copy.agenda.take(timer)
        copy.wiring.timers[timer.kind].handler(copy, timer)
    return events_since(copy, world.journal.event_count)
