"""The exhaustive search with functions as receivers: numbers, moves, findings, claims."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from random import Random

import pytest

from simulator.certification.exhaustive.bounds import MOVES, Bounds, Move, Path
from simulator.certification.exhaustive.search import Outcome, Play, Result, Search, claim

Receiver = Callable[[Path, Bounds], Outcome]
FIVE = ("made", "asked", "moving", "done", "returned")


def bounds(events: int = 5, copies: int = 2) -> Bounds:
    names = (*FIVE, "new")[:events]
    return Bounds(names, copies, final=min(events, 5) - 1, by_call=tuple(range(min(2, events))))


def idempotent(path: Path, within: Bounds) -> Outcome:
    """Books nothing before the first event, and the whole truth from then on."""
    return Outcome("1 done" if path else "", "1 done")


def searched(receiver: Receiver, within: Bounds, *, levels: int = 100, seed: int = 0) -> Result:
    search = Search(within)
    for _ in range(levels):
        plays = search.level()
        if not plays:
            break
        shuffled = list(enumerate(plays))
        Random(seed).shuffle(shuffled)
        outcomes = {number: receiver(play.path, within) for number, play in shuffled}
        search.take([outcomes[number] for number in range(len(plays))])
    else:
        search.end()
    return search.result()


@pytest.mark.parametrize(
    ("events", "states", "edges", "sequences"), [(5, 243, 810, 326_011), (6, 729, 2_916, 21_295_783)]
)
def test_two_copies_have_these_figures(events: int, states: int, edges: int, sequences: int) -> None:
    within = bounds(events)
    assert within.sequences() == sequences
    found = searched(idempotent, within)
    assert (found.states, found.edges, found.sequences) == (states, edges, sequences)
    assert (found.complete, found.depth, found.findings) == (True, 2 * events, ())


@pytest.mark.parametrize(("events", "copies"), [(1, 1), (1, 3), (2, 2), (3, 1), (3, 2), (2, 3)])
@pytest.mark.parametrize("longest", [None, 0, 1, 3])
def test_the_number_of_sequences_is_that_of_counting_them(events: int, copies: int, longest: int | None) -> None:
    within = Bounds(FIVE[:events], copies, events - 1)
    most = within.longest if longest is None else min(longest, within.longest)
    counted = sum(
        all(word.count(letter) <= copies for letter in range(events))
        for length in range(most + 1)
        for word in product(range(events), repeat=length)
    )
    assert within.sequences(longest) == counted


def test_each_edge_is_played_once_and_each_move_occurs() -> None:
    plays: list[Play] = []
    search = Search(bounds(3))
    while level := search.level():
        plays += level
        search.take([idempotent(play.path, search.bounds) for play in level])
    moves = {move: sum(play.path[-1].name == move for play in plays if play.path) for move in MOVES}
    lattice = [play for play in plays if play.path and play.path[-1].name in ("deliver", "again", *MOVES[4:6])]
    assert len({(play.origin, play.path[-1]) for play in lattice}) == len(lattice) == 54
    # Each first delivery of the 8 states with at most one copy of each event; two events before the response.
    assert (moves["late-beyond-age"], moves["acknowledgement-lost"], moves["late-before-answer"]) == (12, 12, 4)
    found = search.result()
    assert found.moves == {**moves, "lost": sum(not all(search.bounds.counts(play.path)) for play in plays),
                           "settle": len(plays)}  # fmt: skip
    assert found.missing == ()
    assert all(found.moves.values())


def test_moves_are_named_after_the_earlier_deliveries() -> None:
    within = bounds(6)
    assert within.name_of((0, 0, 0, 0, 0, 0), 2) == "deliver"
    assert within.name_of((1, 0, 1, 0, 0, 0), 3) == "deliver"
    assert within.name_of((1, 0, 1, 0, 0, 0), 1) == "late-after-next"
    assert within.name_of((1, 0, 1, 0, 1, 0), 1) == "late-after-final"
    assert within.name_of((1, 0, 1, 0, 1, 0), 5) == "deliver"
    assert within.name_of((0, 0, 0, 0, 0, 1), 4) == "late-after-next"
    assert within.name_of((1, 1, 1, 0, 1, 0), 1) == "again"


@pytest.mark.parametrize(
    ("within", "impossible"),
    [
        (bounds(5), set()),
        (bounds(5, copies=1), {"again"}),
        (Bounds(FIVE, 2, 4), {"late-before-answer"}),
        (bounds(2), {"late-after-next"}),
        (bounds(1), {"late-after-next", "late-after-final"}),
    ],
)
def test_only_moves_that_the_bounds_allow_are_required(within: Bounds, impossible: set[str]) -> None:
    found = searched(idempotent, within)
    assert set(within.required()) == set(MOVES) - impossible
    assert {name for name, times in found.moves.items() if not times} == impossible
    assert found.complete


def test_a_search_that_leaves_out_a_move_is_not_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    moves = Bounds.moves
    monkeypatch.setattr(
        Bounds, "moves", lambda self, counts: (one for one in moves(self, counts) if one.name != "late-beyond-age")
    )
    found = searched(idempotent, bounds(3))
    assert (found.missing, found.complete, found.is_cut) == (("late-beyond-age",), False, False)


def doubling(path: Path, within: Bounds) -> Outcome:
    """Books once more for each event after the end."""
    times, ended = 0, False
    for move in path:
        ended = ended or move.event == within.final
        times += ended
    books = f"{times} done"
    problems = (("doubled", f"booked {times} times"),) if times > 1 else ()
    return Outcome(books, books if times else "1 done", problems=problems)


def test_the_first_trace_of_a_finding_is_a_shortest_one() -> None:
    found = searched(doubling, bounds(3))
    traces = {one.verdict: found.trace(one.path, one.verdict) for one in found.findings}
    assert traces["doubled"] == ["deliver moving", "late-after-final made", "settle"]
    assert found.states > 3**3
    assert found.complete


def test_other_books_after_the_same_deliveries_are_order_dependent() -> None:
    def last_wins(path: Path, within: Bounds) -> Outcome:
        last = within.events[path[-1].event or 0] if path else ""
        return Outcome(last, last)

    found = searched(last_wins, bounds(2))
    (finding,) = found.findings
    assert finding.verdict == "order-dependent"
    assert found.trace(finding.path) == ["deliver asked", "late-after-final made", "settle"]
    assert finding.other is not None
    assert found.trace(finding.other) == ["deliver made", "deliver asked", "settle"]


def test_states_differ_by_books_even_after_the_same_deliveries() -> None:
    """The books tell the first event, so three deliveries have three states and not one."""

    def first_wins(path: Path, within: Bounds) -> Outcome:
        return Outcome(within.events[path[0].event or 0] if path else "", "")

    found = searched(first_wins, bounds(3, copies=1))
    assert found.states == 1 + 3 + 3 * 2 + 3
    assert found.edges == 3 + 6 + 6


def test_states_differ_by_the_simulator() -> None:
    def stages(path: Path, within: Bounds) -> Outcome:
        return Outcome("", "", simulator=path[0].name if path else "")

    assert searched(stages, Bounds(("made",), 1, 0)).states == 1 + len({"deliver", "late-beyond-age", "ack"})


def test_a_lost_event_is_named_in_the_trace() -> None:
    def lossy(path: Path, within: Bounds) -> Outcome:
        return Outcome("", "", problems=(("lost", "nothing booked"),) if not path else ())

    found = searched(lossy, bounds(2))
    (finding,) = found.findings
    assert found.trace(finding.path, finding.verdict) == ["lost made", "lost asked", "settle"]


@pytest.mark.parametrize("levels", [1, 4])
def test_a_search_that_is_cut_claims_only_its_depth(levels: int) -> None:
    found = searched(idempotent, bounds(5), levels=levels)
    assert (found.complete, found.is_cut, found.depth) == (False, True, levels - 1)
    assert found.sequences == found.bounds.sequences(levels - 1) < 326_011
    assert f"with at most {levels - 1} deliver" in claim(found, has_job=True)


def test_a_level_that_was_played_in_part_is_not_covered() -> None:
    search = Search(bounds(2))
    for _ in range(2):
        search.take([idempotent(play.path, search.bounds) for play in search.level()])
    plays = search.level()
    search.take([idempotent(play.path, search.bounds) for play in plays[:-1]])
    assert search.level() == []
    assert (search.result().depth, search.result().complete) == (1, False)


@pytest.mark.parametrize("receiver", [idempotent, doubling])
def test_the_result_does_not_depend_on_the_order_of_playing(receiver: Receiver) -> None:
    assert searched(receiver, bounds(4), seed=1) == searched(receiver, bounds(4), seed=2)


def test_the_claim_states_the_bounds() -> None:
    whole = searched(idempotent, bounds(5))
    said = "For every order of up to 2 copies of these 5 events, with your settle job at the end, "
    assert (
        claim(whole, has_job=True)
        == f"{said}your books equal the ledger, even if deliveries are lost. 243 states, 810 edges."
    )
    assert "without a settle job" in claim(whole, has_job=False)
    assert "up to 1 copy of these 2 events" in claim(searched(idempotent, bounds(2, copies=1)), has_job=True)


def test_a_move_shows_its_event() -> None:
    assert Move("again", 1).shown(FIVE) == "again asked"
    assert Move("settle").shown(FIVE) == "settle"
