"""POST /seed: create a history of orders in a world, with API requests and outside events at simulated times."""

from __future__ import annotations

import asyncio
import heapq
from collections import Counter
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from simulator.engine.control.call import ControlCall
from simulator.engine.control.objects.stepping import REFUSALS, Stepper
from simulator.engine.control.operation import WAIT, calls_under
from simulator.engine.control.refusals import invalid_parameter, invalid_state
from simulator.engine.scenario.run import drive as drives
from simulator.engine.scenario.run.triggers import Episode, History, triggers_of
from simulator.engine.server.running.advance import SLICE_SECONDS
from simulator.engine.text.fields import Body, Text
from simulator.engine.text.shapes import Count, Timestamp
from simulator.kernel.clock import DAY_MS, HOUR_MS, LAST_MS, format_timestamp
from simulator.kernel.journal import Cause
from simulator.kernel.world import World

operation = calls_under("Clock")

_STREAM = "history"
_PLANNED_AT_ONCE = 50
_MOST_ORDERS = 20_000
"""The maximum number of orders in one call. Other calls have to wait while a slice of the work runs."""


class SeedBody(Body):
    days: Annotated[int, Field(ge=1, le=366)] = 90
    """The number of simulated days. The clock advances by this duration."""
    per_day: Annotated[int, Field(ge=0, le=1000)] = 40
    """The number of orders on each day."""
    mix: Text = "typical"
    """The mix of outcomes: `typical` (most orders are completed) or `failures` (most orders are not)."""


SeedAnswer = TypedDict(
    "SeedAnswer",
    {
        "from": Annotated[Timestamp, Field(description="The simulated time before the call.")],
        "now": Annotated[Timestamp, Field(description="The simulated time afterwards.")],
        "orders": Annotated[Count, Field(description="The number of orders that were created.")],
        "refused": Annotated[
            dict[str, int], Field(description="The number of orders and actions that were refused, by error code.")
        ],
        "events": Annotated[Count, Field(description="The number of events that were emitted.")],
    },
)


@operation("POST /seed", "Give the world a history", body=SeedBody, query=WAIT, by_environment=True, recorded_as="call")
async def seed(call: ControlCall) -> SeedAnswer:
    """Create orders on each of the next simulated days, and complete them with outside events. Use this operation to
    test lists, limits, orders, recurring runs and webhooks with data for several months. Requests, timers and webhook
    deliveries have the same effects as in single calls. The same seed produces the same history. Active scenarios do
    not affect these orders. The response is 409 clock_busy during another advance.
    """
    world, body = call.world, call.body
    history = triggers_of(world).history
    if history is None:
        raise invalid_state("This service cannot generate a history of orders.")
    if body.mix not in history.mixes:
        raise invalid_parameter("mix", f"it must be {' or '.join(history.mixes)}")
    if body.days * body.per_day > _MOST_ORDERS:
        why = f"one call creates at most {_MOST_ORDERS:,} orders; split them over several calls"
        raise invalid_parameter("per_day", why)
    if world.now_ms + body.days * DAY_MS > LAST_MS:
        raise invalid_parameter("days", "the clock cannot go past the year 9998")
    call.patience()
    call.require_idle(world)
    return await _Seeding(call, world, history).play(body.days, body.per_day, body.mix)


class _Seeding:
    """Creates one history. Orders are planned day by day, and their steps are performed in chronological order."""

    def __init__(self, call: ControlCall, world: World, history: History) -> None:
        self._call, self._world, self._history = call, world, history
        self._cause = Cause("action", "seed", call.id)
        self._setup = self._stepper()
        self._orders = self._planned = 0
        self._refused: Counter[str] = Counter()
        self._due: list[tuple[int, int, Stepper, drives.Drive, tuple[tuple[int, drives.DriveAction], ...]]] = []
        self._turn_ends = 0.0

    async def play(self, days: int, per_day: int, mix: str) -> SeedAnswer:
        world, start_ms, before = self._world, self._world.now_ms, self._world.journal.event_count
        self._do(self._setup, self._history.begin(world, self._call.environment, days))
        for day in range(days):
            day_ms = start_ms + day * DAY_MS
            for done in range(0, per_day, _PLANNED_AT_ONCE):
                self._plan(day_ms, min(per_day - done, _PLANNED_AT_ONCE), mix)
                await self._let_others_run()
            await self._until(day_ms + DAY_MS)
        return {
            "from": format_timestamp(start_ms),
            "now": format_timestamp(world.now_ms),
            "orders": self._orders,
            "refused": dict(sorted(self._refused.items())),
            "events": world.journal.event_count - before,
        }

    async def _let_others_run(self) -> None:
        """Let other calls run after the time slice. Raise `ControlError` 409 if one deleted the world."""
        seconds = asyncio.get_running_loop().time
        if seconds() < self._turn_ends:
            return
        await asyncio.sleep(0)
        if not self._call.simulator.lives(self._world):
            raise invalid_state("The world was deleted or replaced before its history was complete.")
        self._turn_ends = seconds() + SLICE_SECONDS

    def _plan(self, day_ms: int, count: int, mix: str) -> None:
        world, environment = self._world, self._call.environment
        first, last = self._history.hours
        midnight_ms = day_ms - day_ms % DAY_MS
        with world.change(self._cause):
            for _ in range(count):
                at_ms = midnight_ms + first * HOUR_MS + world.streams.below((last - first) * HOUR_MS, _STREAM)
                at_ms += DAY_MS if at_ms < day_ms else 0
                number = world.next_sequence(_STREAM)
                episode = self._history.episode(world, environment, mix, number)
                self._push(at_ms, self._stepper(self._setup.answers), episode)

    def _push(self, at_ms: int, stepper: Stepper, episode: Episode) -> None:
        self._planned += 1  # Orders that are due at the same time are played in the order in which they were planned.
        heapq.heappush(self._due, (at_ms, self._planned, stepper, episode.drive, episode.later))

    async def _until(self, end_ms: int) -> None:
        """Perform the steps of planned orders that are due before `end_ms`, and advance the clock to this time."""
        world = self._world
        while self._due and self._due[0][0] < end_ms:
            at_ms, _, stepper, drive, later = heapq.heappop(self._due)
            if at_ms > world.now_ms:
                await self._call.advance(world, at_ms)
            is_done = self._do(stepper, drive)
            await self._let_others_run()
            if later and is_done:
                (delay_ms, step), *rest = later
                self._push(world.now_ms + delay_ms, stepper, Episode((step,), tuple(rest)))
        if end_ms > world.now_ms:
            await self._call.advance(world, end_ms)

    def _do(self, stepper: Stepper, drive: drives.Drive) -> bool:
        """Perform calls and actions in one transaction. If one is refused, count the error and return False."""
        world = self._world
        try:
            with world.change(self._cause), world.store.attempt():
                for step in drive:
                    name, work = next(iter(step.items())) if isinstance(step, Mapping) else ("", step)
                    assert isinstance(work, drives.DriveCall | drives.DriveAction)
                    stepper.do(name, work)
        except REFUSALS as refusal:
            self._refused[getattr(refusal, "code", "invalid_transition")] += 1
            return False
        else:
            self._orders += any(isinstance(step, Mapping) for step in drive) and stepper is not self._setup
            return True
        finally:
            self._call.runtime.changed(world)

    def _stepper(self, answers: Mapping[str, object] | None = None) -> Stepper:
        stepper = Stepper(self._call.runtime, self._world, self._call.environment, self._cause)
        stepper.answers |= answers or {}
        return stepper
