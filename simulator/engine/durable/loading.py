"""Reads worlds from a store. Each world is decoded in a thread, and then started. Unreadable worlds are quarantined."""

from __future__ import annotations

import asyncio
import logging

from simulator.engine.durable.backend import Backend, StoreDamaged, StoredWorld
from simulator.engine.durable.gathering import Batches, TrackedWorld
from simulator.engine.durable.writes import Base, credentials_in, read_snapshot, read_world
from simulator.engine.server.runtime import Runtime
from simulator.engine.worlds.simulator import Snapshot, WorldExists

_log = logging.getLogger(__name__)


class WorldLoader:
    """Reads worlds from a storage backend into a server's simulator."""

    def __init__(self, runtime: Runtime, backend: Backend, batches: Batches) -> None:
        self.unreadable: dict[str, str] = {}
        """The reason why each world is quarantined, by world id."""
        self._driver, self._simulator = runtime.driver, runtime.simulator
        self._backend = backend
        self._batches = batches

    async def read(self, world_id: str) -> tuple[StoredWorld, Base, list[Snapshot]] | None:
        """Read and decode a saved world. If the world is unreadable, quarantine it and return None."""
        try:
            stored = await self._backend.load(world_id)
            return stored, *await asyncio.to_thread(self.decode, stored)
        except StoreDamaged as error:
            await self.set_aside(world_id, error)
            return None

    def decode(self, stored: StoredWorld) -> tuple[Base, list[Snapshot]]:
        """Return the state and the snapshots of a saved world. Raise `StoreDamaged` if they cannot be decoded."""
        contents = self._batches.contents
        try:
            base = read_world(contents, stored.parts, stored.entries)
            return base, [read_snapshot(contents, parts) for parts in stored.snapshots]
        except Exception as error:  # Rows that another program has written may raise any exception.
            why = f"this version cannot read its data in {self._backend.name!r} ({error or type(error).__name__})"
            raise StoreDamaged(why) from error

    def let_live(self, stored: StoredWorld, base: Base, snapshots: list[Snapshot]) -> None:
        """Start a world in the state in which it was saved.

        If its clock is running, timers that have become due in the meantime fire now. Raise `StoreDamaged` if the world
        cannot start.
        """
        batches = self._batches
        try:
            world = self._simulator.from_state(base.state, stored.world)
            tracked = batches.tracked[world.id] = TrackedWorld(world, stored.number, batches.note, base.clock)
            tracked.measure(sum(map(len, stored.parts)), sum(map(len, stored.entries)))
            self._simulator.adopt(world, base.state.blueprint, snapshots, base.snapshots_taken)
        except Exception as error:
            if stored.world in self._simulator.worlds:
                self._simulator.release_world(stored.world)
            elif (begun := batches.tracked.pop(stored.world, None)) is not None:
                begun.let_go()
            if isinstance(error, WorldExists):
                raise StoreDamaged(f"it has the same keys as the world {str(error)!r}") from None
            _log.error("the world %s cannot be loaded", stored.world, exc_info=error)
            raise StoreDamaged(f"its rows are inconsistent ({error or type(error).__name__})") from error
        batches.restore_use(tracked, stored.used_ms)
        batches.snapshots[world.id] = {snapshot.id: snapshot for snapshot in snapshots}
        if world.clock.mode != "manual":
            self._driver.anchor(world, base.clock.passed_seconds())
        # The whole world is written again, so that the unreadable rows are removed and counted only once.
        if base.dropped:
            journals = ", ".join(base.dropped)
            _log.warning("the world %s lost %d unreadable rows of %s", world.id, len(base.dropped), journals)
            tracked.begins = True
            batches.note(world.id)

    async def start(self, stored: StoredWorld, base: Base, snapshots: list[Snapshot]) -> None:
        """Start a world like `let_live`, or quarantine it if it cannot start."""
        try:
            self.let_live(stored, base, snapshots)
        except StoreDamaged as error:
            await self.set_aside(stored.world, error)

    async def set_aside(self, world_id: str, error: StoreDamaged) -> None:
        """Quarantine an unreadable world: leave it in the store, and continue without it.

        Keys and tokens that can be found in the stored bytes still belong to the world. Otherwise, another world could
        get the requests of this world.
        """
        _log.error("the world %s is quarantined: %s", world_id, error)
        self.unreadable[world_id] = str(error)
        for credential in credentials_in(await self._backend.raw(world_id)):
            self._simulator.directory.setdefault(credential, world_id)

    def drop_unreadable(self, world_id: str) -> None:
        """Remove a world from the list of quarantined worlds, and release its keys and tokens."""
        del self.unreadable[world_id]
        directory = self._simulator.directory
        for credential in [one for one, holder in directory.items() if holder == world_id]:
            del directory[credential]
