"""Steps that are pending: what the timer of a step carries, and how one is planned.

A timer is plain data in the world's document, so its arguments keep their names and their order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from simulator.kernel.agenda import Timer
from simulator.kernel.clock import LAST_MS
from simulator.kernel.world import World
from simulator.scenario.logbook import note
from simulator.wire.json import JsonObject

STEP = "scenario.step"
TIMELINE = "scenario.timeline"
KINDS = (STEP, TIMELINE)

_BEYOND = "it would lie beyond the end of the year 9998, where simulated time ends"


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingStep:
    """A step of a rule or of a timeline that is planned: where it was written, what it is about, what it does.

    It does an `action` on `acts_on` (None: on `target`, which it is about), or hands that over to the scenario
    `hand_to`. `event` is what its rule had taken ("" on a timeline). `at_once`: it was planned without delay.
    `slowed_by` are the networks whose slowness stretches it, `factor` how much they do now.
    """

    target: str
    scenario: str
    part: str
    place: str
    event: str
    environment: str
    action: str | None
    acts_on: str | None
    parameters: JsonObject
    hand_to: str | None = None
    of_timeline: bool = False
    at_once: bool = False
    slowed_by: list[str] = field(default_factory=list)
    factor: float = 1.0

    @classmethod
    def of(cls, timer: Timer) -> PendingStep:
        """The step whose timer this is; one that had waited for a network carries less, and has the defaults."""
        return cls(target=timer.target, of_timeline=timer.kind == TIMELINE, **timer.arguments)

    @property
    def kind(self) -> str:
        """The kind of its timer."""
        return TIMELINE if self.of_timeline else STEP

    @property
    def does(self) -> str:
        """What it does, as the logbook and lists name it."""
        return described(self.action, self.hand_to)

    def arguments(self) -> dict[str, Any]:
        """What its timer carries."""
        written = {"scenario": self.scenario, "part": self.part, "place": self.place, "event": self.event}
        work = {"action": self.action, "acts_on": self.acts_on, "parameters": self.parameters}
        if self.of_timeline:
            return {**written, **work, "environment": self.environment, "hand_to": self.hand_to}
        stretch = {"at_once": self.at_once, "slowed_by": self.slowed_by, "factor": self.factor}
        return {**written, **stretch, **work, "hand_to": self.hand_to, "environment": self.environment}


def described(action: str | None, hand_to: str | None) -> str:
    """A step in a word or two: its action, or `scenario NAME` for one that hands over."""
    return action or f"scenario {hand_to}"


def plan(world: World, due_at_ms: int, step: PendingStep) -> str | None:
    """Plan a step; the key of its timer. One beyond the end of simulated time is noted as skipped instead: None."""
    if due_at_ms > LAST_MS:
        note_step(world, "skipped", step, reason=_BEYOND)
        return None
    return world.agenda.plan_another(due_at_ms, step.kind, step.target, **step.arguments())


def drop_beyond(world: World) -> None:
    """Take off the agenda what has come to lie beyond the end of simulated time, because a network got slower."""
    for timer in world.agenda.in_firing_order():
        if timer.kind in KINDS and timer.due_at_ms > LAST_MS:
            world.agenda.cancel_key(timer.key)
            note_step(world, "skipped", PendingStep.of(timer), reason=_BEYOND)


def steps_of(world: World, name: str) -> list[Timer]:
    """The timers of a scenario's pending steps, in no order that means anything."""
    return [timer for timer in world.agenda.all() if timer.kind in KINDS and timer.arguments["scenario"] == name]


def steps_on(world: World, object_id: str) -> list[Timer]:
    """The timers of the pending steps that rules planned for an object, in firing order."""
    found = (timer.key for timer in world.agenda.all() if timer.kind == STEP and timer.target == object_id)
    return world.agenda.in_firing_order(found)


def note_step(world: World, what: str, step: PendingStep, **members: str) -> None:
    """Enter what became of a step in the logbook; inside a change."""
    note(world, step.scenario, what, step.part, step.place, object=step.target, action=step.does, **members)
