"""Timers by object: the index finds the same as a scan of all timers."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import given, strategies

from simulator.engine.scenario.play.pending import STEP, steps_on, timers_about
from simulator.engine.worlds.simulator import Blueprint
from simulator.kernel.agenda import Timer
from simulator.kernel.world import World
from tests.library import Simulator

OBJECTS = ("a", "b", "c")
CHANGES = strategies.tuples(
    strategies.sampled_from(["plan", "step", "cancel", "undo"]),
    strategies.sampled_from(OBJECTS),
    strategies.sampled_from([None, *OBJECTS]),
    strategies.integers(0, 3),
)


@given(strategies.lists(CHANGES, max_size=40))
def test_timers_about_equals_a_full_scan(changes: list[tuple[str, str, str | None, int]]) -> None:
    world = Simulator().create_world(Blueprint("default", 1))
    for what, target, acts_on, after in changes:
        with suppress(ZeroDivisionError), world.store.change():
            if what == "cancel":
                for timer in timers_about(world, target)[:1]:
                    world.agenda.cancel_key(timer.key)
            elif what == "step":
                world.agenda.plan_another(world.now_ms + after, STEP, target, acts_on=acts_on)
            else:
                world.agenda.plan(world.now_ms + after, "loan.expire", target)
            if what == "undo":
                raise ZeroDivisionError
        for one in OBJECTS:
            found = full_scan(world, one)
            assert timers_about(world, one) == found
            assert steps_on(world, one) == [timer for timer in found if (timer.kind, timer.target) == (STEP, one)]


def full_scan(world: World, wanted: str) -> list[Timer]:
    found = [timer for timer in world.agenda.all() if wanted in (timer.target, timer.arguments.get("acts_on"))]
    return sorted(found, key=lambda timer: (timer.due_at_ms, timer.number))
