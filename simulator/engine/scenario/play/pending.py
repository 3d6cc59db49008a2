"""Pending steps as timers. Worlds are saved with them, so the names and order of arguments must not change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Annotated, Any, NotRequired

from pydantic import Field, with_config
from typing_extensions import TypedDict, Unpack

from simulator.engine.records.codec import StateError
from simulator.engine.records.saved import STRICT, hold_against
from simulator.engine.scenario.play.logbook import About, What, note
from simulator.engine.text.json import JsonObject
from simulator.engine.text.shapes import ENVIRONMENT, NETWORK, NameOf
from simulator.kernel.agenda import TIMERS, Timer
from simulator.kernel.clock import LAST_MS
from simulator.kernel.dataclass import dataclass
from simulator.kernel.table import ABSENT, Table
from simulator.kernel.world import World

STEP = "scenario.step"
TIMELINE = "scenario.timeline"
KINDS = (STEP, TIMELINE)
_BEYOND = "it would be due after the year 9998, in which simulated time ends"


@with_config(STRICT)
class StepArguments(TypedDict):
    """The arguments of a step's timer: an action with parameters, or a handover to the scenario `hand_to`."""

    scenario: str
    part: str
    place: str
    event: str
    at_once: NotRequired[bool]
    slowed_by: NotRequired[list[Annotated[str, NameOf(NETWORK)]]]
    factor: NotRequired[Annotated[float, Field(gt=0, le=1000)]]
    action: str | None
    acts_on: str | None
    parameters: JsonObject
    environment: Annotated[str, NameOf(ENVIRONMENT)]
    hand_to: str | None


def check_step(arguments: JsonObject, path: str, names: Mapping[str, object]) -> None:
    """Raise `StateError` if the arguments of a timer are invalid, given the names of networks and environments."""
    hold_against(StepArguments, arguments, path, names)
    if (arguments["action"] is None) == (arguments["hand_to"] is None):
        raise StateError(path, "a step must have either an action or a scenario to hand over to")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedStep:
    """A planned step, which performs an `action` or hands its object over to another scenario."""

    target: str
    """The id of the rule's object. On a timeline, the id of the target or the scenario's name."""
    scenario: str
    part: str
    """The path of the step in the document."""
    place: str
    """The file and line of the step's rule or timeline entry."""
    event: str
    """The event that triggered the rule, or "" on a timeline."""
    environment: str
    action: str | None
    acts_on: str | None
    """The resource that the action acts on, if it is not `target`."""
    parameters: JsonObject
    hand_to: str | None = None
    of_timeline: bool = False
    at_once: bool = False
    """Whether the step was planned without delay."""
    slowed_by: list[str] = field(default_factory=list)
    """The networks whose status can stretch the step's delay."""
    factor: float = 1.0
    """The factor by which the delay is currently stretched."""

    @classmethod
    def of(cls, timer: Timer) -> PlannedStep:
        """Return the step for which a timer was planned. Arguments that the timer of a held step lacks get defaults."""
        return cls(target=timer.target, of_timeline=timer.kind == TIMELINE, **timer.arguments)

    def arguments(self) -> dict[str, Any]:
        # Saved timers contain the arguments in one of these two orders, and so do responses that contain a timer.
        written = {"scenario": self.scenario, "part": self.part, "place": self.place, "event": self.event}
        work = {"action": self.action, "acts_on": self.acts_on, "parameters": self.parameters}
        if self.of_timeline:
            return {**written, **work, "environment": self.environment, "hand_to": self.hand_to}
        stretch = {"at_once": self.at_once, "slowed_by": self.slowed_by, "factor": self.factor}
        return {**written, **stretch, **work, "hand_to": self.hand_to, "environment": self.environment}


def step_name(action: str | None, hand_to: str | None) -> str:
    """Return the name of a step's action, or `scenario NAME` if the step is a handover."""
    return action or f"scenario {hand_to}"


def plan(world: World, due_at_ms: int, step: PlannedStep) -> str | None:
    """Plan a timer for a step, and return its key, or record a step due after the end of time as skipped."""
    if due_at_ms > LAST_MS:
        note_step(world, "skipped", step, reason=_BEYOND)
        return None
    kind = TIMELINE if step.of_timeline else STEP
    return world.agenda.plan_another(due_at_ms, kind, step.target, **step.arguments())


def drop_beyond(world: World) -> None:
    """Skip each step that is now due after the end of simulated time because a network has become slower."""
    for timer in world.agenda.in_firing_order():
        if timer.kind in KINDS and timer.due_at_ms > LAST_MS:
            world.agenda.cancel_key(timer.key)
            note_step(world, "skipped", PlannedStep.of(timer), reason=_BEYOND)


def steps_of(world: World, name: str) -> list[Timer]:
    """Return the timers of a scenario's pending steps, in no particular order."""
    return [timer for timer in world.agenda.all() if timer.kind in KINDS and timer.arguments["scenario"] == name]


def steps_on(world: World, object_id: str) -> list[Timer]:
    """Return the timers of the steps that rules have planned for an object, in firing order."""
    return [timer for timer in timers_about(world, object_id) if timer.kind == STEP and timer.target == object_id]


def timers_about(world: World, object_id: str) -> list[Timer]:
    """Return all timers of an object in firing order. Timers of scenario steps that act on the object are included."""
    return world.agenda.in_firing_order(world.store[TIMERS].index(_ByObject).keys(object_id))


class _ByObject:
    """An index of timer keys by object, because a search through all timers in the world would take too long."""

    def __init__(self, table: Table[Timer]) -> None:
        self._keys: dict[str, dict[str, None]] = {}
        for timer in table.values():
            self.written(timer.key, ABSENT, timer)

    def keys(self, object_id: str) -> Iterable[str]:
        return self._keys.get(object_id, ())

    def written(self, key: str, old: Any, new: Any) -> None:
        """Update the index. `old` is `ABSENT` for a new timer, and `new` is `ABSENT` for a deleted one."""
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
    """Add the result of a step to the logbook. Call this function inside a transaction."""
    said: About = {"object": step.target, "action": step_name(step.action, step.hand_to), **about}
    note(world, step.scenario, what, step.part, step.place, **said)
