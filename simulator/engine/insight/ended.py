"""Coverage and findings of the worlds that have ended."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from simulator.engine.insight import advice, counting, shapes
from simulator.engine.records.requests import requests_of
from simulator.engine.rows.operation import Operation
from simulator.kernel.world import World

FINDINGS_KEPT = 1_000

_FREED_TOGETHER = 500
"""Rows that are freed in one piece: less than a millisecond with everything they hold."""


class EndedWorlds:
    """The counts of all ended worlds together, and the newest of their findings.

    Both take a while to compute, so an ended world waits here until `take_in` does that, one world at a time and in any
    thread.
    """

    def __init__(self, operations: Iterable[Operation]) -> None:
        self._operations = tuple(operations)
        self._waiting: deque[World] = deque()
        self.counts: counting.Counts = {}
        self.findings: deque[shapes.Finding] = deque(maxlen=FINDINGS_KEPT)

    @property
    def is_complete(self) -> bool:
        """True if no world waits."""
        return not self._waiting

    def keep(self, world: World) -> None:
        """Add a world that has ended or was reset. Nothing changes it any more."""
        self._waiting.append(world)

    def take_in(self) -> None:
        """Count the world that waits longest. It is removed even if that fails."""
        try:
            counts = counting.merged((self.counts, counting.count_world(self._waiting[0])))
            found = advice.findings(self._waiting[0], self._operations)
            self.findings += advice.of_world(self._waiting[0].id, found)
            self.counts = counts
        finally:
            self._let_go()

    def _let_go(self) -> None:
        """Free a world piece by piece. Freeing a large one in one piece would delay all calls.

        Rows that a snapshot or a call under way still has stay.
        """
        # The world goes first and its rows after it, so nobody may hold a reference to it here: its tables would then
        # hold all rows until the end, and free them in one piece.
        world = self._waiting.popleft()
        kept = [*requests_of(world).entries, *world.store.let_go()]
        del world
        while kept:
            del kept[-_FREED_TOGETHER:]
