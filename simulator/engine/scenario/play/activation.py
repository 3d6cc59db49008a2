"""Which scenarios are active in a world: setting up one that becomes so, taking away one that no longer is.

Chapter "Scenarios" of the control interface. All of it happens inside the caller's change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from simulator.engine import webhooks
from simulator.engine.faults.in_force import FAULTS, put_in_force
from simulator.engine.rows.error import ControlError
from simulator.engine.scenario.files.library import ScenarioFile
from simulator.engine.scenario.play import holding, stops
from simulator.engine.scenario.play.catalogue import CannotActivate, Context, UnknownScenario
from simulator.engine.scenario.play.pending import PlannedStep, plan, steps_of
from simulator.engine.scenario.play.script import Span
from simulator.engine.text.json import JsonObject
from simulator.kernel.journal import Cause
from simulator.kernel.store import TableKey
from simulator.kernel.world import World

if TYPE_CHECKING:
    from simulator.engine.scenario.files.folder import Renewal

ACTIVE = TableKey("scenario.active", list[str])
"""One row, `names`."""
BINDINGS = TableKey("scenario.bindings", str)
"""Id of an object → the scenario that alone acts on it."""
COUNTS = TableKey("scenario.counts", int)
"""How often rules with `times` have fired, by `scenario|index of the rule|object`."""


def active(world: World) -> list[str]:
    """The names of the active scenarios, the one that wins last."""
    return list(world.store[ACTIVE].get("names") or [])


def activate(context: Context, world: World, names: Iterable[str]) -> list[str]:
    """Make exactly these scenarios active, later ones winning; UnknownScenario, CannotActivate.

    Those that were active stay as they are; those that go take their pending steps, timeline and faults along. One
    that was stopped begins afresh.
    """
    # A name given twice counts where it stands last: that is the place where it would win.
    wanted = list(dict.fromkeys(reversed(list(names))))[::-1]
    for name in wanted:
        if not context.catalogue.knows(world, name):
            raise UnknownScenario(name, context.catalogue.names(world), "names")
    before = active(world)
    for name in before:
        if name not in wanted:
            deactivate(world, name)
    world.store[ACTIVE].put("names", wanted)
    for name in wanted:
        stops.clear(world, name)
        if name not in before:
            _set_up(context, world, name)
    return wanted


def replace(context: Context, world: World, file: ScenarioFile) -> None:
    """Keep an uploaded scenario in place of one of its name; when that one is active, the new one is set up at once."""
    is_active = file.name in active(world)
    if is_active:
        deactivate(world, file.name)
    context.catalogue.keep(world, file)
    stops.clear(world, file.name)
    if is_active:
        _set_up(context, world, file.name)


def renew(context: Context, world: World, renewal: Renewal) -> bool:
    """A file was read anew: what it says holds from now on in a world where it is active; whether it is.

    What is planned stays planned, and the state that it laid down stays; its rules and their counts are new, and its
    faults are replaced where they differ. One that is gone is taken out. An uploaded scenario of that name hides it.
    """
    name, before, after = renewal.name, renewal.before, renewal.after
    if name not in active(world) or context.catalogue.is_uploaded(world, name):
        return False
    if after is None:
        deactivate(world, name)
        world.store[ACTIVE].put("names", [other for other in active(world) if other != name])
        return True
    _forget_counts(world, name)
    if before is None or before.script.faults != after.script.faults:
        _end_faults(world, name)
        for fault in after.script.faults:
            put_in_force(world, fault, name)
    return True


def stop(world: World, name: str, part: str, place: str, reason: str) -> None:
    """Take a scenario out of the world until it is activated or uploaded again."""
    deactivate(world, name)
    world.store[ACTIVE].put("names", [other for other in active(world) if other != name])
    stops.enter(world, name, part, place, reason)


def deactivate(world: World, name: str) -> None:
    """Take away what a scenario has pending and its faults. What it did to the world's state stays."""
    for timer in steps_of(world, name):
        world.agenda.cancel_key(timer.key)
    holding.forget(world, scenario=name)
    _end_faults(world, name)


def _end_faults(world: World, name: str) -> None:
    for row in [row for row in world.store[FAULTS].values() if row["scenario"] == name]:
        webhooks.end_fault(world, row["id"])


def _forget_counts(world: World, name: str) -> None:
    """Counts of objects bound to it (`name|rule|root`) go on: those were never under the list of active ones."""
    counts = world.store[COUNTS]
    for key in [key for key, _ in counts.items() if key.startswith(f"{name}|") and key.endswith("|")]:
        counts.delete(key)


def draw(world: World, name: str, span: Span) -> int:
    """How long a delay of a scenario takes, in milliseconds: by its own stream, so that others do not shift it."""
    if span.low_ms == span.high_ms:
        return span.low_ms  # what leaves nothing to chance draws nothing, lest it shift what does
    return span.low_ms + world.streams.below(span.high_ms - span.low_ms + 1, f"scenario.{name}")


def _set_up(context: Context, world: World, name: str) -> None:
    """World state, faults and timeline of a scenario that becomes active; its counts begin anew."""
    file = context.catalogue.file(world, name)
    _forget_counts(world, name)
    _set_world(context, world, file)
    for fault in file.script.faults:
        put_in_force(world, fault, name)
    for index, step in enumerate(file.script.timeline):
        part = f"timeline[{index}]"
        pending = PlannedStep(
            target=step.target or name,
            scenario=name,
            part=part,
            place=file.place(part),
            event="",
            environment=step.environment or world.environments[0],
            action=step.action,
            acts_on=step.target,
            parameters=step.parameters,
            of_timeline=True,
        )
        plan(world, world.now_ms + draw(world, name, step.delay), pending)
    holding.hold(world, context.actions, context.outages)


def _set_world(context: Context, world: World, file: ScenarioFile) -> None:
    """The state that a scenario asks for, each entry by the action that anybody could do; CannotActivate."""
    for place, action, entry in _entries(context, file):
        parameters = {key: value for key, value in entry.items() if key != "environment"}
        cause = Cause("rule", file.name, file.place(place))
        environment = entry.get("environment", world.environments[0])
        try:
            context.actions.carry_out(world, action, None, parameters, environment, cause)
        except ControlError as refusal:
            raise CannotActivate(file, place, refusal) from None


def _entries(context: Context, file: ScenarioFile) -> Iterator[tuple[str, str, JsonObject]]:
    """The entries of a scenario's `world`, in order: place, action, parameters."""
    for initial, action in context.actions.initial:
        given = file.script.world.get(initial.member)
        if isinstance(given, list):
            yield from ((f"world.{initial.member}[{index}]", action, entry) for index, entry in enumerate(given))
        elif given is not None:
            yield f"world.{initial.member}", action, given
