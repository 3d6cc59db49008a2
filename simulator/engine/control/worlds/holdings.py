"""What a world holds that quotas bound: snapshots, uploaded scenarios and events, by number and bytes."""

from __future__ import annotations

import asyncio
from weakref import WeakKeyDictionary

from simulator.engine.control.worlds.documents import document_text
from simulator.engine.worlds.quotas import Held, held_by
from simulator.engine.worlds.settings import settings_of
from simulator.engine.worlds.simulator import Simulator, WorldState
from simulator.kernel.world import World


async def measure(simulator: Simulator, world: World) -> Held:
    """Return everything a world holds. Snapshots that nobody has measured are written beside the loop for it."""
    sizes = _sizes_of(simulator)
    for snapshot in simulator.snapshots_of(world.id):
        if snapshot.id not in sizes:
            sizes[snapshot.id] = await size_of(simulator, snapshot.state)
    return held_now(simulator, world)


def held_now(simulator: Simulator, world: World) -> Held:
    """Return everything a world holds whose snapshots are measured."""
    own = [snapshot.id for snapshot in simulator.snapshots_of(world.id)]
    sizes = _sizes_of(simulator)
    size = sum(sizes.get(key, 0) for key in own)
    return held_by(world).with_more(snapshots=len(own), size=size)


def note_size(simulator: Simulator, snapshot_id: str, size: int) -> None:
    """Note how many bytes a snapshot takes."""
    _sizes_of(simulator)[snapshot_id] = size


def _sizes_of(simulator: Simulator) -> dict[str, int]:
    """Return the bytes of the snapshots that were measured, by id; those that are gone are dropped at times."""
    sizes = _SIZES.setdefault(simulator, {})
    if len(sizes) > 2 * len(simulator.snapshots) + _SLACK:
        for key in [key for key in sizes if key not in simulator.snapshots]:
            del sizes[key]
    return sizes


_SIZES: WeakKeyDictionary[Simulator, dict[str, int]] = WeakKeyDictionary()
_SLACK = 100


async def size_of(simulator: Simulator, state: WorldState) -> int:
    """Return how many bytes a snapshot of a state takes."""
    return await asyncio.to_thread(lambda: len(document_text(simulator, state)))


def is_bounded(world: World) -> bool:
    """Whether a quota bounds what a world holds beside its objects and journals."""
    settings = settings_of(world)
    return any(
        settings[name] is not None for name in ("quota_snapshots", "quota_scenarios", "quota_events", "quota_bytes")
    )


async def require_room(simulator: Simulator, world: World, quota: str, *, size: int = 0, **more: int) -> None:
    """507 where a world would hold more than it may with these as well; `quota` is the one that is told."""
    if is_bounded(world):
        (await measure(simulator, world)).with_more(size=size, **more).require(world, quota)
