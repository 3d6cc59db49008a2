"""The rate limit of a world (decision H15): a maximum number of calls in a number of seconds, counted per key pair.

By default, simulated seconds are counted. With `rate_limit_clock` set to `wall`, real seconds are counted.
"""

from __future__ import annotations

from collections.abc import Callable

from simulator.engine.rows.error import ApiError
from simulator.engine.worlds.settings import assumes, settings_of
from simulator.kernel.clock import SECOND_MS, to_datetime
from simulator.kernel.store import TableKey
from simulator.kernel.world import World

WINDOWS = TableKey("rate_windows", tuple[int, int], around=True)
"""For each key pair, the start of the current window in milliseconds and the number of calls in the window."""


def retry_after(world: World, seconds: str, now_ms: int) -> str:
    """Return a Retry-After header for a wait of `seconds`: this number, or the date when the wait ends."""
    if not assumes(world, "H15", "retry_after_is_a_date"):
        return seconds
    return to_datetime(now_ms + int(seconds) * SECOND_MS).strftime("%a, %d %b %Y %H:%M:%S GMT")


def count_call(world: World, public_key: str, wall_clock_ms: Callable[[], int]) -> None:
    """Count a call. Raise `ApiError` 429 if the rate limit is exceeded. Call this inside a transaction."""
    settings = settings_of(world)
    limit = settings["rate_limit"]
    if limit is None:
        return
    on_the_wall = settings["rate_limit_clock"] == "wall"
    now_ms = wall_clock_ms() if on_the_wall else world.now_ms
    calls, seconds = (int(part) for part in limit.split("/"))
    table, window = world.store[WINDOWS], f"wall:{public_key}" if on_the_wall else public_key
    opened_ms, count = table.get(window) or (now_ms, 0)
    if not 0 <= now_ms - opened_ms < seconds * SECOND_MS:
        opened_ms, count = now_ms, 0
    if count >= calls:
        wait = str(-((now_ms - opened_ms - seconds * SECOND_MS) // SECOND_MS))
        message = f"At most {calls} calls in {seconds} s."
        if world.clock.mode == "manual" and not on_the_wall:
            message += (
                f" The clock of this world is paused, so waiting does not help: advance it by {wait}s"
                " (rampsim clock advance, or POST /_simulator/clock/advance), or apply the limit to the wall clock"
                " with the setting rate_limit_clock."
            )
        raise ApiError("rate_limited", message, headers={"Retry-After": retry_after(world, wait, now_ms)})
    table.put(window, (opened_ms, count + 1))
