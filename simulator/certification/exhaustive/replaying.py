"""Plays each sequence of deliveries (path) from its beginning, with a new payment order, in batches. All orders of a
batch are open at the same time, and the settle job runs once for the batch. This requires that deliveries of different
orders do not affect each other. `unlike` checks this for some paths.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from itertools import zip_longest
from random import Random

from simulator.certification.exhaustive.bounds import BEFORE_ANSWER, Path
from simulator.certification.exhaustive.judging import Books, Names, canonical, wrong_with
from simulator.certification.exhaustive.orders import Case, Tracked
from simulator.certification.exhaustive.search import Outcome
from simulator.certification.sources import Line
from simulator.engine.text.json import JsonObject
from simulator.kernel.dataclass import dataclass

_BATCH = 128
_CHECKED = 6


@dataclass
class Replaying:
    """Plays each path (sequence of deliveries) with a new order, even if it begins like a path played before."""

    case: Case
    books: Books
    workers: int
    batch: int = _BATCH
    """The number of paths to play between two checks of the time limit."""

    def begun(self) -> AbstractContextManager[None]:
        """Save nothing, because each path has a separate order."""
        return nullcontext()

    def outcomes(self, paths: Sequence[Path]) -> list[Outcome]:
        """Play each path. Return the outcomes in the same sequence. Raise the same exceptions as `certify`."""
        early = {path: self._played(path) for path in paths if path and path[0].name == BEFORE_ANSWER}
        with ThreadPoolExecutor(self.workers) as pool:
            orders = list(pool.map(lambda path: early.get(path) or self._played(path), paths))
            before = self.books.calm()
            list(pool.map(Tracked.end, orders))
        return self._judged(orders, before)

    def _played(self, path: Path) -> Tracked:
        order, rest = self.case.early(path)
        for move in rest:
            order.deliver(move)
        return order

    def _judged(self, orders: Sequence[Tracked], before: Sequence[Line]) -> list[Outcome]:
        self.books.settle()
        after = self.books.calm()
        return [judged(order, order.row(), before, after, self.books) for order in orders]

    def unlike(self, known: dict[Path, Outcome], seed: int) -> str:
        """Play some paths again, first alone and then with deliveries for another order in between. If the records
        after a path differ from its outcome in `known`, return a description of the difference, otherwise "".
        """
        paths = [path for path in known if path and path[0].name != BEFORE_ANSWER]
        longer = paths[len(paths) // 2 :]
        chosen = Random(seed).sample(longer, min(_CHECKED, len(longer)))
        groups = [[path] for path in chosen[: len(chosen) // 2]]
        groups += [[one, other] for one, other in zip(chosen[::2], chosen[1::2], strict=False)]
        for group in groups:
            orders = [Tracked(self.case, self.case.order()) for _ in group]
            # Both orders get their last delivery in the last round.
            for moves in [*zip_longest(*map(reversed, group))][::-1]:
                for order, move in zip(orders, moves, strict=True):
                    if move is not None:
                        order.deliver(move)
            before = self.books.calm()
            for order in orders:
                order.end()
            for path, outcome in zip(group, self._judged(orders, before), strict=True):
                found = difference(self.case, path, outcome, known[path])
                if found:
                    return f"{found} {'alone' if len(group) == 1 else 'beside another order'}"
        return ""


def difference(case: Case, path: Path, outcome: Outcome, known: Outcome) -> str:
    """Describe how the records after a path differ from a known outcome. Return "" if they are equal."""
    if (outcome.books, outcome.settled) == (known.books, known.settled):
        return ""
    moves = ", ".join(move.shown(case.bounds.events) for move in path)
    now, then = (f"{one.books or 'nothing'}, then {one.settled or 'nothing'}" for one in (outcome, known))
    return f"{moves} leaves {then}, but {now}"


def judged(order: Tracked, row: JsonObject, before: Sequence[Line], after: Sequence[Line], books: Books) -> Outcome:
    """Return the outcome of a path, given the order and the records before and after settling."""
    names: Names = (row["reference"], row["id"])
    wrong = wrong_with(row, after, names) if books.source is not None else []
    problems = dict([*reversed(wrong), *reversed(order.problems)])
    return Outcome(canonical(before, names), canonical(after, names), order.at_last_delivery, tuple(problems.items()))
