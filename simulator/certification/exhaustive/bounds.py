"""The bounds of an exhaustive run: its events, the maximum number of copies of each event, and the number of possible
delivery sequences. A move delivers one event or runs the settle job. No I/O.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from math import comb

from simulator.kernel.dataclass import dataclass

DELIVER, AGAIN, LOST = "deliver", "again", "lost"
BEFORE_ANSWER, AFTER_NEXT, AFTER_FINAL = "late-before-answer", "late-after-next", "late-after-final"
BEYOND_AGE, ACKNOWLEDGEMENT_LOST, SETTLE = "late-beyond-age", "acknowledgement-lost", "settle"
MOVES = (
    DELIVER, AGAIN, LOST, BEFORE_ANSWER, AFTER_NEXT, AFTER_FINAL, BEYOND_AGE, ACKNOWLEDGEMENT_LOST, SETTLE,
)  # fmt: skip
"""The names of all moves."""

Counts = tuple[int, ...]
"""The number of deliveries of each event so far."""


@dataclass(frozen=True)
class Move:
    """One step of a delivery sequence: what happens (`name`), and the index of the event (None for the settle job)."""

    name: str
    event: int | None = None

    def shown(self, events: Sequence[str]) -> str:
        return self.name if self.event is None else f"{self.name} {events[self.event]}"


Path = tuple[Move, ...]
"""The moves of one sequence, in order."""


@dataclass(frozen=True)
class Bounds:
    """The events of a flow, in the sequence of their creation, and the maximum number of copies of each event."""

    events: tuple[str, ...]
    copies: int
    final: int
    """The index of the event that ends the flow. Later events may arrive before or after it."""
    by_call: tuple[int, ...] = ()
    """The indexes of the events that the call causes. They can arrive before its response."""

    @property
    def nothing(self) -> Counts:
        return (0,) * len(self.events)

    def counts(self, path: Path) -> Counts:
        """Return the number of deliveries of each event in a path (a sequence of moves)."""
        found = list(self.nothing)
        for move in path:
            if move.event is not None:
                found[move.event] += 1
        return tuple(found)

    def name_of(self, counts: Counts, event: int) -> str:
        """Return the name of the next delivery of an event, which says whether it is a repeated, late or ordinary
        delivery. `counts` is the number of earlier deliveries of each event.
        """
        if counts[event]:
            return AGAIN
        if event < self.final and counts[self.final]:
            return AFTER_FINAL
        return AFTER_NEXT if any(counts[event + 1 :]) else DELIVER

    def moves(self, counts: Counts) -> Iterator[Move]:
        """Yield the deliveries that can come next. `counts` is the number of earlier deliveries of each event. While no
        event has arrived twice, each event that has not arrived can also be delivered in two special ways: after the
        signature's age limit, or with a lost acknowledgement. A correct receiver is then in the same state as after an
        ordinary delivery, so these deliveries need not be tried in every combination.
        """
        for event, count in enumerate(counts):
            if count < self.copies:
                yield Move(self.name_of(counts, event), event)
                if max(counts) <= 1 and not count:
                    yield Move(BEYOND_AGE, event)
                    yield Move(ACKNOWLEDGEMENT_LOST, event)

    def before_answer(self, length: int) -> Iterator[Path]:
        """Yield every sequence of `length` events that can arrive before the response to the call that causes them."""
        for order in permutations(self.by_call, length):
            yield tuple(Move(BEFORE_ANSWER, event) for event in order)

    def required(self) -> tuple[str, ...]:
        """Return the names of the moves, such as `lost`, that are possible. A complete search tries each of them."""
        impossible = set()
        if self.copies < 2:
            impossible.add(AGAIN)
        if not self.by_call:
            impossible.add(BEFORE_ANSWER)
        if not self.final:
            impossible.add(AFTER_FINAL)
        if not any(later != self.final for later in range(1, len(self.events))):
            impossible.add(AFTER_NEXT)
        return tuple(move for move in MOVES if move not in impossible)

    @property
    def longest(self) -> int:
        """The largest number of deliveries in a sequence."""
        return len(self.events) * self.copies

    def sequences(self, longest: int | None = None) -> int:
        """Return the exact number of different sequences of at most `longest` deliveries, including the empty one."""
        by_length = [1]
        for _ in self.events:
            by_length = [
                sum(
                    by_length[length - copies] * comb(length, copies)
                    for copies in range(min(self.copies, length) + 1)
                    if length - copies < len(by_length)
                )
                for length in range(len(by_length) + self.copies)
            ]
        return sum(by_length if longest is None else by_length[: longest + 1])
