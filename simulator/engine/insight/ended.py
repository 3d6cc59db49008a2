"""What a server remembers of worlds that have ended: their coverage, and the findings about their traffic."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from simulator.engine.insight import advice, counting, shapes
from simulator.engine.records.requests import requests_of
from simulator.engine.rows.operation import Operation
from simulator.kernel.world import World

FINDINGS_KEPT = 1_000

_AT_ONCE = 500
"""So many rows are let go of at once: with what they hold, less than a millisecond."""


class EndedWorlds:
    """The counts of ended worlds all together, and the newest of their findings.

    A world that ends waits here as it is, for what is known of it takes a while to compute: `take_in` does that, in
    whatever thread, for one world at a time.
    """

    def __init__(self, operations: Iterable[Operation]) -> None:
        self._operations = tuple(operations)
        self._waiting: deque[World] = deque()
        self.counts: counting.Counts = {}
        self.findings: deque[shapes.Finding] = deque(maxlen=FINDINGS_KEPT)

    @property
    def is_complete(self) -> bool:
        """Whether no world waits."""
        return not self._waiting

    def keep(self, world: World) -> None:
        """A world ends, or is made anew; nothing changes it any more."""
        self._waiting.append(world)

    def take_in(self) -> None:
        """Keep what is known of the world that waits longest; it waits no more even when that fails."""
        try:
            counts = counting.merged((self.counts, counting.count_world(self._waiting[0])))
            world = self._waiting[0]
            self.findings += advice.of_world(world, advice.findings(world, self._operations))
            self.counts = counts
        finally:
            self._let_go()

    def _let_go(self) -> None:
        """Forget a world piece by piece: all at once, a large one would make every call wait meanwhile.

        What somebody else still has of it, a snapshot or a call under way, stays.
        """
        world = self._waiting.popleft()
        kept = [*requests_of(world).entries, *world.store.let_go()]
        del world
        while kept:
            del kept[-_AT_ONCE:]
