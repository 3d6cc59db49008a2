"""Running clocks: maps real seconds to simulated ones in the modes `real` and `scaled`, and moves clocks on demand.

The only place that waits for simulated time, and the only one that fires timers for calls (faults that slow a call or
a delivery wait in real time, where they act). A manual clock moves only by
`advance`; a running one is brought up to date before every call, and woken when its next timer falls due. However much
is due, it is fired in slices of a few milliseconds, so that the server goes on answering meanwhile; of every world one
run is under way at a time, and who comes meanwhile waits for its end.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from decimal import Decimal

from simulator.engine.server.running.advance import (
    SLICE_SECONDS,
    Advance,
    AdvanceCancelled,
    AdvanceLoop,
    ClockBusy,
    Progress,
    Receipt,
    Target,
)
from simulator.engine.webhooks.courier import port as ports
from simulator.engine.webhooks.courier.courier import Courier, Patience
from simulator.engine.worlds import quotas
from simulator.kernel.clock import LAST_MS
from simulator.kernel.dataclass import dataclass
from simulator.kernel.per_world import PerWorld
from simulator.kernel.world import World


@dataclass
class _Anchor:
    """A moment known on both clocks."""

    real_seconds: float
    simulated_ms: int


@dataclass
class _ClockState:
    """What the driver knows of one world. `leftover`: an advance was called off with timers due that may be many."""

    anchor: _Anchor | None = None
    alarm: asyncio.TimerHandle | None = None
    firing: asyncio.Task[None] | None = None
    advance: Advance | None = None
    leftover: bool = False
    over: bool = False
    fired: int = 0


class Driver:
    """Keeps the clocks of all worlds of a server; `port` is called when timers of a world have fired, and again and
    again while one is advanced.

    `seconds` tells real time, from any beginning.
    """

    patience_seconds = 1.0
    """How long a call waits for a running clock that does not catch up; then it acts at the moment it has come to."""
    leftover_patience_seconds = 0.2
    """How long it waits for what was due at the moment at which an advance was called off."""
    most_events = 1_000_000
    most_timers = 5_000_000
    """What one advance may emit and fire before it ends, lest it take the memory of the machine.

    An event takes 1 KB, and what it is about up to 2 KB more: some 3 GB at most.
    """
    most_events_awaiting = 200_000
    most_timers_awaiting = 1_000_000
    """The same for one that waits for something that may never come: some 600 MB, or two minutes."""

    def __init__(self, courier: Courier, port: ports.Port, seconds: Callable[[], float] = time.monotonic) -> None:
        self._courier = courier
        self._port = port
        self._seconds = seconds
        self._loop = AdvanceLoop(courier, port, seconds)
        self._kept = PerWorld(_ClockState)

    # Firing what is due

    async def bring_up_to_date(self, world: World) -> None:
        """Move a running clock to the present, firing what fell due on the way; a manual one stays.

        At once while the clock is being advanced, and in a world that has ended.
        """
        if not self.catch_up(world):
            await self._fired(world, self._kept[world])

    def catch_up(self, world: World) -> bool:
        """Begin with what `bring_up_to_date` does; whether that was all, as for nearly every call."""
        keeping = self._kept[world]
        if world.clock.mode != "manual":
            self._fire(world, keeping, self._present_ms(world, keeping))
        return keeping.firing is None

    async def fire_due(self, world: World) -> None:
        """Fire what is due at this moment of the world: what a call has just planned without delay."""
        if not self.fire_at_once(world):
            await self._fired(world, self._kept[world])

    def fire_at_once(self, world: World) -> bool:
        """Begin with what `fire_due` does; whether that was all, as after nearly every call."""
        keeping = self._kept[world]
        if keeping.firing is None:
            timer = world.agenda.next()
            if timer is None or timer.due_at_ms > world.now_ms:  # after most calls
                keeping.leftover = keeping.leftover and keeping.advance is not None
                return True
        self._fire(world, keeping, world.now_ms)
        return keeping.firing is None

    def begin_firing(self, world: World) -> None:
        """As `fire_due`, without waiting for the end."""
        self._fire(world, self._kept[world], world.now_ms)

    def _fire(self, world: World, keeping: _ClockState, target_ms: int) -> None:
        """Begin a run: its first slice at once, the rest in a task. Nothing while another run or an advance fires."""
        if keeping.firing is not None or keeping.advance is not None or keeping.over:
            return
        before = keeping.fired
        if not self._fire_slice(world, keeping, target_ms):
            keeping.firing = asyncio.get_running_loop().create_task(self._fire_on(world, keeping, target_ms))
        elif keeping.fired > before:
            self._port.changed(world)

    def _fire_slice(self, world: World, keeping: _ClockState, target_ms: int) -> bool:
        """Fire for a few milliseconds; whether everything up to the moment has fired and the clock is there."""
        ends = self._seconds() + SLICE_SECONDS
        while world.fire_next(target_ms) is not None:
            keeping.fired += 1
            if self._seconds() > ends:
                return False
        if target_ms > world.now_ms:
            world.clock.move_to(target_ms)
        keeping.leftover = False
        return True

    async def _fire_on(self, world: World, keeping: _ClockState, target_ms: int) -> None:
        """The rest of a run. It ends early where its aim has gone: the clock is moved, or runs otherwise by now."""
        anchor = keeping.anchor
        try:
            await asyncio.sleep(0)
            while keeping.anchor is anchor and keeping.advance is None and not keeping.over:
                if self._fire_slice(world, keeping, target_ms):
                    break
                await asyncio.sleep(0)
        finally:
            keeping.firing = None
        self._port.changed(world)

    async def _fired(self, world: World, keeping: _ClockState) -> None:
        """Wait for the run under way; not for ever, where more may be due than can fire meanwhile."""
        if keeping.firing is not None and keeping.advance is None:
            patience = None if world.clock.mode == "manual" else self.patience_seconds
            if keeping.leftover:
                patience = self.leftover_patience_seconds
            await asyncio.wait({keeping.firing}, timeout=patience)

    # Running clocks

    def _present_ms(self, world: World, keeping: _ClockState) -> int:
        if keeping.anchor is None:
            keeping.anchor = _Anchor(self._seconds(), world.now_ms)
        passed = Decimal(self._seconds() - keeping.anchor.real_seconds) * 1000
        rate = world.clock.rate if world.clock.mode == "scaled" else Decimal(1)
        return max(min(keeping.anchor.simulated_ms + int(passed * rate), LAST_MS), world.now_ms)

    def anchor(self, world: World, since_seconds: float = 0.0) -> None:
        """Begin to count real time from now: after the clock was set or its mode or rate changed.

        `since_seconds`: so many seconds ago the clock stood where it stands, and nobody has looked at it since.
        """
        self._kept[world].anchor = _Anchor(self._seconds() - since_seconds, world.now_ms)
        self.set_alarm(world)

    def present_ms(self, world: World) -> int:
        """Where the clock of a world stands, whether or not it has been brought up to date."""
        return world.now_ms if world.clock.mode == "manual" else self._present_ms(world, self._kept[world])

    def follow(self, world: World) -> None:
        """Something has changed in a world: set its alarm anew, but for the time of an advance."""
        keeping = self._kept[world]
        if keeping.advance is None and (keeping.alarm is not None or world.clock.mode != "manual"):
            self.set_alarm(world)

    def set_alarm(self, world: World) -> None:
        """Wake a running world when its next timer falls due."""
        keeping = self._kept[world]
        if keeping.alarm is not None:
            keeping.alarm.cancel()
            keeping.alarm = None
        if world.clock.mode == "manual" or keeping.firing is not None or keeping.over:
            return
        timer = world.agenda.next()
        if timer is None or timer.due_at_ms > LAST_MS:
            return
        rate = world.clock.rate if world.clock.mode == "scaled" else Decimal(1)
        wait = max(Decimal(timer.due_at_ms - self._present_ms(world, keeping)) / (1000 * rate), Decimal(0))
        delay = min(float(wait) + 0.001, 3600.0)
        keeping.alarm = asyncio.get_running_loop().call_later(delay, self._ring, world)

    def _ring(self, world: World) -> None:
        keeping = self._kept[world]
        keeping.alarm = None
        if world.clock.mode != "manual":
            self._fire(world, keeping, self._present_ms(world, keeping))
        self.set_alarm(world)

    def forget(self, world: World) -> None:
        """Stop keeping the clock of a world that is gone; an advance of it is called off."""
        keeping = self._kept[world]
        keeping.over = True
        if keeping.alarm is not None:
            keeping.alarm.cancel()
            keeping.alarm = None
        self.call_off(world, "the world was reset, replaced or deleted")

    def end_advances(self) -> None:
        """Call off every advance: the server is stopping."""
        for world in self._kept.worlds():
            self.call_off(world, "the server is stopping")

    def close(self) -> None:
        self.end_advances()
        for keeping in self._kept.values():
            if keeping.alarm is not None:
                keeping.alarm.cancel()
                keeping.alarm = None
            if keeping.firing is not None:
                keeping.firing.cancel()

    # Advancing

    def is_busy(self, world: World) -> bool:
        return self._kept[world].advance is not None

    def progress(self, world: World) -> Progress | None:
        """What the advance under way told last; None when there is none, or it has not told anything yet."""
        advance = self._kept[world].advance
        return None if advance is None else advance.progress

    def call_off(self, world: World, why: str) -> asyncio.Future[Receipt] | None:
        """End the advance under way; returns the future of its receipt. None when there is none."""
        advance = self._kept[world].advance
        if advance is None:
            return None
        advance.called_off = advance.called_off or why
        self._courier.wake(world)
        return advance.ended

    async def advance(
        self,
        world: World,
        to: Target,
        reached: Callable[[], bool] | None = None,
        *,
        horizon_ms: int = LAST_MS,
        patience: Patience | None = None,
    ) -> Receipt:
        """Move the clock to a moment, timer by timer; ClockBusy during another advance, AdvanceCancelled.

        Webhook attempts of an instant are answered before the clock moves on from it. `to` is the moment, or what
        chooses it once the attempts in flight at the start have been answered, or None: as far as the agenda goes up to
        `horizon_ms`, and not beyond its last timer. With `reached`, stop as soon as it holds. Unanswered when
        `patience` with the receiver of an attempt in flight at the start is lost.
        """
        keeping = self._kept[world]
        if keeping.advance is not None:
            raise ClockBusy
        ended: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
        advance = keeping.advance = Advance(
            world, world.now_ms, world.journal.event_count, quotas.objects_of(world), ended
        )
        if keeping.over:
            advance.called_off = "the world has ended"
        try:
            if keeping.firing is not None:
                await asyncio.wait({keeping.firing})
            await advance.settle(self._courier, patience)
            advance.from_ms, advance.events_before = world.now_ms, world.journal.event_count
            to_ms = to() if callable(to) else to
            await self._loop.run(advance, to_ms, reached, horizon_ms, self._bounds(awaiting=to_ms is None))
        finally:
            keeping.advance = None
            keeping.leftover = bool(advance.called_off)
            receipt = advance.receipt()
            ended.set_result(receipt)
            if not keeping.over:
                self.anchor(world)
            self._port.changed(world)
        if advance.called_off:
            raise AdvanceCancelled(advance.called_off, receipt)
        return receipt

    def _bounds(self, *, awaiting: bool) -> tuple[int, int]:
        """How many events an advance may emit, and how many timers it may fire."""
        if awaiting:
            return min(self.most_events, self.most_events_awaiting), min(self.most_timers, self.most_timers_awaiting)
        return self.most_events, self.most_timers
