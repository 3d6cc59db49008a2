"""The rate limit of a world (decision H15): N calls in so many simulated seconds, counted per key pair."""

from __future__ import annotations

from simulator.kernel.clock import SECOND_MS
from simulator.kernel.world import World
from simulator.wire.errors import ApiError
from simulator.wire.settings import settings_of


def count_call(world: World, public_key: str) -> None:
    """Count one call; 429 rate_limited with Retry-After when the window is full. Windows lapse by comparison."""
    limit = settings_of(world)["rate_limit"]
    if limit is None:
        return
    calls, seconds = (int(part) for part in limit.split("/"))
    table = world.store.table("rate_windows")
    opened_ms, count = table.get(public_key) or (world.now_ms, 0)
    if world.now_ms - opened_ms >= seconds * SECOND_MS:
        opened_ms, count = world.now_ms, 0
    if count >= calls:
        left_ms = opened_ms + seconds * SECOND_MS - world.now_ms
        wait = str(-(-left_ms // SECOND_MS))
        raise ApiError("rate_limited", f"At most {calls} calls in {seconds} s.", headers={"Retry-After": wait})
    with world.store.change():
        table.put(public_key, (opened_ms, count + 1))
