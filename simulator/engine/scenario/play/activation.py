"""Activates and deactivates scenarios in a world. Call the functions that change a world inside a transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from simulator.engine import webhooks
from simulator.engine.faults.in_force import FAULTS, put_in_force
from simulator.engine.rows.error import ControlError
from simulator.engine.scenario.files.library import Renewal, ScenarioFile
from simulator.engine.scenario.play import delays, stops
from simulator.engine.scenario.play.catalogue import UPLOADED, CannotActivate, Context, UnknownScenario, row_of
from simulator.engine.scenario.play.pending import PlannedStep, plan, steps_of
from simulator.engine.scenario.play.script import Span
from simulator.engine.text.json import JsonObject
from simulator.kernel.journal import Cause
from simulator.kernel.store import TableKey
from simulator.kernel.world import World

ACTIVE = TableKey("scenario.active", list[str])
"""One row, `names`, that contains the names of the active scenarios."""
BINDINGS = TableKey("scenario.bindings", str)
"""The name of the scenario that an object is bound to, by object id."""
COUNTS = TableKey("scenario.counts", int)
"""How often a rule with `times` has fired, by `scenario|index of the rule|id of the bound object`."""


def active(world: World) -> Sequence[str]:
    """Return the names of the active scenarios in a world. Scenarios later in the list take precedence."""
    return world.store[ACTIVE].get("names") or ()


def activate(context: Context, world: World, names: Iterable[str]) -> list[str]:
    """Activate the scenarios in `names`, and deactivate all others. Scenarios later in `names` take precedence.

    Scenarios that were already active continue. The pending steps and faults of deactivated scenarios are deleted. A
    stopped scenario starts again. Raise `UnknownScenario` if a name is unknown, or `CannotActivate` if an entry in a
    scenario's `world` section is refused.
    """
    # If a name is repeated, only its last position counts, because later scenarios take precedence.
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


def upload(context: Context, world: World, file: ScenarioFile) -> None:
    """Save a scenario in the world. It replaces any scenario of the same name, immediately if that one is active."""
    is_active = file.name in active(world)
    if is_active:
        deactivate(world, file.name)
    world.store[UPLOADED].put(file.name, row_of(file))
    stops.clear(world, file.name)
    if is_active:
        _set_up(context, world, file.name)


def renew(context: Context, world: World, renewal: Renewal) -> bool:
    """Apply a changed scenario file to a world. Return True if the scenario was active there before the change.

    Planned steps and the state that was set up remain. The counts of rules restart. Faults are replaced if they differ.
    If the file was deleted, the scenario is deactivated.
    """
    name, before, after = renewal.name, renewal.before, renewal.after
    if name not in active(world) or name in world.store[UPLOADED]:
        return False
    if after is None:
        _remove(world, name)
        return True
    _delete_counts(world, name)
    # Unchanged faults stay in force, because setting them again would restart their own counts.
    if before is None or before.script.faults != after.script.faults:
        _end_faults(world, name)
        for fault in after.script.faults:
            put_in_force(world, fault, name)
    return True


def stop(world: World, name: str, part: str, place: str, reason: str) -> None:
    """Deactivate a scenario until it is activated or uploaded again, and record the reason."""
    _remove(world, name)
    stops.enter(world, name, part, place, reason)


def _remove(world: World, name: str) -> None:
    deactivate(world, name)
    world.store[ACTIVE].put("names", [other for other in active(world) if other != name])


def deactivate(world: World, name: str) -> None:
    """Delete a scenario's pending steps and faults. The changes that the scenario has made to the world remain."""
    for timer in steps_of(world, name):
        world.agenda.cancel_key(timer.key)
    delays.drop(world, scenario=name)
    _end_faults(world, name)


def _end_faults(world: World, name: str) -> None:
    for row in [row for row in world.store[FAULTS].values() if row["scenario"] == name]:
        webhooks.end_fault(world, row["id"])


def _delete_counts(world: World, name: str) -> None:
    # Delete only the counts of the active scenario (`name|rule|`). A bound object has its own counts
    # (`name|rule|id`). They continue, because the object stays bound to its scenario even if that scenario is not
    # active.
    counts = world.store[COUNTS]
    for key in [key for key, _ in counts.items() if key.startswith(f"{name}|") and key.endswith("|")]:
        counts.delete(key)


def draw(world: World, name: str, span: Span) -> int:
    """Return a random delay in milliseconds. Each scenario has its own random stream, so none affects another."""
    if span.low_ms == span.high_ms:
        return span.low_ms  # a fixed delay draws nothing, so adding one to a file does not shift later draws
    return span.low_ms + world.streams.below(span.high_ms - span.low_ms + 1, f"scenario.{name}")


def _set_up(context: Context, world: World, name: str) -> None:
    """Reset the rule counts of a scenario, carry out its `world` section, set its faults, and plan its timeline."""
    file = context.catalogue.file(world, name)
    _delete_counts(world, name)
    for place, action, entry in _entries(context, file):
        parameters = {"environment": world.environments[0], **entry}
        environment, cause = parameters.pop("environment"), Cause("rule", file.name, file.place(place))
        try:
            context.actions.carry_out(world, action, None, parameters, environment, cause)
        except ControlError as refusal:
            raise CannotActivate(file, place, refusal) from None
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
    # All steps are checked, because `world` may have taken down a network that steps of other scenarios need.
    delays.hold(world, context.actions, context.outages)


def _entries(context: Context, file: ScenarioFile) -> Iterator[tuple[str, str, JsonObject]]:
    """Yield the path, action and parameters of each entry in the `world` section of a scenario, in order."""
    for initial, action in context.actions.initial:
        given = file.script.world.get(initial.member)
        if isinstance(given, list):
            yield from ((f"world.{initial.member}[{index}]", action, entry) for index, entry in enumerate(given))
        elif given is not None:
            yield f"world.{initial.member}", action, given
