"""Running clocks: maps real seconds to simulated ones in the modes `real` and `scaled`, and moves clocks on demand.

The only place that waits for time to pass. A manual clock moves only by `advance`; a running one is brought up to date
before every call, and woken when its next timer falls due.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice

from simulator.courier.courier import Courier
from simulator.kernel.world import World

YIELD_EVERY = 200


@dataclass
class _Anchor:
    """A moment known on both clocks."""

    real_seconds: float
    simulated_ms: int


@dataclass(frozen=True)
class Receipt:
    """What an advance did: from, to, timers fired, events emitted (ids), delivery attempts made.

    Attempts count that no receipt or settling has told of yet, so those that were in flight at the start do too.
    """

    from_ms: int
    to_ms: int
    fired: int
    events: list[str]
    deliveries: int


class ClockBusy(Exception):
    """Another advance of this world's clock is under way."""


def wall_now_ms() -> int:
    """The wall clock in milliseconds: where a real clock starts."""
    return time.time_ns() // 1_000_000


class Driver:
    """Keeps the clocks of all worlds of a server."""

    def __init__(self, courier: Courier, changed: Callable[[World], None]) -> None:
        self._courier = courier
        self._changed = changed
        self._anchors: dict[int, _Anchor] = {}
        self._alarms: dict[int, asyncio.TimerHandle] = {}
        self._busy: set[int] = set()

    def bring_up_to_date(self, world: World) -> None:
        """Move a running clock to the present, firing what fell due on the way; a manual one stays."""
        if world.clock.mode == "manual" or id(world) in self._busy:
            return
        target = self._present_ms(world)
        fired = world.fire_due(target)
        if target > world.now_ms:
            world.clock.move_to(target)
        if fired:
            self._changed(world)

    def _present_ms(self, world: World) -> int:
        anchor = self._anchors.get(id(world))
        if anchor is None:
            anchor = self._anchors[id(world)] = _Anchor(time.monotonic(), world.now_ms)
        passed = Decimal(time.monotonic() - anchor.real_seconds) * 1000
        rate = world.clock.rate if world.clock.mode == "scaled" else Decimal(1)
        return max(anchor.simulated_ms + int(passed * rate), world.now_ms)

    def anchor(self, world: World) -> None:
        """Begin to count real time from now: after the clock was set or its mode or rate changed."""
        self._anchors[id(world)] = _Anchor(time.monotonic(), world.now_ms)
        self.set_alarm(world)

    def set_alarm(self, world: World) -> None:
        """Wake a running world when its next timer falls due."""
        alarm = self._alarms.pop(id(world), None)
        if alarm is not None:
            alarm.cancel()
        timer = world.agenda.next()
        if world.clock.mode == "manual" or timer is None:
            return
        rate = world.clock.rate if world.clock.mode == "scaled" else Decimal(1)
        wait = max(Decimal(timer.due_at_ms - self._present_ms(world)) / (1000 * rate), Decimal(0))
        delay = min(float(wait) + 0.001, 3600.0)
        self._alarms[id(world)] = asyncio.get_running_loop().call_later(delay, self._ring, world)

    def _ring(self, world: World) -> None:
        self._alarms.pop(id(world), None)
        self.bring_up_to_date(world)
        self.set_alarm(world)

    def forget(self, world: World) -> None:
        """Stop keeping the clock of a world that is gone."""
        self._anchors.pop(id(world), None)
        alarm = self._alarms.pop(id(world), None)
        if alarm is not None:
            alarm.cancel()

    def close(self) -> None:
        for alarm in self._alarms.values():
            alarm.cancel()
        self._alarms.clear()

    def is_busy(self, world: World) -> bool:
        return id(world) in self._busy

    async def advance(self, world: World, to_ms: int | None, reached: Callable[[], bool] | None = None) -> Receipt:
        """Move the clock to a moment, timer by timer; ClockBusy during another advance.

        Webhook attempts of an instant are answered before the clock moves on from it. With `reached`, stop as soon
        as it holds; `to_ms` None then means as far as the agenda goes.
        """
        if id(world) in self._busy:
            raise ClockBusy
        self._busy.add(id(world))
        try:
            deliveries, fired = await self._courier.settle(world), 0
            start_ms, events_before = world.now_ms, world.journal.event_count
            while reached is None or not reached():
                timer = world.agenda.next()
                if timer is None or timer.due_at_ms > world.now_ms:
                    deliveries += await self._courier.settle(world)
                    timer = world.agenda.next()
                if timer is None or (to_ms is not None and timer.due_at_ms > to_ms):
                    break
                world.fire_next(timer.due_at_ms)
                fired += 1
                if fired % YIELD_EVERY == 0:
                    await asyncio.sleep(0)
            deliveries += await self._courier.settle(world)
            if to_ms is not None and to_ms > world.now_ms and (reached is None or not reached()):
                world.clock.move_to(to_ms)
        finally:
            self._busy.discard(id(world))
            self.anchor(world)
            self._changed(world)
        newest = islice(world.journal.events_newest_first(), world.journal.event_count - events_before)
        return Receipt(
            start_ms,
            world.now_ms,
            fired,
            [event.id for event in newest][::-1],
            deliveries,
        )
