"""When a webhook that is not acknowledged is tried again (decision W5)."""

from __future__ import annotations

from itertools import accumulate

from simulator.engine.rows.service import signing_of
from simulator.engine.webhooks.records import PLANNED
from simulator.kernel.world import World


def retries_ahead(world: World, *, event_id: str, endpoint_id: str) -> list[int]:
    """When an event will be tried again at an endpoint while every attempt fails at once: milliseconds, in their order.

    An attempt that a fault delays counts, with the retries after it.
    """
    delays_ms = signing_of(world).retry_delays_ms(world)
    found: list[int] = []
    for row in world.store[PLANNED.of(owner=endpoint_id)].values():
        if row.pending.event_id == event_id:
            (timer,) = world.agenda.in_firing_order((row.timer,))
            ahead = () if row.pending.stage is None else delays_ms[row.pending.stage :]
            found += accumulate(ahead, initial=timer.due_at_ms)
    return sorted(found)
