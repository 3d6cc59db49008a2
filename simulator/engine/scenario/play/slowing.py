"""Stretches the delays of pending steps while a network is slow, by the factors in `slowdown`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from simulator.engine.records.records import find
from simulator.engine.rows.provider import NetworkStatus
from simulator.engine.scenario.play.matching import dig
from simulator.engine.scenario.play.pending import STEP, PlannedStep, drop_beyond
from simulator.kernel.world import World


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
