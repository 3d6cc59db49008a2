"""What scenarios are and have done, as the control interface shows it."""

from __future__ import annotations

from simulator.kernel.clock import format_timestamp
from simulator.kernel.world import World
from simulator.scenario import holding, stops
from simulator.scenario.activation import active
from simulator.scenario.catalogue import Catalogue, UnknownScenario
from simulator.scenario.logbook import notes
from simulator.scenario.pending import PendingStep, described, steps_of
from simulator.scenario.shapes import ScenarioEntry
from simulator.wire.json import JsonObject


def summary(catalogue: Catalogue, world: World, name: str) -> ScenarioEntry:
    """{name, description, source, active, stopped (why, or null)} of a scenario; UnknownScenario."""
    file = catalogue.file(world, name)
    return {
        "name": name,
        "description": file.scenario.description,
        "source": file.source,
        "active": name in active(world),
        "stopped": stops.why_stopped(world, name),
    }


def progress(catalogue: Catalogue, world: World, name: str) -> JsonObject:
    """What the logbook has (the newest of each kind), and what is pending, in firing order; UnknownScenario.

    Rules fired, steps done, skipped and failed, and each time that it was stopped. At the end of what is pending
    stand the steps that wait for a network, without due time (decision S22).
    """
    if not catalogue.knows(world, name):
        raise UnknownScenario(name)
    timers = world.agenda.in_firing_order(timer.key for timer in steps_of(world, name))
    pending: list[JsonObject] = [
        {
            "due_at": format_timestamp(timer.due_at_ms),
            "part": step.part,
            "place": step.place,
            "object": step.target,
            "action": step.does,
        }
        for timer, step in ((timer, PendingStep.of(timer)) for timer in timers)
    ]
    pending += [
        {
            "due_at": None,
            "waiting_for": list(held.networks),
            "part": held.part,
            "place": held.place,
            "object": held.target,
            "action": described(held.action, held.hand_to),
        }
        for held in holding.held_steps(world, scenario=name)
    ]
    return {
        "rules_fired": notes(world, name, "fired"),
        "steps_done": notes(world, name, "done"),
        "skipped": notes(world, name, "skipped"),
        "failed": notes(world, name, "failed"),
        "stopped": notes(world, name, "stopped"),
        "pending": pending,
    }
