"""Steps that are pending: what the timer of a step carries, and how one is planned.

A timer is plain data in the world's document, so its arguments keep their names and their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Annotated, Any, NotRequired

from pydantic import Field, with_config
from typing_extensions import TypedDict, Unpack

from simulator.engine.records.codec import StateError
from simulator.engine.records.saved import STRICT, hold_against
from simulator.engine.scenario.play.logbook import About, What, note
from simulator.engine.text.enums import ENVIRONMENT, NETWORK
from simulator.engine.text.json import JsonObject
from simulator.engine.text.shapes import NameOf
from simulator.kernel.agenda import TIMERS, Timer
from simulator.kernel.clock import LAST_MS
from simulator.kernel.dataclass import dataclass
from simulator.kernel.table import ABSENT, Table
from simulator.kernel.world import World

STEP = "scenario.step"
TIMELINE = "scenario.timeline"
KINDS = (STEP, TIMELINE)
MOST_SLOWDOWN = 1000
"""The largest factor by which a slow network stretches a step."""

_BEYOND = "it would lie beyond the end of the year 9998, where simulated time ends"


@with_config(STRICT)
class StepArguments(TypedDict):
    """What the timer of a step carries: one action with its parameters, or a scenario to hand over to."""

    scenario: str
    part: str
    place: str
    event: str
    at_once: NotRequired[bool]
    slowed_by: NotRequired[list[Annotated[str, NameOf(NETWORK)]]]
    factor: NotRequired[Annotated[float, Field(gt=0, le=MOST_SLOWDOWN)]]
    action: str | None
    acts_on: str | None
    parameters: JsonObject
    environment: Annotated[str, NameOf(ENVIRONMENT)]
    hand_to: str | None


def check_step(arguments: JsonObject, path: str, names: Mapping[str, object]) -> None:
    """StateError for arguments that no timer of a step can carry, in a service with these `Vocabulary.names`."""
    hold_against(StepArguments, arguments, path, names)
    if (arguments["action"] is None) == (arguments["hand_to"] is None):
        raise StateError(path, "a step has an action, or a scenario to hand over to")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedStep:
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
    def of(cls, timer: Timer) -> PlannedStep:
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


def plan(world: World, due_at_ms: int, step: PlannedStep) -> str | None:
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
            note_step(world, "skipped", PlannedStep.of(timer), reason=_BEYOND)


def steps_of(world: World, name: str) -> list[Timer]:
    """The timers of a scenario's pending steps, in no order that means anything."""
    return [timer for timer in world.agenda.all() if timer.kind in KINDS and timer.arguments["scenario"] == name]


def steps_on(world: World, object_id: str) -> list[Timer]:
    """The timers of the pending steps that rules planned for an object, in firing order."""
    return [timer for timer in timers_about(world, object_id) if timer.kind == STEP and timer.target == object_id]


def timers_about(world: World, object_id: str) -> list[Timer]:
    """The timers for an object, and of the steps that act on it, in firing order."""
    return world.agenda.in_firing_order(world.store[TIMERS].index(_ByObject).keys(object_id))


class _ByObject:
    """The keys of timers by the objects that they are for and act on."""

    def __init__(self, table: Table[Timer]) -> None:
        self._keys: dict[str, dict[str, None]] = {}
        for timer in table.values():
            self.written(timer.key, ABSENT, timer)

    def keys(self, object_id: str) -> Iterable[str]:
        return self._keys.get(object_id, ())

    def written(self, key: str, old: Any, new: Any) -> None:
        """A timer was planned or taken away; ABSENT stands for none."""
        for about in () if old is ABSENT else _objects_of(old):
            keys = self._keys[about]
            del keys[key]
            if not keys:
                del self._keys[about]
        for about in () if new is ABSENT else _objects_of(new):
            self._keys.setdefault(about, {})[key] = None


def _objects_of(timer: Timer) -> tuple[str, ...]:
    acts_on = timer.arguments.get("acts_on")
    return (timer.target, acts_on) if isinstance(acts_on, str) and acts_on != timer.target else (timer.target,)


def note_step(world: World, what: What, step: PlannedStep, **about: Unpack[About]) -> None:
    """Enter what became of a step in the logbook; inside a change."""
    said: About = {"object": step.target, "action": step.does, **about}
    note(world, step.scenario, what, step.part, step.place, **said)
