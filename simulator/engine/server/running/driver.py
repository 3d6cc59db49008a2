"""Maps real time to simulated time in the clock modes `real` and `scaled`, and advances clocks.

Only this module waits for simulated time and fires timers. A manual clock changes only through `advance`. A running
clock is brought up to date before every call, and when an alarm reports that the next timer is due. Timers fire in
slices of a few milliseconds, so the server stays responsive even if many timers are due. A series of slices is called a
run. A world has at most one run at a time. Calls that arrive during a run wait until the run ends.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from simulator.engine.server.running.advance import (
    SLICE_SECONDS,
    Advance,
    AdvanceCancelled,
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
from simulator.kernel.world import PerWorld, World


@dataclass
class _Anchor:
    """A point in time, given both in real time and in simulated time."""

    real_seconds: float
    simulated_ms: int
    ms_per_second: float
    """The simulated milliseconds per real second."""


@dataclass
class _ClockState:
    """The state of one world's clock in the driver."""

    anchor: _Anchor | None = None
    """The point in time from which elapsed real time is measured.

    None before the first call to a world, unless its clock was started earlier.
    """
    alarm: asyncio.TimerHandle | None = None
    """An alarm that fires when the next timer of a running clock is due."""
    alarm_ms: int = 0
    """The simulated time for which `alarm` is set."""
    firing: asyncio.Task[None] | None = None
    """The rest of a run of timers, if the run takes longer than one slice."""
    advance: Advance | None = None
    leftover: bool = False
    """True after a cancelled advance, which may leave many timers due."""
    over: bool = False
    """True if the world has ended."""
    fired: int = 0
    """The number of timers that were fired by runs, not by advances."""

    def silence(self) -> None:
        """Cancel the alarm if there is one."""
        if self.alarm is not None:
            self.alarm.cancel()
            self.alarm = None


class Driver:
    """Runs the clocks of all worlds in a server. `seconds` returns the time of a monotonic clock.

    The driver notifies `port` when timers of a world have fired, and repeatedly during an advance.
    """

    patience_seconds = 1.0
    """The maximum time for which a call waits for a running clock. Then it is handled at the time that the clock has
    reached.
    """
    leftover_patience_seconds = 0.2
    """The maximum time for which a call waits for timers that are still due after a cancelled advance."""
    most_events = 1_000_000
    most_timers = 5_000_000
    """The maximum number of events and timers in one advance, so that it does not exhaust the machine's memory.

    An event takes 1 KB and its resource up to 2 KB, so the limit is about 3 GB.
    """
    most_events_awaiting = 200_000
    most_timers_awaiting = 1_000_000
    """The same limits for an advance to a condition that may never become true: about 600 MB, or two minutes."""

    def __init__(self, courier: Courier, port: ports.Port, seconds: Callable[[], float] = time.monotonic) -> None:
        self._courier = courier
        self._port = port
        self._seconds = seconds
        self._kept = PerWorld(_ClockState)

    # Due timers

    async def bring_up_to_date(self, world: World) -> None:
        """Advance a running clock to the current time, and fire all timers that are due.

        Do nothing if the clock is manual or is being advanced, or if the world has ended.
        """
        if not self.catch_up(world):
            await self._fired(world, self._kept[world])

    def catch_up(self, world: World) -> bool:
        """Like `bring_up_to_date`, but without waiting. Return True if all due timers have fired, as usual."""
        keeping = self._kept[world]
        if world.clock.mode != "manual":
            self._fire(world, keeping, self._present_ms(world, keeping))
        return keeping.firing is None

    async def fire_due(self, world: World) -> None:
        """Fire the timers that are due now, such as timers that a call has set to fire immediately."""
        if not self.fire_at_once(world):
            await self._fired(world, self._kept[world])

    def fire_at_once(self, world: World) -> bool:
        """Like `fire_due`, but without waiting. Return True if all due timers have fired, as is usual after a call."""
        keeping = self._kept[world]
        if keeping.firing is None:
            timer = world.agenda.next()
            if timer is None or timer.due_at_ms > world.now_ms:  # this is the case after most calls
                keeping.leftover = keeping.leftover and keeping.advance is not None
                return True
        self._fire(world, keeping, world.now_ms)
        return keeping.firing is None

    def begin_firing(self, world: World) -> None:
        """Like `fire_due`, but without waiting for the timers to fire."""
        self._fire(world, self._kept[world], world.now_ms)

    def _fire(self, world: World, keeping: _ClockState, target_ms: int) -> None:
        """Start to fire the timers that are due up to `target_ms`. The first slice of timers fires immediately, the
        rest in a task.

        Do nothing if timers of this world are firing already, or if its clock is being advanced.
        """
        if keeping.firing is not None or keeping.advance is not None or keeping.over:
            return
        before = keeping.fired
        if not self._fire_slice(world, keeping, target_ms):
            keeping.firing = asyncio.get_running_loop().create_task(self._fire_on(world, keeping, target_ms))
        elif keeping.fired > before:
            self._port.changed(world)

    def _fire_slice(self, world: World, keeping: _ClockState, target_ms: int) -> bool:
        """Fire timers for a few milliseconds. Return True if the clock has reached `target_ms`."""
        ends = 0.0
        while world.fire_next(target_ms) is not None:
            keeping.fired += 1
            now = self._seconds()
            ends = ends or now + SLICE_SECONDS
            if now > ends:
                return False
        if target_ms > world.now_ms:
            world.clock.move_to(target_ms)
        keeping.leftover = False
        return True

    async def _fire_on(self, world: World, keeping: _ClockState, target_ms: int) -> None:
        """Fire the remaining timers up to `target_ms`. Stop if the clock was set, or its mode or rate has changed."""
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
        """Wait until the due timers have fired. Limit the wait, because timers can become due faster than they fire."""
        if keeping.firing is not None and keeping.advance is None:
            patience = None if world.clock.mode == "manual" else self.patience_seconds
            if keeping.leftover:
                patience = self.leftover_patience_seconds
            await asyncio.wait({keeping.firing}, timeout=patience)

    # Running clocks

    def _present_ms(self, world: World, keeping: _ClockState) -> int:
        anchor = keeping.anchor
        if anchor is None:
            anchor = keeping.anchor = self._anchor_now(world)
        passed_ms = int((self._seconds() - anchor.real_seconds) * anchor.ms_per_second)
        return max(min(anchor.simulated_ms + passed_ms, LAST_MS), world.now_ms)

    def _anchor_now(self, world: World, since_seconds: float = 0.0) -> _Anchor:
        rate = float(world.clock.rate) if world.clock.mode == "scaled" else 1.0
        return _Anchor(self._seconds() - since_seconds, world.now_ms, 1000 * rate)

    def anchor(self, world: World, since_seconds: float = 0.0) -> None:
        """Map the world's current time to the current real time. A running clock advances from this point.

        Call this method after the clock was set, or after its mode or rate has changed.

        If the clock reached the world's current time in the past, `since_seconds` is how many real seconds ago.
        """
        keeping = self._kept[world]
        keeping.anchor = self._anchor_now(world, since_seconds)
        keeping.silence()
        self.set_alarm(world)

    def present_ms(self, world: World) -> int:
        """Return the time that a clock should show now, in milliseconds. The clock and the timers do not change."""
        return world.now_ms if world.clock.mode == "manual" else self._present_ms(world, self._kept[world])

    def follow(self, world: World) -> None:
        """Update the alarm of a world after a transaction. Do nothing while the world is being advanced."""
        keeping = self._kept[world]
        if keeping.advance is None and (keeping.alarm is not None or world.clock.mode != "manual"):
            self.set_alarm(world)

    def set_alarm(self, world: World) -> None:
        """Set an alarm for the next timer of a running clock, unless it is set already."""
        keeping = self._kept[world]
        if world.clock.mode == "manual" or keeping.firing is not None or keeping.over:
            keeping.silence()
            return
        timer = world.agenda.next()
        if timer is not None and keeping.alarm is not None and keeping.alarm_ms == timer.due_at_ms:
            return
        keeping.silence()
        if timer is None or timer.due_at_ms > LAST_MS:
            return
        present_ms = self._present_ms(world, keeping)
        assert keeping.anchor is not None
        wait = max((timer.due_at_ms - present_ms) / keeping.anchor.ms_per_second, 0.0)
        # The alarm is set one millisecond late, so that rounding never wakes the world too early. The delay is at
        # most an hour, because event loops refuse delays of years. The alarm is set again when it fires.
        delay = min(wait + 0.001, 3600.0)
        keeping.alarm_ms = timer.due_at_ms
        keeping.alarm = asyncio.get_running_loop().call_later(delay, self._ring, world)

    def _ring(self, world: World) -> None:
        keeping = self._kept[world]
        keeping.alarm = None
        if world.clock.mode != "manual":
            self._fire(world, keeping, self._present_ms(world, keeping))
        self.set_alarm(world)

    def forget(self, world: World) -> None:
        """Stop the clock of a world that has ended, and cancel an advance of this clock."""
        keeping = self._kept[world]
        keeping.over = True
        keeping.silence()
        self.call_off(world, "the world was reset, replaced or deleted")

    def end_advances(self) -> None:
        """Cancel all advances of clocks, because the server is stopping."""
        for world in self._kept.worlds():
            self.call_off(world, "the server is stopping")

    def close(self) -> None:
        self.end_advances()
        for keeping in self._kept.values():
            keeping.silence()
            if keeping.firing is not None:
                keeping.firing.cancel()

    # Advancing

    def is_busy(self, world: World) -> bool:
        return self._kept[world].advance is not None

    def progress(self, world: World) -> Progress | None:
        """Return the latest progress report of an advance, or None if there is none."""
        advance = self._kept[world].advance
        return None if advance is None else advance.progress

    def call_off(self, world: World, why: str) -> asyncio.Future[Receipt] | None:
        """Cancel the advance of a world. Return a future for its result, or None if there is no advance."""
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
        """Advance a world's clock to a target time, firing each timer at its due time.

        The clock advances only when no webhook attempt is in flight. `to` is the target time, or a function that
        returns the target time. The function is called when the attempts that were in flight at the start have ended.
        If `to` is None, the clock advances to the last timer that is due up to `horizon_ms`. The advance stops as soon
        as `reached` returns True.

        Raise `ClockBusy` if another advance is in progress, and `AdvanceCancelled` if this advance is cancelled or
        exceeds a limit. Raise `Unanswered` if a receiver does not respond within `patience` to an attempt that was in
        flight at the start.
        """
        keeping = self._kept[world]
        if keeping.advance is not None:
            raise ClockBusy
        ended: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
        events, objects = world.journal.event_count, quotas.objects_of(world)
        advance = Advance(self._courier, self._port, self._seconds, world, world.now_ms, events, objects, ended)
        keeping.advance = advance
        if keeping.over:
            advance.called_off = "the world has ended"
        try:
            if keeping.firing is not None:
                await asyncio.wait({keeping.firing})
            await advance.settle(patience)
            advance.from_ms, advance.events_before = world.now_ms, world.journal.event_count
            to_ms = to() if callable(to) else to
            most_events, most_timers = self.most_events, self.most_timers
            if to_ms is None:
                most_events = min(most_events, self.most_events_awaiting)
                most_timers = min(most_timers, self.most_timers_awaiting)
            await advance.run(to_ms, reached, horizon_ms, most_events, most_timers)
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
