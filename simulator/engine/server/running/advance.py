"""Advances a simulated clock from timer to timer, and reports the progress."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import islice
from typing import TypeAlias

from simulator.engine.webhooks.courier import port as ports
from simulator.engine.webhooks.courier.courier import Courier, Patience
from simulator.engine.worlds import quotas
from simulator.kernel.dataclass import dataclass
from simulator.kernel.world import World

SLICE_SECONDS = 0.005
"""The number of seconds for which timers fire before other calls can run."""
PROGRESS_SECONDS = 0.25
"""The number of seconds between two progress reports of an advance."""

Target: TypeAlias = "int | Callable[[], int] | None"


@dataclass(frozen=True)
class Receipt:
    """The result of advancing the clock."""

    from_ms: int
    to_ms: int
    fired: int
    """The number of timers that fired."""
    events: list[str]
    """The ids of the emitted events."""
    deliveries: int
    """The number of delivery attempts. Attempts that an earlier advance counted are not counted again."""


@dataclass(frozen=True)
class Progress:
    """The progress of a clock advance that is still running. `Receipt` contains the same counts for a finished one."""

    from_ms: int
    now_ms: int
    to_ms: int | None
    """The target time, or None for an advance to a condition."""
    fired: int
    events: int
    deliveries: int


class ClockBusy(Exception):
    """Raised if another advance of the world's clock is in progress."""


class AdvanceCancelled(Exception):
    """Raised if an advance of a clock was cancelled or exceeded a limit. `receipt` contains the result so far."""

    def __init__(self, why: str, receipt: Receipt) -> None:
        super().__init__(why)
        self.why = why
        self.receipt = receipt


@dataclass
class Advance:
    """An advance of a world's clock that is in progress. `port` is notified of its progress."""

    courier: Courier
    port: ports.Port
    seconds: Callable[[], float]
    """A monotonic clock."""
    world: World
    from_ms: int
    events_before: int
    objects_before: int
    ended: asyncio.Future[Receipt]
    fired: int = 0
    deliveries: int = 0
    called_off: str = ""
    """The reason why the advance was cancelled, or ""."""
    progress: Progress | None = None

    @property
    def emitted(self) -> int:
        """The number of events that the advance has emitted."""
        return self.world.journal.event_count - self.events_before

    def receipt(self) -> Receipt:
        newest = islice(self.world.journal.events_newest_first(), self.emitted)
        return Receipt(
            self.from_ms, self.world.now_ms, self.fired, [event.id for event in newest][::-1], self.deliveries
        )

    async def settle(self, patience: Patience | None = None) -> None:
        """Wait for the delivery attempts that are in flight. Stop waiting if the advance is cancelled."""
        self.deliveries += await self.courier.settle(
            self.world, patience=patience, called_off=lambda: bool(self.called_off)
        )

    async def run(
        self,
        to_ms: int | None,
        reached: Callable[[], bool] | None,
        horizon_ms: int,
        most_events: int,
        most_timers: int,
    ) -> None:
        """Fire the timers that are due up to `to_ms`, or up to `horizon_ms` if `to_ms` is None. Stop as soon as
        `reached` returns True.

        Timers fire in slices of a few milliseconds. All delivery attempts finish before the clock advances to the next
        timer.
        """
        world, seconds = self.world, self.seconds
        last_ms = horizon_ms if to_ms is None else to_ms
        turn_ends, tells = seconds() + SLICE_SECONDS, seconds() + PROGRESS_SECONDS
        while not self.called_off and not (reached is not None and reached()):
            timer = world.agenda.next()
            if (timer is None or timer.due_at_ms > world.now_ms) and self.courier.is_busy(world):
                await self.settle()
                if self.called_off:
                    return
                timer = world.agenda.next()
            if timer is None or timer.due_at_ms > last_ms:
                break
            world.fire(timer)
            self.fired += 1
            if self.emitted > most_events or self.fired > most_timers:
                self.called_off = self.called_off or (
                    f"an advance emits at most {most_events} events and fires at most {most_timers} timers; "
                    "advance in shorter spans"
                )
            if quotas.is_over(world, self.objects_before):
                self.called_off = self.called_off or (
                    "the world exceeds its quota_objects, a quota of the simulator; reset it, or raise the quota with "
                    "the server's flag --quota-objects"
                )
            if (now := seconds()) > turn_ends:
                if now > tells:
                    self.progress = Progress(
                        self.from_ms, world.now_ms, to_ms, self.fired, self.emitted, self.deliveries
                    )
                    self.port.changed(world)
                    tells = now + PROGRESS_SECONDS
                await asyncio.sleep(0)
                turn_ends = seconds() + SLICE_SECONDS
        await self.settle()
        if self.called_off or to_ms is None or to_ms <= world.now_ms or (reached is not None and reached()):
            return
        world.clock.move_to(to_ms)
