"""Coverage and findings of deleted worlds."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from simulator.engine.insight import advice, counting, shapes
from simulator.engine.records.requests import requests_of
from simulator.engine.rows.operation import Operation
from simulator.kernel.world import World

FINDINGS_KEPT = 1_000

_FREED_TOGETHER = 500
"""The number of rows freed at a time. Freeing them, and everything they refer to, takes less than a millisecond."""


class EndedWorlds:
    """The combined counters of all deleted worlds, and their newest findings. Counting and searching take a while, so a
    deleted world is queued. `take_in` processes one world per call, in any thread.
    """

    def __init__(self, operations: Iterable[Operation]) -> None:
        self._operations = tuple(operations)
        self._waiting: deque[World] = deque()
        self.counts: counting.Counts = {}
        self.findings: deque[shapes.Finding] = deque(maxlen=FINDINGS_KEPT)

    @property
    def is_complete(self) -> bool:
        """True if no world is queued."""
        return not self._waiting

    def keep(self, world: World) -> None:
        """Queue a deleted world, or the previous state of a reset world. It must not change afterwards."""
        self._waiting.append(world)

    def take_in(self) -> None:
        """Process the world that was queued first. The world is removed from the queue even if processing fails."""
        try:
            counts = counting.merged((self.counts, counting.count_world(self._waiting[0])))
            found = advice.findings(self._waiting[0], self._operations)
            self.findings += advice.of_world(self._waiting[0].id, found)
            self.counts = counts
        finally:
            self._let_go()

    def _let_go(self) -> None:
        """Free the memory of a world in steps, because freeing a large world all at once would delay all requests."""
        # The world must be freed before its rows, so no reference to it may remain here. Otherwise, its tables would
        # hold all rows until the end and free them all at once.
        world = self._waiting.popleft()
        kept = [*requests_of(world).entries, *world.store.let_go()]
        del world
        while kept:
            del kept[-_FREED_TOGETHER:]
