"""Steps that wait for a network: what is under way on one that is down is held until it is up again (decision S22).

A step is held for as long as the network is down, and goes on with what was left of its delay (stretched anew, see
`slowing`). Held steps are rows of the world's store; they have no due time, so they are on no agenda. Left there and
tried again every so often, they would fire for ever in a world whose network stays down, and an advance to the last
timer would never end. Actions by hand are never held: who does them by hand wants to see what comes of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field

from simulator.engine.records.records import find
from simulator.engine.rows.action import ActionTable
from simulator.engine.rows.outages import NetworkStatus, Outages
from simulator.engine.scenario.play.pending import KINDS, STEP, TIMELINE, PlannedStep
from simulator.engine.text.json import JsonObject
from simulator.kernel.agenda import Timer
from simulator.kernel.dataclass import dataclass
from simulator.kernel.fields import Milliseconds
from simulator.kernel.store import TableKey
from simulator.kernel.table import Table
from simulator.kernel.world import World

_CARRIED = ("scenario", "part", "place", "event", "action", "acts_on", "parameters", "hand_to")
_STRETCH = ("slowed_by", "factor")


@dataclass(frozen=True, slots=True)
class Held:
    """A step that waits: what is left of its delay, the networks it waits for, and what its timer was."""

    remaining_ms: Milliseconds
    environment: str
    networks: tuple[str, ...]
    of_timeline: bool
    target: str
    scenario: str
    part: str
    place: str
    event: str
    action: str | None
    acts_on: str | None
    parameters: JsonObject
    hand_to: str | None
    slowed_by: list[str] = field(default_factory=list)
    factor: float = 1.0

    @property
    def kind(self) -> str:
        """The kind of its timer."""
        return TIMELINE if self.of_timeline else STEP

    def arguments(self) -> JsonObject:
        """What the timer of the step carries."""
        return {name: getattr(self, name) for name in (*_CARRIED, *_STRETCH, "environment")}


HELD = TableKey("scenario.held", Held)


def hold(world: World, actions: ActionTable, outages: Outages, fresh: Iterable[str] | None = None) -> None:
    """Take planned steps that need a network that is down off the agenda, and what follows each in its rule.

    `fresh`: the keys of what has just been planned, where the networks are as they were; else all steps are looked at.
    """
    status, networks = outages.status, outages.networks
    if not any(status(world, environment, name) == "down" for environment in world.environments for name in networks):
        return
    # Steps of a rule count from the step before, so what follows a held one in its rule waits with it, needing the
    # network or not: else a refund could come before the deposit that it gives back. Firing order is the rule's order,
    # which is why one pass suffices. Steps of a timeline count from its beginning and wait each for itself.
    waiting: dict[tuple[str, str, str], tuple[str, ...]] = {}
    for timer in world.agenda.in_firing_order(fresh):
        if timer.kind not in KINDS:
            continue
        step = PlannedStep.of(timer)
        record = find(world, step.acts_on or step.target)
        # The object's own environment: a step of a timeline may be written for another than that of what it acts on.
        environment = step.environment if record is None else record.environment
        needed = sorted(actions.networks_needed(step.action or "", record)) if record is not None else ()
        down = tuple(name for name in needed if status(world, environment, name) == "down")
        rule = (step.scenario, step.part.partition(".")[0], step.target)  # of `rules[0].do[1]` the first part
        awaited = down or (() if step.of_timeline else waiting.get(rule, ()))
        if awaited:
            _keep(world, timer, environment, awaited)
            waiting.setdefault(rule, awaited)


def _keep(world: World, timer: Timer, environment: str, networks: tuple[str, ...]) -> None:
    world.agenda.cancel_key(timer.key)
    held = Held(
        remaining_ms=timer.due_at_ms - world.now_ms,
        environment=environment,
        networks=networks,
        of_timeline=timer.kind == TIMELINE,
        target=timer.target,
        **{name: timer.arguments[name] for name in _CARRIED},
        **{name: timer.arguments[name] for name in _STRETCH if name in timer.arguments},
    )
    _table(world).put(str(world.next_sequence(HELD.name)), held)


def release(world: World, status: NetworkStatus) -> None:
    """Plan every held step again whose networks are all up."""
    for key, held in list(_table(world).items()):
        if any(status(world, held.environment, name) == "down" for name in held.networks):
            continue
        _table(world).delete(key)
        # What is left may now end beyond the end of time; whoever releases looks for that once all are planned again.
        world.agenda.plan_another(world.now_ms + held.remaining_ms, held.kind, held.target, **held.arguments())


def held_steps(world: World, *, scenario: str = "", about: str = "") -> Iterator[Held]:
    """The held steps, those of one scenario, or those about an object, in the order in which they were held."""
    for row in _table(world).values():
        if (not scenario or row.scenario == scenario) and (not about or about in (row.target, row.acts_on)):
            yield row


def forget(world: World, *, scenario: str = "", target: str = "") -> None:
    """Drop the held steps of a scenario, or those on an object."""
    for key, row in list(_table(world).items()):
        if (scenario and row.scenario == scenario) or (target and row.target == target):
            _table(world).delete(key)


def _table(world: World) -> Table[Held]:
    return world.store[HELD]
