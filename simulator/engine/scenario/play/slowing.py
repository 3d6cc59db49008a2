"""Steps that a slow network stretches: the key `slowdown` of a scenario.

A step is stretched while its object's network has that status, so what is left of its delay changes with the network.
It carries the networks of its object (none where its scenario has no `slowdown`) and the factor of the present.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from simulator.engine.records.records import find
from simulator.engine.rows.outages import NetworkStatus
from simulator.engine.scenario.play.matching import dig
from simulator.engine.scenario.play.pending import STEP, PlannedStep
from simulator.kernel.world import World


def networks_of(subject: Mapping[str, Any], spellings: Mapping[str, str]) -> list[str]:
    """The canonical networks that an object names, by their spellings in lower case."""
    written = (dig(subject, path) for path in ("network", "from.network", "to.network"))
    named = (spellings.get(one.lower()) for one in written if isinstance(one, str))
    return list(dict.fromkeys(filter(None, named)))


def factor(
    world: World, status: NetworkStatus, slowdown: Mapping[Any, float], environment: str, networks: Iterable[str]
) -> float:
    """How much steps are stretched by the status of these networks now: by the slowest of them."""
    # The slowest decides, not the product: an object on two networks is held up by one at a time. Where none is slower
    # than usual, the fastest decides, so that a factor below 1 (a network that works well) is not lost to the 1.
    factors = [1.0, *(slowdown.get(status(world, environment, network), 1.0) for network in networks)]
    return max(factors) if max(factors) > 1 else min(factors)


def restretch(world: World, status: NetworkStatus, slowdown_of: Callable[[str], Mapping[Any, float]]) -> None:
    """Stretch what is left of every planned step as the networks are now; inside a change."""
    # In firing order, because a step planned anew gets a new number: two that are due together stay in their order.
    for timer in world.agenda.in_firing_order():
        if timer.kind != STEP or not timer.arguments.get("slowed_by"):
            continue  # the arguments alone decide: thousands of steps may be pending that no network slows
        step = PlannedStep.of(timer)
        record = find(world, step.target)
        environment = step.environment if record is None else record.environment
        now = factor(world, status, slowdown_of(step.scenario), environment, step.slowed_by)
        if now == step.factor:
            continue
        # What has passed of the delay has passed at the old pace; only what is left changes. The factor travels with
        # the step, so that the next change takes this one back exactly (to the millisecond that rounding costs).
        left_ms = round((timer.due_at_ms - world.now_ms) * now / step.factor)
        world.agenda.cancel_key(timer.key)
        arguments = {**timer.arguments, "factor": now}
        world.agenda.plan_another(world.now_ms + left_ms, STEP, timer.target, **arguments)
