"""The number and size of a world's snapshots, uploaded scenarios and events, for its quotas."""

from __future__ import annotations

import asyncio
from weakref import WeakKeyDictionary

from simulator.engine.control.worlds.documents import document_text
from simulator.engine.worlds.quotas import Held, held_by
from simulator.engine.worlds.settings import settings_of
from simulator.engine.worlds.simulator import Simulator, Snapshot, WorldState
from simulator.kernel.world import World

SIZES: WeakKeyDictionary[Snapshot, int] = WeakKeyDictionary()
"""The known sizes of snapshots in bytes."""


async def measure(simulator: Simulator, world: World) -> Held:
    """Return the usage of a world. Snapshots of unknown size are serialised in a thread."""
    for snapshot in simulator.snapshots_of(world.id):
        if snapshot not in SIZES:
            SIZES[snapshot] = await size_of(simulator, snapshot.state)
    return held_now(simulator, world)


def held_now(simulator: Simulator, world: World) -> Held:
    """Return the usage of a world. A snapshot of unknown size counts as 0 bytes."""
    own = simulator.snapshots_of(world.id)
    return held_by(world).with_more(snapshots=len(own), size=sum(SIZES.get(one, 0) for one in own))


async def size_of(simulator: Simulator, state: WorldState) -> int:
    """Return the size in bytes of the JSON document for a state."""
    return await asyncio.to_thread(lambda: len(document_text(simulator, state)))


def is_bounded(world: World) -> bool:
    """Return True if a quota limits the snapshots, uploaded scenarios, events or bytes of a world."""
    settings = settings_of(world)
    return any(
        settings[name] is not None for name in ("quota_snapshots", "quota_scenarios", "quota_events", "quota_bytes")
    )


async def require_room(simulator: Simulator, world: World, quota: str, *, size: int = 0, **more: int) -> None:
    """Raise `ControlError` 507 if additional bytes (`size`) or items (`more`) would exceed a quota of the world."""
    if is_bounded(world):
        (await measure(simulator, world)).with_more(size=size, **more).require(world, quota)
