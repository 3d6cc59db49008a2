"""Runs the worlds of a server: their clocks, deliveries and watchers.

The `Simulator` creates, replaces and ends worlds, and notifies the runtime as its observer. The driver and the courier
report changes through `Port`.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from simulator.engine.insight.ended import EndedWorlds
from simulator.engine.server import storage
from simulator.engine.server.http.router import Router
from simulator.engine.server.running.driver import Driver
from simulator.engine.server.telemetry.meter import Meter, Tracing
from simulator.engine.text.masking import Masker
from simulator.engine.webhooks.courier import transport as transports
from simulator.engine.webhooks.courier.courier import Courier, wall_clock_ms
from simulator.engine.worlds.observer import Observer
from simulator.engine.worlds.simulator import Simulator
from simulator.kernel.world import World

if TYPE_CHECKING:
    from simulator.engine.scenario.files.folder import Folder, FolderProblem

_log = logging.getLogger(__name__)


class Watcher:
    """Base class for observers of worlds. Hooks do nothing by default, and are called outside transactions."""

    def changed(self, world: World) -> None:
        """Called when a world may have changed, has ended, or has been replaced by another world."""

    def ended(self, world: World) -> None:
        """Called when a world has ended: the world was deleted, or replaced by another world with the same id."""

    def scenarios_read(self, names: Sequence[str], problems: Sequence[FolderProblem]) -> None:
        """Called when scenario files have changed, with the changed scenarios and all current problems."""

    def stopping(self) -> None:
        """Called when the server is stopping. The observer must end everything that does not end on its own."""


class Runtime(Observer):
    """Runs the worlds of a simulator. The API and the control API share this object."""

    persistence: storage.Persistence | None = None
    """Saves the worlds in a store, or None if they are only in memory."""
    look_at: Callable[[str], Awaitable[World | None]] | None = None
    """Reads a saved world of another replica for display. None if this server does not share its worlds."""

    def __init__(
        self,
        simulator: Simulator,
        transport: transports.Transport | None = None,
        *,
        masker: Masker | None = None,
        wall_clock_ms: Callable[[], int] = wall_clock_ms,
    ) -> None:
        self.simulator = simulator
        self.masker = masker or Masker()
        self.courier = Courier(self, transport, wall_clock_ms=wall_clock_ms)
        self.driver = Driver(self.courier, self)
        self.ended_worlds = EndedWorlds(simulator.operations)
        self.router = Router(simulator.operations)
        """Finds the operations of the API."""
        self.meter = Meter()
        """Counts API calls."""
        self.folder: Folder | None = None
        """The watched scenario directories, or None if there are none."""
        self._beside: list[Callable[[], Coroutine[Any, Any, None]]] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._watchers: list[Watcher] = []
        self._held: Counter[str] = Counter()
        self._remembering: asyncio.Task[None] | None = None
        simulator.observe(self)

    # Changes in a world

    async def catch_up(self, world: World) -> None:
        await self.driver.bring_up_to_date(world)

    def changed(self, world: World) -> None:
        """Notify the courier, the driver, the persistence layer and all watchers that a world may have changed.

        Do nothing if the world has ended, because a call can still be in progress when its world is reset.
        """
        if self.simulator.lives(world):
            self._changed(world)

    def _changed(self, world: World) -> None:
        self.courier.pump(world)
        self.driver.follow(world)
        if self.persistence is not None:
            self.persistence.changed(world)
        self._tell_changed(world)

    def reported(self, world: World) -> None:
        """Fire the due timers of a world, unless its clock is being advanced, and notify the watchers."""
        self.driver.begin_firing(world)
        self.changed(world)

    async def follow_up(self, world: World) -> None:
        """Fire the timers that are due after a call. Then notify the watchers that the world has changed."""
        if not self.follow_up_at_once(world):
            await self.driver.fire_due(world)
            self.changed(world)

    def follow_up_at_once(self, world: World) -> bool:
        """Like `follow_up`, but without waiting. Return False if timers are still due. Then call `follow_up`."""
        if self.simulator.lives(world):
            if not self.driver.fire_at_once(world):
                return False
            self._changed(world)
        return True

    # World lifecycle, as reported by the simulator

    def attach(self, world: World) -> None:
        """Start the clock of a new world."""
        self.meter.uses.touch(world)
        self.driver.anchor(world)
        self.changed(world)

    def detach(self, world: World) -> None:
        """Stop the clock of a world that has ended, and cancel the world's delivery attempts in flight."""
        self.driver.forget(world)
        self.courier.stop(world)
        self.ended_worlds.keep(world)
        self._begin_to_remember()
        for watcher in self.watchers:
            watcher.ended(world)
        self._tell_changed(world)

    def release(self, world: World) -> None:
        """Stop running a world that is removed from memory. The world has not ended, so `ended` is not called."""
        self.driver.forget(world)
        self.courier.stop(world)
        self._tell_changed(world)

    async def remembered(self) -> None:
        """Wait until the totals in `ended_worlds` include the counters of all worlds that have ended."""
        while not self.ended_worlds.is_complete:
            await asyncio.wait({self._begin_to_remember()})

    def _begin_to_remember(self) -> asyncio.Task[None]:
        if self._remembering is None or self._remembering.done():
            self._remembering = asyncio.get_running_loop().create_task(self._remember())
        return self._remembering

    async def _remember(self) -> None:
        while not self.ended_worlds.is_complete:
            try:
                await asyncio.to_thread(self.ended_worlds.take_in)
            except Exception:
                self.log_defect()

    # Watchers

    def watch(self, watcher: Watcher) -> None:
        """Add a watcher. A watcher that was already added is not added again."""
        if watcher not in self._watchers:
            self._watchers.append(watcher)

    def unwatch(self, watcher: Watcher) -> None:
        self._watchers.remove(watcher)

    @property
    def watchers(self) -> tuple[Watcher, ...]:
        return tuple(self._watchers)

    def scenarios_read(self, names: Sequence[str], problems: Sequence[FolderProblem]) -> None:
        """Notify all watchers that files in scenario directories have changed."""
        for watcher in self.watchers:
            watcher.scenarios_read(names, problems)

    def _tell_changed(self, world: World) -> None:
        if self._watchers:  # a copy of the list, because a watcher may remove itself
            for watcher in self.watchers:
                watcher.changed(world)

    # Server lifecycle

    def persist_with(self, persistence: storage.Persistence) -> None:
        """Set the persistence layer that saves the worlds from now on."""
        self.persistence = self.courier.barrier = persistence

    async def wake(self, world_id: str) -> None:
        """Read a suspended world into memory. Raise `Unavailable` if the world cannot be read."""
        if world_id in self.simulator.away and self.persistence is not None:
            await self.persistence.wake(world_id)

    def world_ids(self) -> Sequence[str]:
        """Return the ids of the worlds on this server, from oldest to newest. Suspended worlds are included."""
        return list(self.simulator.worlds) if self.persistence is None else self.persistence.world_ids()

    @contextmanager
    def holding(self, world_id: str) -> Iterator[None]:
        """Keep a world in memory while an API call to it is waiting."""
        self._held[world_id] += 1
        try:
            yield
        finally:
            self._held[world_id] -= 1
            if not self._held[world_id]:
                del self._held[world_id]

    def is_held(self, world_id: str) -> bool:
        """Return True if an API call to this world is waiting."""
        return world_id in self._held

    def unreadable(self, world_id: str) -> str | None:
        """Return the reason why a world is quarantined, or None if it is not quarantined."""
        return None if self.persistence is None else self.persistence.unreadable.get(world_id)

    def trace_with(self, tracing: Tracing) -> None:
        """Set the span exporter that is notified of every API call and every delivery attempt from now on."""
        self.meter.tracing = self.courier.tracing = tracing

    async def begin(self) -> None:
        """Start to serve: read the saved worlds, or call `start` if worlds are only in memory."""
        if self.persistence is not None:
            await self.persistence.start()
        else:
            self.start()
        self._tasks = [asyncio.create_task(work()) for work in self._beside]

    def accompany(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Register a coroutine function that `begin` runs until the server stops."""
        self._beside.append(work)

    def start(self) -> None:
        """Start all running clocks. A clock that is not started here starts with the first call to its world."""
        for world in self.simulator.worlds.values():
            self.driver.anchor(world)

    def end_streams(self) -> None:
        """End all streams and clock advances in progress, because the server cannot stop before they end."""
        self.driver.end_advances()
        for watcher in self.watchers:
            watcher.stopping()

    async def drain(self) -> None:
        """Hand over all worlds to other replicas. During this time, the server still responds to calls."""
        if self.persistence is not None:
            await self.persistence.drain()

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        self.end_streams()
        self.driver.close()
        await self.courier.close()
        if self.persistence is not None:
            await self.persistence.close()

    def log_defect(self) -> None:
        """Log the exception that is being handled, with secrets masked."""
        _log.error("a defect of the simulator\n%s", self.masker.text(traceback.format_exc()))
