"""The broken promises that were found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

PROMISES = {
    "lost": "acknowledged writes lost",
    "doubled": "writes doubled",
    "half": "changes of which a part was there",
    "webhook": "webhooks lost, changed, or of events that never were",
    "time": "clocks or timers that were not where they belong",
    "owned twice": "worlds owned twice",
    "answer": "answers that nobody may get",
}


@dataclass
class Findings:
    """How often each promise was broken, and what was seen of it first."""

    counts: Counter[str] = field(default_factory=Counter)
    told: list[str] = field(default_factory=list)
    tell: Callable[[str], None] | None = None

    def add(self, promise: str, what: str) -> None:
        assert promise in PROMISES, promise
        self.counts[promise] += 1
        if len(self.told) < 50:
            self.told.append(f"{PROMISES[promise]}: {what}")
            if self.tell is not None:
                self.tell(self.told[-1])

    def __add__(self, other: Findings) -> Findings:
        return Findings(self.counts + other.counts, [*self.told, *other.told])

    @property
    def total(self) -> int:
        return self.counts.total()
