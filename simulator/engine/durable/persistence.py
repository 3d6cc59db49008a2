"""The persistence layer: every change to a world is saved before a caller gets a response that reports the change.

The changes in one turn of the event loop become one batch. While a batch is being written, the next batch is collected.
If a batch cannot be written, the worlds in memory are discarded and all waiting requests fail. The server serves no
request until the store works again and the worlds have been read from the store.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from decimal import Decimal
from time import perf_counter
from typing import Any

from simulator.engine.durable.backend import Backend, Batch, StoreError
from simulator.engine.durable.gathering import USES_SECONDS, Batches, Folding, TrackedWorld
from simulator.engine.durable.loading import WorldLoader
from simulator.engine.server.runtime import Runtime
from simulator.engine.server.storage import RETRY_SECONDS, Persistence, RawPiece, Unavailable, Use
from simulator.engine.webhooks.courier.courier import wall_clock_ms
from simulator.engine.worlds.simulator import Blueprint, Simulator
from simulator.kernel.world import DEFAULT_WORLD, World

_LOOK_SECONDS = 1.0
"""The interval between two calls of `PersistenceLayer.look`."""
_FAR_MS = Decimal(100 * 365 * 24 * 3600 * 1000)

_log = logging.getLogger(__name__)


class PersistenceLayer(Persistence):
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
        retry_seconds: float = RETRY_SECONDS,
    ) -> None:
        self.refusal = "the store has not been opened yet."
        self.generation = 0
        self.note = ""
        """The result of `otherwise` for the world `default`."""
        self._runtime = runtime
        self._simulator = runtime.simulator
        self._backend = backend
        self._make_default = make_default
        self._otherwise = otherwise
        self._retry_seconds = retry_seconds
        self._batches = Batches(runtime, self._gather_soon)
        self._tracked = self._batches.tracked
        self._next: asyncio.Future[None] | None = None
        self._committing: asyncio.Future[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_open = False
        self._loader = WorldLoader(runtime, backend, self._batches)
        self.unreadable: dict[str, str] = self._loader.unreadable
        self._simulator.away = self.unreadable
        self._gathers_since = self._commits_since = 0.0
        self._simulator.observe(self)

    # Called by the server

    def unsettled(self) -> asyncio.Future[None] | None:
        if self.refusal is None:
            if self._backend.is_shared:  # Responses that only read must be confirmed, too (see `Backend.is_shared`).
                self._gather_soon()
            # If a batch is being collected, it is written after the one being committed, so it covers both.
            return self._next or self._committing
        refused: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        _refuse(refused, self.refusal)
        return refused

    def changed(self, world: World) -> None:
        # All other changes are reported by the world's tables.
        tracked = self._tracked.get(world.id)
        if (
            tracked is not None
            and tracked.world is world
            and world.id not in self._batches.dirty
            and tracked.clock_was_set(self._runtime.driver.present_ms(world))
        ):
            self._batches.note(world.id)

    def lag_seconds(self) -> float:
        if self._committing is not None:
            return perf_counter() - self._commits_since
        return perf_counter() - self._gathers_since if self._next is not None else 0.0

    async def uses(self) -> Mapping[str, Use]:
        return await self._backend.uses()

    def world_ids(self) -> Sequence[str]:
        return list(self._simulator.worlds)

    async def raw(self, world_id: str) -> Sequence[RawPiece]:
        return await self._backend.raw(world_id)

    def delete_unreadable(self, world_id: str) -> None:
        self._loader.drop_unreadable(world_id)
        self._batches.wiped[world_id] = None
        self._batches.note(world_id)
        if world_id == DEFAULT_WORLD:
            self._make_default()

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
        self._spawn(self._keep_looking())
        self._spawn(self._save_uses())

    async def close(self) -> None:
        if not self._is_open:
            return
        self._batches.note_uses()
        await self._settle_all()
        self.refusal = self.refusal or "the server is stopping."
        self._is_open = False
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
            self._tracked[world.id] = TrackedWorld(world, self._batches.ended.pop(world.id, 0) + 1, self._batches.note)
            self._batches.note(world.id)

    def detach(self, world: World) -> None:
        """Delete a world that has ended from the store. The deletion is part of the next batch."""
        tracked = self._tracked.pop(world.id)
        tracked.let_go()
        self._batches.ended[world.id] = tracked.number
        self._batches.note(world.id)

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
        self._batches.note(world_id)

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
            batch, folding = self._batches.gather()
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
            self._spawn(self._fold(*one))

    async def _fold(self, tracked: TrackedWorld, number: int, parts: Callable[[], Iterator[bytes]]) -> None:
        """Merge a world's entries into a new base. If this fails, they remain and are merged later."""
        world_id = tracked.world.id
        if self._tracked.get(world_id) is not tracked:
            return
        try:
            size = await self._backend.compact(world_id, number, parts)
        except StoreError as error:
            _log.error("the log entries of the world %s could not be compacted: %s", world_id, error)
            return
        if size:
            tracked.base_bytes = size

    # Failure and recovery

    def _throw_away(self, error: Exception) -> None:
        """Discard all worlds in memory, because they have unsaved state. Refuse requests until the store works."""
        # The failed batch cannot be undone alone, because later requests build on it. Therefore the last saved state of
        # the worlds is read again, and `generation` invalidates the responses computed before.
        if self.refusal is not None:  # The store has failed already, or is closed.
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
                _refuse(waiting, self.refusal)
        self._committing = self._next = None
        self._failed()
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
        for one in read:
            await self._loader.start(*one)
        if DEFAULT_WORLD in self.unreadable and self._simulator.stand_in is None:
            # Code that needs any world, for example for the vocabulary, uses this one. It does not serve requests.
            stand_in = Simulator(self._simulator.provider, self._simulator.library)
            self._simulator.stand_in = stand_in.create_world(Blueprint(DEFAULT_WORLD, 0))
        if DEFAULT_WORLD in self._simulator.worlds:
            self.note = self._otherwise(self._simulator.blueprints[DEFAULT_WORLD])
        elif not self._backend.is_shared and DEFAULT_WORLD not in self.unreadable:
            self._make_default()
        self._opened()
        if self._batches.dirty:
            self._gather_soon()

    # For subclasses

    async def _to_read(self) -> Sequence[str]:
        """Return the ids of the worlds to read at startup, oldest first."""
        return await self._backend.heads()

    def _opened(self) -> None:
        """Called after the store was opened and read."""

    def _failed(self) -> None:
        """Called after the worlds in memory were discarded."""

    async def look(self) -> None:
        """Called every second while the store works."""

    async def _keep_looking(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            if self.refusal is None:
                try:
                    await self.look()
                except (StoreError, Unavailable):
                    continue  # If writing fails, too, the next batch reports it.
                except Exception:
                    self._runtime.log_defect()

    async def _save_uses(self) -> None:
        while True:
            await asyncio.sleep(USES_SECONDS)
            try:
                self._batches.note_uses()
            except Exception:
                self._runtime.log_defect()

    def _wakes_at_ms(self, world: World) -> int | None:
        """Return the wall-clock time at which a world's next timer is due, or None if only a request can change it."""
        timer = world.agenda.next()
        if timer is None or world.clock.mode == "manual":
            return None
        rate = world.clock.rate if world.clock.mode == "scaled" else Decimal(1)
        left_ms = max(timer.due_at_ms - self._runtime.driver.present_ms(world), 0)
        return wall_clock_ms() + int(min(left_ms / rate, _FAR_MS))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _refuse(waiting: asyncio.Future[None], why: str) -> None:
    """Set the exception `Unavailable` on a future."""
    waiting.set_exception(Unavailable(why))
    waiting.exception()  # Otherwise, asyncio would log that the exception was never retrieved.
