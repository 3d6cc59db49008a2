"""The persistence layer: every change to a world is saved before a caller gets a response that reports the change.

The changes in one turn of the event loop become one batch. While a batch is being written, the next batch is collected.
If a batch cannot be written, the worlds in memory are discarded and all waiting requests fail. The server serves no
request until the store works again and the worlds have been read from the store.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from time import perf_counter
from typing import Any

from simulator.engine.control.worlds.documents import Contents, contents_of
from simulator.engine.durable.backend import (
    Backend,
    Batch,
    StoreDamaged,
    StoreError,
)
from simulator.engine.durable.gathering import Batches
from simulator.engine.durable.last_used import LastUsedWriter
from simulator.engine.durable.loading import WorldLoader
from simulator.engine.durable.stored_world import Folding, TrackedWorld, refuse
from simulator.engine.server.runtime import Runtime
from simulator.engine.server.storage import RETRY_SECONDS, RawPiece, Use
from simulator.engine.text.json import JsonObject
from simulator.engine.webhooks.courier.courier import wall_clock_ms
from simulator.engine.worlds.observer import Observer
from simulator.engine.worlds.simulator import Blueprint, Simulator
from simulator.kernel.world import DEFAULT_WORLD, World

_log = logging.getLogger(__name__)


class PersistenceLayer(Observer):
    """Saves a server's worlds in a backend.

    `make_default` creates the world `default` in a new store. `otherwise` describes the differences between a saved
    world and the server's command-line flags. `retry_seconds` is the interval between attempts to reopen a failed
    store.
    """

    def __init__(
        self,
        runtime: Runtime,
        backend: Backend,
        make_default: Callable[[], None],
        otherwise: Callable[[Blueprint], str] = lambda saved: "",
        *,
        wall_clock_ms: Callable[[], int] = wall_clock_ms,
        retry_seconds: float = RETRY_SECONDS,
    ) -> None:
        self.refusal: str | None = "the store has not been opened yet."
        self.generation = 0
        self.opened: Callable[[], None] = lambda: None
        """Called after the store was opened and read."""
        self.failed: Callable[[], None] = lambda: None
        """Called after the worlds in memory were discarded."""
        self._runtime = runtime
        self._simulator = runtime.simulator
        self._backend = backend
        self._make_default = make_default
        self._otherwise = otherwise
        self.note = ""
        """The result of `otherwise` for the world `default`."""
        self._wall_clock_ms = wall_clock_ms
        self._retry_seconds = retry_seconds
        self._contents: Contents = contents_of(self._simulator.tables, self._simulator.wiring.environments)
        self._tracked: dict[str, TrackedWorld] = {}
        self._batches = Batches(self._simulator, runtime.driver, self._contents, self._tracked, wall_clock_ms)
        self._next: asyncio.Future[None] | None = None
        self._committing: asyncio.Future[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_open = False
        self._uses = LastUsedWriter(self._tracked, runtime.meter.uses, wall_clock_ms, self._gather_soon)
        self._loader = WorldLoader(
            runtime, backend, self._contents, self._tracked, self._batches, self._uses, self._note, wall_clock_ms
        )
        self.unreadable = self._loader.unreadable
        self._simulator.away = self.unreadable
        self._gathers_since = self._commits_since = 0.0
        self._simulator.observe(self)

    # Called by the server

    def unsettled(self) -> asyncio.Future[None] | None:
        """Return a future that is done once all writes so far are saved, or None if they are already saved."""
        if self.refusal is None:
            if self._backend.is_shared:  # Responses that only read must be confirmed, too (see `Backend.is_shared`).
                self._gather_soon()
            # If a batch is being collected, it is written after the one being committed, so it covers both.
            return self._next or self._committing
        refused: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        refuse(refused, self.refusal)
        return refused

    def changed(self, world: World) -> None:
        """Save a world if its clock was set or advanced.

        All other changes are reported by the world's tables.
        """
        tracked = self._tracked.get(world.id)
        if tracked is not None and tracked.world is world and world.id not in self._batches.dirty:
            present_ms = self._runtime.driver.present_ms(world)
            if tracked.clock_was_set(present_ms, self._wall_clock_ms()):
                self._note(world.id)

    def lag_seconds(self) -> float:
        """Return the age of the oldest unsaved change in seconds, or 0 if all changes are saved."""
        if self._committing is not None:
            return perf_counter() - self._commits_since
        return perf_counter() - self._gathers_since if self._next is not None else 0.0

    async def uses(self) -> Mapping[str, Use]:
        """Return the time of the last use of every saved world, by id."""
        return await self._backend.uses()

    def world_ids(self) -> Sequence[str]:
        """Return the ids of all worlds in memory, oldest first."""
        return list(self._simulator.worlds)

    def show_at_rest(self, world_id: str, origin: str) -> JsonObject | None:
        """Return None, because all worlds are in memory."""

    async def wake(self, world_id: str) -> None:
        """Do nothing, because all worlds are in memory."""

    async def wake_snapshot(self, snapshot_id: str) -> None:
        """Do nothing, because all worlds are in memory."""

    async def raw(self, world_id: str) -> Sequence[RawPiece]:
        """Return all stored bytes of a world, even if the world is unreadable."""
        return await self._backend.raw(world_id)

    def delete_unreadable(self, world_id: str) -> None:
        """Delete a saved world that this version cannot read."""
        self._loader.drop_unreadable(world_id)
        self._batches.wiped[world_id] = None
        self._note(world_id)
        if world_id == DEFAULT_WORLD:
            self._make_default()

    def reached_at(self, origin: str) -> None:
        """Do nothing, because no other server needs the address of this server."""

    async def start(self) -> None:
        """Open the store and read its worlds. Raise `StoreError` if this fails. A second call has no effect."""
        if self._is_open:
            return
        await self._backend.open()
        self._is_open = True
        try:
            await self._read()
        except BaseException:
            await self.close()
            raise

    @property
    def is_leaving(self) -> bool:
        return False

    async def drain(self) -> None:
        """Do nothing, because no other server can take over these worlds."""

    async def close(self) -> None:
        """Save all changes, and close the store."""
        if not self._is_open:
            return
        self._uses.tell()
        await self._settle_all()
        self.refusal = self.refusal or "the server is stopping."
        self._is_open = False
        self._uses.end()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._release_all()
        try:
            await self._backend.close()
        except StoreError as error:
            _log.error("the store could not be closed: %s", error)

    async def _settle_all(self) -> None:
        while self.refusal is None and (left := self._next or self._committing) is not None:
            await asyncio.wait({left})

    # Called by the simulator

    def attach(self, world: World) -> None:
        """Start saving a new world. Do nothing for a world that was just read from the store."""
        if self.unreadable.pop(world.id, None) is not None:
            self._batches.wiped[world.id] = None
        tracked = self._tracked.get(world.id)
        if tracked is None or tracked.world is not world:
            self._tracked[world.id] = TrackedWorld(world, self._batches.ended.pop(world.id, 0) + 1, self._note)
            self._note(world.id)

    def detach(self, world: World) -> None:
        """Delete a world that has ended from the store. The deletion is part of the next batch."""
        tracked = self._tracked.pop(world.id)
        tracked.let_go()
        self._batches.ended[world.id] = tracked.number
        self._note(world.id)

    def release(self, world: World) -> None:
        """Stop saving a world that is removed from memory. The world remains in the store."""
        self._tracked.pop(world.id).let_go()
        self._batches.release(world.id)

    def is_saved(self, world_id: str) -> bool:
        """Return True if a world has no unsaved changes."""
        return world_id not in self._batches.dirty

    def snapshots_changed(self, world_id: str) -> None:
        """Save new snapshots of a world, and delete removed snapshots from the store."""
        self._batches.changed_snapshots[world_id] = None
        self._note(world_id)

    def _note(self, world_id: str) -> None:
        """Record that a world has unsaved changes, and schedule the next batch of writes to the store."""
        self._batches.dirty[world_id] = None
        self._gather_soon()

    def _gather_soon(self) -> None:
        """Schedule the next batch, unless it is scheduled already or the store has failed."""
        if self._next is not None or self.refusal is not None:
            return
        loop = asyncio.get_running_loop()
        self._next, self._gathers_since = loop.create_future(), perf_counter()
        if self._committing is None:
            # The batch does not start immediately, because all changes in this turn of the loop must be in one batch.
            # A crash between two batches would leave a state that no caller was ever shown.
            loop.call_soon(self._begin)

    # Writing

    def _begin(self) -> None:
        """Collect the changes, and start to write them as one batch."""
        if self._next is None or self._committing is not None:
            return
        self._committing, self._next = self._next, None
        self._commits_since = self._gathers_since
        try:
            batch, folding = self._batches.gather(self._uses)
        except Exception as error:
            self._throw_away(error)
            return
        self._spawn(self._commit(batch, folding))

    async def _commit(self, batch: Batch, folding: list[Folding]) -> None:
        generation = self.generation
        try:
            sizes = await self._backend.commit(batch)
        except Exception as error:
            if self.generation == generation:
                self._throw_away(error)
            return
        if self.generation != generation:  # The store failed in the meantime, and the waiters got errors.
            return
        settled, self._committing = self._committing, None
        if settled is not None:
            settled.set_result(None)
        if self._next is not None:
            self._begin()
        self._batches.add_up(sizes)
        for one in folding:
            self._spawn(self._fold(one))

    async def _fold(self, folding: Folding) -> None:
        """Merge a world's entries (saved changes) into a new base (full state).

        If this fails, the entries remain and are merged later.
        """
        tracked, world_id = folding.tracked, folding.tracked.world.id
        if self._tracked.get(world_id) is not tracked:
            return
        try:
            size = await self._backend.compact(world_id, folding.number, self._batches.parts_of(folding.base))
        except StoreError as error:
            _log.error("the log entries of the world %s could not be compacted: %s", world_id, error)
            return
        if size:
            tracked.base_bytes = size

    # Reading worlds on demand

    async def bring(self, world_id: str, *, unless: Callable[[], bool]) -> None:
        """Read a world into memory.

        If `unless()` is True after the world was read, discard the world. Raise `StoreError` if reading fails.
        """
        stored = await self._backend.load(world_id)
        self._batches.of_server.take_in(await self._backend.server())
        base, snapshots = await asyncio.to_thread(self._loader.decode, stored)
        if not unless():
            self._loader.let_live(stored, base, snapshots)

    def throw_away(self, error: StoreError) -> None:
        """Discard all worlds in memory, because the store failed while no batch was being written."""
        if self._is_open:
            self._throw_away(error)

    # Failure and recovery

    def _throw_away(self, error: Exception) -> None:
        """Discard all worlds in memory and refuse requests until the store works again. The unsaved state must not be
        returned to any caller.
        """
        # The failed batch cannot be undone alone, because later requests build on it. Therefore the last saved state of
        # the worlds is read again, and `generation` invalidates the responses computed before.
        if self.refusal is not None:
            return
        if isinstance(error, StoreError):
            _log.error("the store has failed: %s", error)
        else:
            _log.error("the store has failed", exc_info=error)
        self.refusal = f"{error}."
        self.generation += 1
        self._release_all()
        for waiting in (self._committing, self._next):
            if waiting is not None:
                refuse(waiting, self.refusal)
        self._committing = self._next = None
        self.failed()
        self._spawn(self._recover())

    def _release_all(self) -> None:
        for world_id in list(self._simulator.worlds):
            self._simulator.release_world(world_id)
        self._batches.clear()
        for world_id in list(self.unreadable):
            self._loader.drop_unreadable(world_id)

    async def _recover(self) -> None:
        while self.refusal is not None:
            await asyncio.sleep(self._retry_seconds)
            try:
                await self._backend.open()
                await self._read()
            except Exception as error:
                self.refusal = f"{error}."
                self._release_all()
                if not isinstance(error, StoreError):
                    _log.error("the store cannot be read", exc_info=error)

    async def _read(self) -> None:
        """Read all worlds, then start them. An unreadable world does not prevent other worlds from starting."""
        self._batches.of_server.take_in(await self._backend.server())
        read = [one for world_id in await self._to_read() if (one := await self._loader.read(world_id)) is not None]
        self.refusal = None
        for stored, base, snapshots in read:
            try:
                self._loader.let_live(stored, base, snapshots)
            except StoreDamaged as error:
                await self._loader.set_aside(stored.world, error)
        if DEFAULT_WORLD in self.unreadable and self._simulator.stand_in is None:
            # Code that needs any world, for example for the vocabulary, uses this one. It does not serve requests.
            stand_in = Simulator(self._simulator.provider, self._simulator.library)
            self._simulator.stand_in = stand_in.create_world(Blueprint(DEFAULT_WORLD, 0))
        if DEFAULT_WORLD in self._simulator.worlds:
            self.note = self._otherwise(self._simulator.blueprints[DEFAULT_WORLD])
        elif not self._backend.is_shared and DEFAULT_WORLD not in self.unreadable:
            self._make_default()
        self.opened()
        self._uses.begin()
        if self._batches.dirty:
            self._gather_soon()

    async def _to_read(self) -> Sequence[str]:
        """Return the ids of the worlds to read at startup, oldest first."""
        return await self._backend.heads()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
