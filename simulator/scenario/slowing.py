"""Steps that a slow network stretches: the key `slowdown` of a scenario.

A step is stretched while its object's network has that status, so what is left of its delay changes with the network.
It carries the networks of its object (none where its scenario has no `slowdown`) and the factor of the present.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from simulator.kernel.world import World
from simulator.scenario.holding import NetworkStatus
from simulator.scenario.matching import dig
from simulator.scenario.pending import STEP
from simulator.wire.records import Record, find
from simulator.wire.spelling import DEPOSIT, SHORT

_NETWORKS = DEPOSIT | SHORT
"""Canonical names of networks by any spelling, in lower case."""


def networks_of(subject: Mapping[str, Any]) -> list[str]:
    """The canonical networks that an object names."""
    written = (dig(subject, path) for path in ("network", "from.network", "to.network"))
    named = (_NETWORKS.get(one.lower()) for one in written if isinstance(one, str))
    return list(dict.fromkeys(filter(None, named)))


def factor(
    world: World, status: NetworkStatus, slowdown: Mapping[Any, float], environment: str, networks: Iterable[str]
) -> float:
    """How much steps are stretched by the status of these networks now: by the slowest of them."""
    factors = [1.0, *(slowdown.get(status(world, environment, network), 1.0) for network in networks)]
    return max(factors) if max(factors) > 1 else min(factors)


def restretch(world: World, status: NetworkStatus, slowdown_of: Callable[[str], Mapping[Any, float]]) -> None:
    """Stretch what is left of every planned step as the networks are now; inside a change."""
    for timer in world.agenda.in_firing_order():
        networks = timer.arguments.get("slowed_by")
        if timer.kind != STEP or not networks:
            continue
        record = find(world, timer.target)
        environment = record.environment if isinstance(record, Record) else timer.arguments["environment"]
        before = timer.arguments.get("factor", 1.0)
        now = factor(world, status, slowdown_of(timer.arguments["scenario"]), environment, networks)
        if now == before:
            continue
        left_ms = round((timer.due_at_ms - world.now_ms) * now / before)
        world.agenda.cancel_key(timer.key)
        arguments = {**timer.arguments, "factor": now}
        world.agenda.plan_another(world.now_ms + left_ms, STEP, timer.target, **arguments)
