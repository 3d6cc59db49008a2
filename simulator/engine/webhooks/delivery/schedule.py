"""When a webhook that is not acknowledged is tried again (decision W5)."""

from __future__ import annotations

from itertools import accumulate

from simulator.engine.webhooks.records import PLANNED
from simulator.engine.worlds.settings import assumes
from simulator.kernel.clock import HOUR_MS, MINUTE_MS
from simulator.kernel.world import World

RETRY_DELAYS_MS = (MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 6 * HOUR_MS, *(5 * (12 * HOUR_MS,)))
"""The delay after each failed attempt; after the last one the endpoint is disabled (decision W5: 11 attempts)."""


def retries_of(world: World) -> int:
    """How often an attempt is repeated (decision W5)."""
    return 6 if assumes(world, "W5", "gives_up_after_a_day") else len(RETRY_DELAYS_MS)


def retries_ahead(world: World, *, event_id: str, endpoint_id: str) -> list[int]:
    """When an event will be tried again at an endpoint while every attempt fails at once: milliseconds, in their order.

    An attempt that a fault delays counts, with the retries after it.
    """
    found: list[int] = []
    for row in world.store[PLANNED.of(owner=endpoint_id)].values():
        if row.pending.event_id == event_id:
            (timer,) = world.agenda.in_firing_order((row.timer,))
            stages = () if row.pending.stage is None else range(row.pending.stage, retries_of(world))
            found += accumulate((RETRY_DELAYS_MS[stage] for stage in stages), initial=timer.due_at_ms)
    return sorted(found)
