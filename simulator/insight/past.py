"""What a server remembers of worlds that have ended: their coverage, and the findings about their traffic."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from simulator.insight.advice import findings_with_world
from simulator.insight.coverage import Counts, count_world, merged
from simulator.kernel.world import World
from simulator.wire.json import JsonObject
from simulator.wire.operation import Operation

FINDINGS_KEPT = 1_000


class Past:
    """The counts of ended worlds all together, and the newest of their findings."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        self._operations = tuple(operations)
        self.counts: Counts = {}
        self.findings: deque[JsonObject] = deque(maxlen=FINDINGS_KEPT)

    def keep(self, world: World) -> None:
        """A world ends, or is made anew: keep what is known of it."""
        self.counts = merged((self.counts, count_world(world)))
        self.findings += findings_with_world(world, self._operations)
