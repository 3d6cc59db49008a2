"""Saves the time at which each world was last used, with a precision of one minute.

If a world has other changes to save, its last-used time is saved together with these changes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping

from simulator.engine.durable.stored_world import TrackedWorld
from simulator.engine.records.requests import requests_of
from simulator.engine.server.running.last_used import LastUses
from simulator.engine.server.storage import Use
from simulator.engine.worlds.quotas import objects_of
from simulator.kernel.world import World

USES_SECONDS = 30.0
"""The interval at which last-used times are saved."""
SLACK_MS = 1_000
"""Times that differ by less than this are treated as equal, because the clocks from which they are computed drift."""


class LastUsedWriter:
    """Saves the last-used times of worlds. `gather` is called when a time must be saved."""

    def __init__(
        self,
        tracked: Mapping[str, TrackedWorld],
        uses: LastUses,
        wall_clock_ms: Callable[[], int],
        gather: Callable[[], None],
    ) -> None:
        self._tracked, self._uses, self._wall_clock_ms, self._gather = tracked, uses, wall_clock_ms, gather
        self._later: asyncio.TimerHandle | None = None
        self._asked: dict[str, None] = {}

    def begin(self) -> None:
        """Start to check, at a fixed interval, which last-used times must be saved."""
        self.end()
        self._later = asyncio.get_running_loop().call_later(USES_SECONDS, self._look)

    def end(self) -> None:
        if self._later is not None:
            self._later.cancel()
        self._asked = {}

    def _look(self) -> None:
        self.begin()
        self.tell()

    def tell(self) -> None:
        """Request a save for every world that was used since its last-used time was saved."""
        self._asked = {
            key: None
            for key, tracked in self._tracked.items()
            if self._used_ms(tracked.world) > tracked.used_ms + SLACK_MS
        }
        if self._asked:
            self._gather()

    def take(self, dirty: Iterable[str]) -> dict[str, Use]:
        """Return the last-used times to save now, by world id.

        `dirty` contains the ids of worlds with other unsaved changes. Their times are included if the saved times are
        old.
        """
        asked, self._asked = self._asked, {}
        found = {}
        for world_id in (*asked, *dirty):
            tracked = self._tracked.get(world_id)
            if tracked is None:
                continue
            used_ms = self._used_ms(tracked.world)
            if world_id in asked or tracked.begins or used_ms > tracked.used_ms + USES_SECONDS * 1000:
                tracked.used_ms = used_ms
                found[world_id] = Use(used_ms, objects_of(tracked.world), requests_of(tracked.world).size)
        return found

    def bring(self, tracked: TrackedWorld, used_ms: int) -> None:
        """Restore the saved last-used time of a world that was read from the store. Reading a world does not count as a
        use.
        """
        tracked.used_ms = used_ms
        self._uses.touch(tracked.world, self._uses.seconds() - (self._wall_clock_ms() - used_ms) / 1000)

    def _used_ms(self, world: World) -> int:
        return self._wall_clock_ms() - int(self._uses.idle_seconds(world) * 1000)
