"""Delays that depend on a network: stretched while it is slow (`slowdown`), held while it is down (decision S22).

Actions that are called directly are never held, because the caller expects a result.
"""

# Held steps are rows in the store, not timers. If a network stays down, a timer that retries at intervals would fire
# forever, and an advance to the last timer would never end.

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any

from simulator.engine.records.records import find
from simulator.engine.rows.action import ActionTable
from simulator.engine.rows.provider import NetworkStatus, Outages
from simulator.engine.scenario.play.matching import dig
from simulator.engine.scenario.play.pending import KINDS, STEP, TIMELINE, PlannedStep, drop_beyond
from simulator.engine.text.json import JsonObject
from simulator.kernel.dataclass import dataclass
from simulator.kernel.fields import Milliseconds
from simulator.kernel.store import TableKey
from simulator.kernel.world import World

_CARRIED = ("scenario", "part", "place", "event", "action", "acts_on", "parameters", "hand_to", "slowed_by", "factor")


@dataclass(frozen=True, slots=True)
class Held:
    """A held step: the fields of its timer, the remaining delay, and the networks that the step is waiting for."""

    # Saved worlds contain the names of this class and its fields.

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
        """The kind of timer that fires for this step."""
        return TIMELINE if self.of_timeline else STEP

    def arguments(self) -> JsonObject:
        """Return the arguments with which the step's timer is planned."""
        return {name: getattr(self, name) for name in (*_CARRIED, "environment")}


HELD = TableKey("scenario.held", Held)


def hold(world: World, actions: ActionTable, outages: Outages, fresh: Iterable[str] | None = None) -> None:
    """Hold each step that needs an unavailable network, and the later steps of the same rule. `fresh` contains the keys
    of the timers to check. The default is all steps.
    """
    status, networks = outages.status, outages.networks
    if not any(status(world, environment, name) == "down" for environment in world.environments for name in networks):
        return
    # The steps of a rule are sequential, so the steps after a held step wait even if they need no network. Otherwise
    # a refund could happen before the deposit that it refunds. Firing order is rule order, so one pass is enough. The
    # steps of a timeline are independent.
    waiting: dict[tuple[str, str, str], tuple[str, ...]] = {}
    for timer in world.agenda.in_firing_order(fresh):
        if timer.kind not in KINDS:
            continue
        step = PlannedStep.of(timer)
        record = find(world, step.acts_on or step.target)
        # The object's environment is used, because a timeline step may name an environment that differs from its
        # target's.
        environment = step.environment if record is None else record.environment
        needed = sorted(actions.networks_needed(step.action or "", record)) if record is not None else ()
        down = tuple(name for name in needed if status(world, environment, name) == "down")
        # For example, `rules[0]` if the part is `rules[0].do[1]`.
        rule = (step.scenario, step.part.partition(".")[0], step.target)
        awaited = down or (() if step.of_timeline else waiting.get(rule, ()))
        if awaited:
            world.agenda.cancel_key(timer.key)
            carried = {name: getattr(step, name) for name in _CARRIED}
            remaining_ms = timer.due_at_ms - world.now_ms
            held = Held(remaining_ms, environment, awaited, step.of_timeline, step.target, **carried)
            world.store[HELD].put(str(world.next_sequence(HELD.name)), held)
            waiting.setdefault(rule, awaited)


def release(world: World, status: NetworkStatus) -> None:
    """Plan the held steps whose networks are all available again."""
    for key, held in list(world.store[HELD].items()):
        if any(status(world, held.environment, name) == "down" for name in held.networks):
            continue
        world.store[HELD].delete(key)
        # A released step may be due after the end of time. `restretch` drops these steps once all delays are final.
        world.agenda.plan_another(world.now_ms + held.remaining_ms, held.kind, held.target, **held.arguments())


def held_steps(world: World, *, scenario: str = "", about: str = "") -> Iterator[Held]:
    """Yield the held steps in order: all, or those of a scenario or an object."""
    for row in world.store[HELD].values():
        if (not scenario or row.scenario == scenario) and (not about or about in (row.target, row.acts_on)):
            yield row


def drop(world: World, *, scenario: str = "", target: str = "") -> None:
    """Delete the held steps of a scenario, of an object, or of both."""
    for key, row in list(world.store[HELD].items()):
        if (scenario and row.scenario == scenario) or (target and row.target == target):
            world.store[HELD].delete(key)


def networks_of(subject: Mapping[str, Any], spellings: Mapping[str, str]) -> list[str]:
    """Return the canonical names of an object's networks. `spellings` maps lower-case names to canonical names."""
    written = (dig(subject, path) for path in ("network", "from.network", "to.network"))
    named = (spellings.get(one.lower()) for one in written if isinstance(one, str))
    return list(dict.fromkeys(filter(None, named)))


def factor(
    world: World, status: NetworkStatus, slowdown: Mapping[Any, float], environment: str, networks: Iterable[str]
) -> float:
    """Return the factor by which delays are multiplied, given the current status of some networks."""
    # The largest factor applies, not the product, because an object on two networks waits for one network at a time.
    # If no factor is above 1, the smallest applies. Otherwise the default of 1.0 would hide a factor below 1.
    factors = [1.0, *(slowdown.get(status(world, environment, network), 1.0) for network in networks)]
    return max(factors) if max(factors) > 1 else min(factors)


def restretch(world: World, status: NetworkStatus, slowdown_of: Callable[[str], Mapping[Any, float]]) -> None:
    """Adjust the remaining delays of planned steps to the status of its networks. Call this inside a transaction."""
    # Replanned timers get new sequence numbers. Processing them in firing order preserves the order of steps that are
    # due at the same time.
    for timer in world.agenda.in_firing_order():
        if timer.kind != STEP or not timer.arguments.get("slowed_by"):
            continue  # This check uses only the arguments, because thousands of pending steps may need no network.
        step = PlannedStep.of(timer)
        record = find(world, step.target)
        environment = step.environment if record is None else record.environment
        now = factor(world, status, slowdown_of(step.scenario), environment, step.slowed_by)
        if now == step.factor:
            continue
        # Only the remaining delay changes. The step saves its factor, so that the next status change can reverse this
        # one exactly (apart from a millisecond of rounding).
        left_ms = round((timer.due_at_ms - world.now_ms) * now / step.factor)
        world.agenda.cancel_key(timer.key)
        arguments = {**timer.arguments, "factor": now}
        world.agenda.plan_another(world.now_ms + left_ms, STEP, timer.target, **arguments)
    drop_beyond(world)
