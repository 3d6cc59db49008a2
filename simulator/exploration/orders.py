"""The plan `orders`: makes the webhook deliveries of each test in every possible sequence, with missing and repeated
events.

All deliveries about one object are withheld during the test and delivered afterwards. Every sequence in which each
event occurs at most `copies` times is tried. Two sequences lead to the same state if they contain the same deliveries,
the application returned the same response to the last one, and its books are the same afterwards. Each delivery is
tried once from each state, so the number of runs depends on the number of states, not of sequences.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, field

from simulator.certification.exhaustive.bounds import ACKNOWLEDGEMENT_LOST, BEYOND_AGE, Bounds, Counts, Move, Path
from simulator.certification.exhaustive.search import Outcome, Result, Search
from simulator.engine.text.reports import counted
from simulator.exploration import plans
from simulator.exploration.arming import Arming
from simulator.exploration.baselines import Baseline
from simulator.exploration.catalogue import ORDERS
from simulator.exploration.judgement.causes import Judged
from simulator.exploration.judgement.judging import SURVIVED, ZERO, Verdict
from simulator.exploration.plans import Run
from simulator.exploration.runs.ordering import canonical
from simulator.exploration.runs.running import Crew
from simulator.exploration.runs.tasks import Document, Task
from simulator.exploration.runs.tasks import Result as RunResult
from simulator.exploration.verdicts import verdict_on
from simulator.kernel.dataclass import dataclass


@dataclass(frozen=True)
class _Bounds(Bounds):
    """The limits of a search in which no delivery has an expired signature or a lost acknowledgement."""

    def moves(self, counts: Counts) -> Iterator[Move]:
        return (move for move in super().moves(counts) if move.name not in (BEYOND_AGE, ACKNOWLEDGEMENT_LOST))


@dataclass
class _Subject:
    """One object that a test creates, and the search through the sequences of its deliveries."""

    test: str
    name: str
    number: int
    """The number of the object among the objects in the world."""
    world: str
    withheld: tuple[Document, ...]
    """The faults that withhold its deliveries from the application during the test."""
    search: Search
    settled: dict[Path, str] = field(default_factory=dict)
    """The books at the end of each path."""

    def run(self, path: Path, wanted: str | None = None) -> Run:
        """Return the run that plays a path (a sequence of deliveries). `wanted`: the books that another sequence of the
        same deliveries has led to, or None.
        """
        orders = {"object": self.number, "path": [move.event for move in path], "wanted": wanted}
        shown = [move.shown(self.search.bounds.events) for move in path] or ["no delivery"]
        site = f"{self.name}: {', '.join(shown)}"
        plan = {**asdict(Arming(self.withheld, orders=orders)), "world": self.world}
        return Run(plans.id_of(self.test, ORDERS.name, site), self.test, ORDERS.name, site, plan)


def _subjects(test: str, evidence: Document, copies: int) -> Iterator[_Subject]:
    for world in dict.fromkeys(row["world"] for row in evidence["deliveries"]):
        rows = [row for row in evidence["deliveries"] if row["world"] == world]
        kinds: Counter[str] = Counter()
        for number, about in enumerate(dict.fromkeys(row["object"] for row in rows)):
            mine = [row["type"] for row in rows if row["object"] == about]
            kind = mine[0].partition(".")[0]
            kinds[kind] += 1
            bounds = _Bounds(_names(mine), copies, final=len(mine) - 1)
            name = f"{kind} #{kinds[kind]}"
            yield _Subject(test, name, number, world, tuple(_withheld(rows, about)), Search(bounds))


def _names(types: Sequence[str]) -> tuple[str, ...]:
    """Return a unique name for each of an object's events: the type, followed by a number if the type occurs again."""
    counts: Counter[str] = Counter()
    found = []
    for kind in types:
        counts[kind] += 1
        found.append(kind if counts[kind] == 1 else f"{kind} ({counts[kind]})")
    return tuple(found)


def _withheld(rows: Sequence[Document], about: str) -> Iterator[Document]:
    """Yield a fault that loses each delivery about an object. Its `skip` does not count what earlier faults lose."""
    seen: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    for row in rows:
        kind = row["type"]
        if row["object"] == about:
            skip = {"skip": seen[kind] - lost[kind]} if seen[kind] > lost[kind] else {}
            yield {"webhook": {"event": kind}, "deliver": {"drop": True}, "times": 1, **skip}
            lost[kind] += 1
        seen[kind] += 1


def search(
    baselines: Mapping[str, Baseline], crew: Crew, name: str, copies: int, seconds: float | None
) -> tuple[list[Run], list[Judged], int]:
    """Search all objects in all tests, level by level, for at most this many seconds. Return a run for each minimal
    counterexample, a verdict on each object without one, and the number of objects whose search did not finish.
    """
    ends_at = None if seconds is None else time.monotonic() + seconds
    subjects = [one for test, base in baselines.items() for one in _subjects(test, base.evidence, copies)]
    number = 0
    while levels := [(one, plays) for one in subjects if (plays := one.search.level())]:
        each = [(one, play.path) for one, plays in levels for play in plays]
        tasks = [
            Task(one.test, f"{name}-o{number + n}", one.run(path).plan, baselines[one.test].limit)
            for n, (one, path) in enumerate(each)
        ]
        number += len(tasks)
        results = iter(zip(each, crew.run(tasks), strict=True))
        for one, plays in levels:
            one.search.take([_outcome(*next(results), baselines[one.test]) for _ in plays])
            if ends_at is not None and time.monotonic() > ends_at:
                one.search.end()
    found = [(one, one.search.result()) for one in subjects]
    runs = [
        one.run(finding.path, None if finding.other is None else one.settled[finding.other])
        for one, result in found
        for finding in result.findings
    ]
    judged = [_survived(one, result) for one, result in found if not result.findings]
    return runs, judged, sum(result.is_cut for _, result in found)


def _outcome(play: tuple[_Subject, Path], result: RunResult, baseline: Baseline) -> Outcome:
    one, path = play
    evidence = result["evidence"]
    verdict = verdict_on(one.run(path), result, baseline).verdict
    if evidence is None:
        return Outcome("", "", problems=((verdict.verdict, verdict.note),) if verdict.is_finding else ())
    names = baseline.masks.names(evidence)
    settled = one.settled[path] = names.masked(canonical(evidence["books"]))
    now = f"{evidence['ordered']['answer']} {names.masked(canonical(evidence['ordered']['books']))}"
    # Without a job, nothing can replace an event that never arrives, whatever the order of the other events.
    counts = evidence["settles"] or all(one.search.bounds.counts(path))
    problems = ((verdict.verdict, verdict.note),) if verdict.is_finding and counts else ()
    return Outcome(now, settled, problems=problems)


def _survived(one: _Subject, found: Result) -> Judged:
    events, copies = counted(len(found.bounds.events), "event"), counted(found.bounds.copies, "copy", "copies")
    covered = f"{counted(found.sequences, 'sequence')} of {events} in up to {copies}: {found.states} states"
    note = f"{covered}{', cut off by the budget' if found.is_cut else ''}"
    run = Run(plans.id_of(one.test, ORDERS.name, one.name), one.test, ORDERS.name, one.name, {})
    return Judged(run, Verdict(SURVIVED, ZERO, ZERO, "", note), "passed")
