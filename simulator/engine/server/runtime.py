"""The worlds of a server as they run: their clocks, their deliveries, and whoever watches them.

The `Simulator` makes, replaces and ends worlds and tells this of each; the driver and the courier tell what happened in
one through `Port`. So whoever makes or ends a world makes one call, and nobody has to remember what belongs to it.
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
from simulator.engine.server.telemetry import spans
from simulator.engine.server.telemetry.meter import Meter
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
    """Whoever looks on. Called in the event loop, outside of any change; what it does not care for does nothing."""

    def changed(self, world: World) -> None:
        """Something may have happened in a world, or another was put in its place."""

    def ended(self, world: World) -> None:
        """A world has ended: it was deleted, or replaced by another of its id."""

    def scenarios_read(self, names: Sequence[str], problems: Sequence[FolderProblem]) -> None:
        """Files of directories of scenarios have changed: the scenarios that did, and all that is wrong there now."""

    def stopping(self) -> None:
        """The server stops: what would go on for ever has to end."""


class Runtime(Observer):
    """What keeps the worlds of a simulator going; the one object that control calls and the interface work with.

    `router` finds the operations of the interface, `meter` counts its calls. `persistence` keeps the worlds beyond the
    process, if anybody does; `look_at` gives one as it is kept, to be shown alone, where worlds are shared. `folder`
    has the directories from which scenarios are read, if there are any.
    """

    persistence: storage.Persistence | None = None
    look_at: Callable[[str], Awaitable[World | None]] | None = None

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
        self.meter = Meter()
        self.folder: Folder | None = None
        self._beside: list[Callable[[], Coroutine[Any, Any, None]]] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._watchers: list[Watcher] = []
        self._held: Counter[str] = Counter()
        self._remembering: asyncio.Task[None] | None = None
        simulator.observe(self)

    # What happens in a world

    async def catch_up(self, world: World) -> None:
        await self.driver.bring_up_to_date(world)

    def changed(self, world: World) -> None:
        """Tell the courier, the alarm of the clock, and whoever watches.

        In a world that has ended (a call was still under way when it was reset) nothing starts any more.
        """
        if not self.simulator.lives(world):
            return
        self.courier.pump(world)
        self.driver.follow(world)
        if self.persistence is not None:
            self.persistence.changed(world)
        self._tell_changed(world)

    def reported(self, world: World) -> None:
        """While the clock is being advanced, only that fires timers: `begin_firing` then leaves it alone."""
        self.driver.begin_firing(world)
        self.changed(world)

    async def follow_up(self, world: World) -> None:
        """A call changed a world: what it planned without delay fires, then the courier and the watchers are called."""
        if not self.follow_up_at_once(world):
            await self.driver.fire_due(world)
            self.changed(world)

    def follow_up_at_once(self, world: World) -> bool:
        """As `follow_up`; False where what is due takes longer than a moment, and somebody has to wait for it."""
        if self.simulator.lives(world):
            if not self.driver.fire_at_once(world):
                return False
            self.changed(world)
        return True

    # The life of worlds, as the simulator tells it

    def attach(self, world: World) -> None:
        """A world begins: start its clock."""
        self.meter.uses.touch(world)
        self.driver.anchor(world)
        self.changed(world)

    def detach(self, world: World) -> None:
        """A world has ended: stop its clock and cancel its attempts in flight."""
        self.driver.forget(world)
        self.courier.stop(world)
        self.ended_worlds.keep(world)
        self._begin_to_remember()
        for watcher in self.watchers:
            watcher.ended(world)
        self._tell_changed(world)

    def release(self, world: World) -> None:
        """A world lives here no more, and goes on elsewhere: nobody is told that it has ended."""
        self.driver.forget(world)
        self.courier.stop(world)
        self._tell_changed(world)

    async def remembered(self) -> None:
        """Wait until what is known of all worlds that have ended is in `ended_worlds`."""
        while not self.ended_worlds.is_complete:
            await asyncio.wait({self._begin_to_remember()})

    def _begin_to_remember(self) -> asyncio.Task[None]:
        if self._remembering is None or self._remembering.done():
            self._remembering = asyncio.get_running_loop().create_task(self._remember())
        return self._remembering

    async def _remember(self) -> None:
        """Take in the worlds that have ended, one after another, beside the loop."""
        while not self.ended_worlds.is_complete:
            try:
                await asyncio.to_thread(self.ended_worlds.take_in)
            except Exception:
                self.log_defect()

    # Whoever watches

    def watch(self, watcher: Watcher) -> None:
        """Let somebody look on from now on; who does already stays where he is."""
        if watcher not in self._watchers:
            self._watchers.append(watcher)

    def unwatch(self, watcher: Watcher) -> None:
        self._watchers.remove(watcher)

    @property
    def watchers(self) -> tuple[Watcher, ...]:
        return tuple(self._watchers)

    def scenarios_read(self, names: Sequence[str], problems: Sequence[FolderProblem]) -> None:
        """Tell that files of directories of scenarios have changed."""
        for watcher in self.watchers:
            watcher.scenarios_read(names, problems)

    def _tell_changed(self, world: World) -> None:
        for watcher in self.watchers:
            watcher.changed(world)

    # The life of the server

    def persist_with(self, persistence: storage.Persistence) -> None:
        """Let the worlds be kept by this one from now on."""
        self.persistence = self.courier.barrier = persistence

    async def wake(self, world_id: str) -> None:
        """Read a world that is at rest, so that it is in memory; Unavailable."""
        if world_id in self.simulator.away and self.persistence is not None:
            await self.persistence.wake(world_id)

    def world_ids(self) -> Sequence[str]:
        """The worlds of this server, those at rest included, oldest first."""
        return list(self.simulator.worlds) if self.persistence is None else self.persistence.world_ids()

    @contextmanager
    def holding(self, world_id: str) -> Iterator[None]:
        """Keep a world in memory while somebody waits for something in it."""
        self._held[world_id] += 1
        try:
            yield
        finally:
            self._held[world_id] -= 1
            if not self._held[world_id]:
                del self._held[world_id]

    def is_held(self, world_id: str) -> bool:
        """Whether somebody waits for something in a world."""
        return world_id in self._held

    def unreadable(self, world_id: str) -> str | None:
        """Return why a world is set aside, or None if it is not."""
        return None if self.persistence is None else self.persistence.unreadable.get(world_id)

    def trace_with(self, tracing: spans.Tracing) -> None:
        """Tell somebody of every call and every attempt to deliver from now on."""
        self.meter.tracing = self.courier.tracing = tracing

    async def begin(self) -> None:
        """Begin to serve: the worlds that are kept are read; `start` where none are kept."""
        if self.persistence is not None:
            await self.persistence.start()
        else:
            self.start()
        self._tasks = [asyncio.create_task(work()) for work in self._beside]

    def accompany(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Let this go on as long as the server serves."""
        self._beside.append(work)

    def start(self) -> None:
        """Running clocks run from now on. Without this each begins with the first call of its world."""
        for world in self.simulator.worlds.values():
            self.driver.anchor(world)

    def end_streams(self) -> None:
        """End what would go on for ever, advances too, so that the server can stop."""
        self.driver.end_advances()
        for watcher in self.watchers:
            watcher.stopping()

    async def drain(self) -> None:
        """Let others go on with what they can, while calls are still answered."""
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
        """Log the exception being handled, without the secrets its message may hold."""
        _log.error("a defect of the simulator\n%s", self.masker.text(traceback.format_exc()))
