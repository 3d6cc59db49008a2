"""A breadth-first search of delivery sequences. A state consists of the deliveries so far, the application's books and
the simulator's state. No I/O.

The caller plays the deliveries:

    search = Search(bounds)
    while plays := search.level():
        search.take([played(play) for play in plays])    # one `Outcome` for each play, in order; fewer end the search
    result = search.result()

All plays in a level contain the same number of deliveries, so the first trace of each finding is a shortest one. Each
move is tried once from each state, regardless of the number of sequences that lead to the state. The result depends
only on the outcomes, so the plays in a level may run in any order and with any number of workers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import field

from simulator.certification.exhaustive.bounds import BEFORE_ANSWER, LOST, MOVES, SETTLE, Bounds, Counts, Move, Path
from simulator.engine.text.reports import counted
from simulator.kernel.dataclass import dataclass

ORDER_DEPENDENT = "order-dependent"


@dataclass(frozen=True)
class State:
    """A state of the search. Paths that lead to equal states are continued only once."""

    counts: Counts
    books: str
    """The application's records of the order, without ids."""
    simulator: str
    """The order's state in the simulator."""


@dataclass(frozen=True)
class Play:
    """A path to play. Its last delivery was not tried yet in the state to which the earlier ones lead."""

    path: Path
    origin: State | None
    """The state before the last move. None for the empty path."""


@dataclass(frozen=True)
class Outcome:
    """The result of playing one path."""

    books: str
    """The records after the last delivery, in canonical form."""
    settled: str
    """The records at the end, after settling, in canonical form."""
    simulator: str = ""
    """The order's state in the simulator after the last delivery."""
    problems: tuple[tuple[str, str], ...] = ()
    """The verdicts at the end of the path, each with an explanation."""


@dataclass(frozen=True)
class Finding:
    """A verdict with the shortest path that leads to it."""

    verdict: str
    path: Path
    note: str
    other: Path | None = None
    """For `order-dependent`: the path with the same deliveries and different books."""


@dataclass(frozen=True)
class Result:
    """The result of an exhaustive search for a sequence of deliveries that breaks the application's records."""

    bounds: Bounds
    states: int
    edges: int
    sequences: int
    """The number of sequences that the covered states represent."""
    complete: bool
    depth: int
    """The number of deliveries up to which all sequences were covered."""
    is_cut: bool
    """True if the search ended before it had covered its bounds."""
    moves: dict[str, int]
    missing: tuple[str, ...]
    """The possible moves that were never played."""
    findings: tuple[Finding, ...]

    def trace(self, path: Path, verdict: str = "") -> list[str]:
        """Return the deliveries of a path as strings, and `settle` at the end.

        Events that are not in the result never arrived. For the verdict `lost`, the result also names them.
        """
        counts, events = self.bounds.counts(path), self.bounds.events
        lost = [Move(LOST, event) for event, count in enumerate(counts) if not count and verdict == LOST]
        return [move.shown(events) for move in (*path, *lost, Move(SETTLE))]


@dataclass
class Search:
    """A breadth-first search. The module's docstring shows its use."""

    bounds: Bounds
    _plays: list[Play] = field(default_factory=list)
    _states: dict[State, Path] = field(default_factory=dict)
    """The states found so far, each with the first path that led to it."""
    _edges: set[tuple[State, int, State]] = field(default_factory=set)
    _ends: dict[Counts, tuple[str, Path]] = field(default_factory=dict)
    """The records after settling, and the first path, for each multiset of deliveries."""
    _early: dict[Path, State] = field(default_factory=dict)
    """The states after paths on which every event arrived before the response."""
    _findings: dict[str, Finding] = field(default_factory=dict)
    _moves: Counter[str] = field(default_factory=Counter)
    _frontier: list[State] = field(default_factory=list)
    _depth: int = -1
    _is_cut: bool = False

    def level(self) -> list[Play]:
        """Return the next sequences of deliveries to play. They are one delivery longer than those that this method
        last returned. At the end of the search, return an empty list.
        """
        if self._is_cut:
            return []
        if self._depth < 0:
            self._plays = [Play((), None)]
            return list(self._plays)
        moves = [(state, move) for state in self._frontier for move in self.bounds.moves(state.counts)]
        self._plays = [Play((*self._states[state], move), state) for state, move in moves]
        self._plays += [Play(path, self._early[path[:-1]]) for path in self.bounds.before_answer(self._depth + 1)]
        return list(self._plays)

    def take(self, outcomes: Sequence[Outcome]) -> None:
        """Record the outcomes of the plays that `level` last returned, in order. Fewer outcomes end the search."""
        taken = [self._take(play, outcome) for play, outcome in zip(self._plays, outcomes, strict=False)]
        self._frontier = [state for state in taken if state is not None]
        self._is_cut = len(outcomes) < len(self._plays)
        if not self._is_cut:
            self._depth += 1

    def _take(self, play: Play, outcome: Outcome) -> State | None:
        """Record the outcome of one played path. Return its state, or None if an earlier path led to the same state."""
        state, path = State(self.bounds.counts(play.path), outcome.books, outcome.simulator), play.path
        if path:
            self._moves[path[-1].name] += 1
        if not all(state.counts):
            self._moves[LOST] += 1
        self._moves[SETTLE] += 1
        if play.origin is not None and path[-1].event is not None:
            self._edges.add((play.origin, path[-1].event, state))
        if all(move.name == BEFORE_ANSWER for move in path):
            self._early[path] = state
        for verdict, note in outcome.problems:
            self._findings.setdefault(verdict, Finding(verdict, path, note))
        settled, first = self._ends.setdefault(state.counts, (outcome.settled, path))
        if settled != outcome.settled and ORDER_DEPENDENT not in self._findings:
            books = f"{settled or 'nothing'}, not {outcome.settled}"
            note = f"in another order, the same deliveries lead to the books {books}"
            self._findings[ORDER_DEPENDENT] = Finding(ORDER_DEPENDENT, path, note, first)
        if state in self._states:
            return None
        self._states[state] = path
        return state

    def end(self) -> None:
        """End the search before the next level."""
        self._is_cut = True

    def result(self) -> Result:
        """Return the result so far."""
        depth = max(self._depth if self._is_cut else self.bounds.longest, 0)
        missing = tuple(move for move in self.bounds.required() if not self._moves[move])
        return Result(
            self.bounds, len(self._states), len(self._edges), self.bounds.sequences(depth),
            complete=not self._is_cut and not missing, depth=depth, is_cut=self._is_cut,
            moves={name: self._moves[name] for name in MOVES}, missing=missing,
            findings=tuple(self._findings.values()),
        )  # fmt: skip


def claim(result: Result, *, has_job: bool, has_books: bool = True) -> str:
    """Return a sentence that says exactly what a run without findings has shown. `has_job`: True if a settle job ran at
    the end of each path. `has_books`: True if the application's records were compared.
    """
    bounds = result.bounds
    copies = f"up to {counted(bounds.copies, 'copy', 'copies')} of these {counted(len(bounds.events), 'event')}"
    limit = "" if not result.is_cut else f" with at most {counted(result.depth, 'delivery', 'deliveries')}"
    job = "with your settle job at the end" if has_job else "without a settle job"
    size = f"{counted(result.states, 'state')}, {counted(result.edges, 'edge')}"
    if not has_books:
        return (
            f"For every order of {copies}{limit}, your receiver accepts each genuine delivery and refuses each expired "
            f"one, even if deliveries are lost. Your books were not compared (--books). {size}."
        )
    return (
        f"For every order of {copies}{limit}, {job}, your books equal the ledger, even if deliveries are lost. {size}."
    )
