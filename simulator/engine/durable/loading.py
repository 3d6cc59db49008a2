"""Reading worlds from a store: a world is decoded beside the loop and lives on, or is set aside."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from simulator.engine.control.worlds.documents import Contents
from simulator.engine.durable.backend import Backend, StoreDamaged, StoredWorld
from simulator.engine.durable.gathering import Batches
from simulator.engine.durable.notifications import LastUsedWriter
from simulator.engine.durable.stored_world import TrackedWorld
from simulator.engine.durable.writes import Base, credentials_in, read_snapshot, read_world
from simulator.engine.server.runtime import Runtime
from simulator.engine.worlds.simulator import Snapshot, WorldExists

_log = logging.getLogger(__name__)


class WorldLoader:
    """Reads worlds of a backend into the simulator of a server.

    `kept`: what the keeper keeps of each living world. `note`: called with the id of a world that is to be written.
    """

    def __init__(
        self,
        runtime: Runtime,
        backend: Backend,
        contents: Contents,
        tracked: dict[str, TrackedWorld],
        batches: Batches,
        uses: LastUsedWriter,
        note: Callable[[str], None],
        wall_clock_ms: Callable[[], int],
    ) -> None:
        self.unreadable: dict[str, str] = {}
        """Why each world is set aside that could not be read."""
        self._runtime = runtime
        self._simulator = runtime.simulator
        self._backend = backend
        self._contents = contents
        self._tracked = tracked
        self._batches = batches
        self._uses = uses
        self._note = note
        self._wall_clock_ms = wall_clock_ms

    async def read(self, world_id: str) -> tuple[StoredWorld, Base, list[Snapshot]] | None:
        """Return a world as it is tracked, or None if it is set aside."""
        try:
            stored = await self._backend.load(world_id)
            return stored, *await asyncio.to_thread(self.decode, stored)
        except StoreDamaged as error:
            await self.set_aside(world_id, error)
            return None

    def decode(self, stored: StoredWorld) -> tuple[Base, list[Snapshot]]:
        """The state of a world and its snapshots; StoreDamaged."""
        try:
            base = read_world(self._contents, stored.parts, stored.entries)
            return base, [read_snapshot(self._contents, parts) for parts in stored.snapshots]
        except Exception as error:  # whatever rows of another program bring about
            why = f"this version cannot read what {self._backend.name!r} has of it ({error or type(error).__name__})"
            raise StoreDamaged(why) from error

    def let_live(self, stored: StoredWorld, base: Base, snapshots: list[Snapshot]) -> None:
        """Let a world go on where it stood; what fell due meanwhile by a running clock falls due now. StoreDamaged."""
        try:
            world = self._simulator.from_state(base.state, stored.world)
            tracked = self._tracked[world.id] = TrackedWorld(world, stored.number, self._note, base.clock)
            tracked.measure(sum(map(len, stored.parts)), sum(map(len, stored.entries)))
            self._simulator.adopt(world, base.state.blueprint, snapshots, base.snapshots_taken)
        except Exception as error:
            if stored.world in self._simulator.worlds:
                self._simulator.release_world(stored.world)
            elif (begun := self._tracked.pop(stored.world, None)) is not None:
                begun.let_go()
            if isinstance(error, WorldExists):
                raise StoreDamaged(f"it has keys of the world {str(error)!r}") from None
            _log.error("the world %s cannot begin", stored.world, exc_info=error)
            raise StoreDamaged(f"its rows do not hold together ({error or type(error).__name__})") from error
        self._uses.bring(tracked, stored.used_ms)
        self._batches.snapshots[world.id] = {snapshot.id: snapshot for snapshot in snapshots}
        if world.clock.mode != "manual":
            self._runtime.driver.anchor(world, base.clock.passed_seconds(self._wall_clock_ms()))
        if base.dropped:  # written anew, so that the rows are gone and counted once
            journals = ", ".join(base.dropped)
            _log.warning("the world %s has lost %d unreadable rows of %s", world.id, len(base.dropped), journals)
            tracked.begins = True
            self._note(world.id)

    async def set_aside(self, world_id: str, error: StoreDamaged) -> None:
        """Leave a world that cannot be read where it is; the others go on without it.

        Its keys and tokens, as far as they can be found, lead to it and nowhere else.
        """
        _log.error("the world %s is set aside: %s", world_id, error)
        self.unreadable[world_id] = str(error)
        for credential in credentials_in(await self._backend.raw(world_id)):
            self._simulator.directory.setdefault(credential, world_id)

    def drop_unreadable(self, world_id: str) -> None:
        """Let nothing lead to a world that was set aside."""
        del self.unreadable[world_id]
        directory = self._simulator.directory
        for credential in [one for one, holder in directory.items() if holder == world_id]:
            del directory[credential]
