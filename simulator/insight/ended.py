"""What a server remembers of worlds that have ended: their coverage, and the findings about their traffic."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from simulator.insight import advice, coverage, shapes
from simulator.kernel.world import World
from simulator.wire.operation import Operation

FINDINGS_KEPT = 1_000


class EndedWorlds:
    """The counts of ended worlds all together, and the newest of their findings.

    A world that ends waits here as it is, for what is known of it takes a while to compute: `take_in` does that, in
    whatever thread, for one world at a time.
    """

    def __init__(self, operations: Iterable[Operation]) -> None:
        self._operations = tuple(operations)
        self._waiting: deque[World] = deque()
        self.counts: coverage.Counts = {}
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
        world = self._waiting[0]
        try:
            counts, found = (
                coverage.merged((self.counts, coverage.count_world(world))),
                advice.findings_with_world(world, self._operations),
            )
            self.counts = counts
            self.findings += found
        finally:
            self._waiting.popleft()
