"""Time limits for many tasks that share one event loop timer.

`asyncio.timeout` creates a timer for each request, which took 5% of the time per delivery. Almost none of
these timers ever fire.
"""

from __future__ import annotations

import asyncio


class Limit:
    """The time limit of one task. When the time is up, the task gets a `CancelledError`."""

    __slots__ = ("_cancelled_before", "_task", "at", "passed")

    def __init__(self, at: float) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._cancelled_before = task.cancelling()
        self.at = at
        self.passed = False
        """True once the task was cancelled because its time was over."""

    def cut_off(self) -> None:
        self.passed = True
        self._task.cancel()

    def absorbs(self) -> bool:
        """Return True if only this time limit caused the task's `CancelledError`. Call this once for each error."""
        # Without `uncancel`, the task would count as cancelled permanently. A task that was also cancelled by other
        # code must stay cancelled.
        return self.passed and self._task.uncancel() <= self._cancelled_before


class Deadlines:
    """The time limits of all tasks in one event loop."""

    __slots__ = ("_alarm", "_limits", "loop")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._limits: set[Limit] = set()
        self._alarm: asyncio.TimerHandle | None = None

    def begin(self, seconds: float) -> Limit:
        """Limit the current task until `end` is called."""
        limit = Limit(self.loop.time() + seconds)
        self._limits.add(limit)
        if self._alarm is None or self._alarm.when() > limit.at:
            self._ring_at(limit.at)
        return limit

    def end(self, limit: Limit) -> None:
        self._limits.discard(limit)

    def _ring_at(self, moment: float) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = self.loop.call_at(moment, self._ring)

    def _ring(self) -> None:
        self._alarm = None
        now = self.loop.time()
        over = sorted((limit for limit in self._limits if limit.at <= now), key=lambda limit: limit.at)
        self._limits.difference_update(over)
        for limit in over:
            limit.cut_off()
        if self._limits:
            self._ring_at(min(limit.at for limit in self._limits))
