"""Finds the world of an API call, and refuses the call if that world's saved data cannot be read."""

from __future__ import annotations

from simulator.engine.server import storage
from simulator.engine.server.http.messages import Outgoing
from simulator.engine.server.http.request import Request
from simulator.engine.server.runtime import Runtime
from simulator.engine.text.json import dumps
from simulator.engine.worlds.simulator import Simulator
from simulator.kernel.world import DEFAULT_WORLD, World


async def refusal(runtime: Runtime, request: Request, *, is_known: bool) -> Outgoing | None:
    """Return a 503 response for a call to a quarantined (unreadable) world. For a call to any other world, return None.

    `is_known` is True if the API has an operation at the path. If the world is suspended, read it into memory first.
    The refusal is not added to any journal, because the real service would not send it. Raise `Unavailable` if the
    world cannot be read from the store.
    """
    persistence = runtime.persistence
    if persistence is None:
        return None
    credential = request.credential if is_known else ""
    world_id = runtime.simulator.directory.get(credential, DEFAULT_WORLD)
    await runtime.wake(world_id)
    if world_id not in persistence.unreadable and world_id not in runtime.simulator.worlds:
        world_id = DEFAULT_WORLD  # The credential belongs to a world that has ended.
    why = persistence.unreadable.get(world_id)
    if why is None:
        return None
    error = storage.unreadable_error(request.path, world_id, why)
    return Outgoing(error.status, dumps(error.envelope()), storage.headers_of(error))


def world_of(simulator: Simulator, request: Request, *, is_known: bool) -> World:
    """Return the world to which the key or token of a call belongs. If there is no such world, return the world
    `default`.
    """
    if is_known and (credential := request.credential) and (world := simulator.world_of(credential)) is not None:
        return world
    return simulator.default
