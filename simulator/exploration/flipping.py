"""Assumptions, flipped: the suite under one alternative at a time of what the simulator assumes, and what it changes.

Where the specification is silent the simulator assumes something, and the real service may do otherwise. A test that
ends otherwise under an alternative depends on a question that only the real service can answer.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from simulator.exploration import report
from simulator.exploration.exploring import Baseline, Explored, Settings, baselines_of, runners_of, time_limit
from simulator.exploration.running import Result, Runner, StopExploring, Task, run_all
from simulator.kernel.dataclass import dataclass
from simulator.wire.alternatives import SWITCHES, Switch


class Flip(NamedTuple):
    """One alternative of an assumption, by their names."""

    id: str
    alternative: str

    @property
    def switch(self) -> Switch:
        return SWITCHES[self.id]

    @property
    def changes(self) -> str:
        """What is otherwise, in words."""
        return self.switch.alternatives[self.alternative]

    @property
    def text(self) -> str:
        """As `--assume` takes it."""
        return f"{self.id}={self.alternative}"


class Changed(NamedTuple):
    """A test that ends otherwise. `outcome`: failed, hung or skipped; `failure`: why, in a line."""

    test: str
    outcome: str
    failure: str


@dataclass(frozen=True)
class Flipped:
    """What came of all alternatives that were tried. `changed` has those alone that change something."""

    settings: Settings
    baselines: Mapping[str, Baseline]
    tried: Sequence[Flip]
    left_out: Sequence[Flip]
    changed: Mapping[Flip, Sequence[Changed]]

    @property
    def questions(self) -> list[Switch]:
        """What to ask the real service: once for each assumption, whatever number of its alternatives matters."""
        return list({flip.id: flip.switch for flip in self.changed}.values())


class Hears(NamedTuple):
    """Who is told how far it is: before the runs (alternatives, tests, expected seconds, left out), and of each run."""

    planned: Callable[[int, int, float, int], None]
    ran: Callable[[], None]


def flips() -> list[Flip]:
    """All alternatives: the likeliest of each assumption first, then the second likeliest of those that have one."""
    columns = zip_longest(*([Flip(switch.id, name) for name in switch.alternatives] for switch in SWITCHES.values()))
    return [flip for column in columns for flip in column if flip is not None]


def flip_all(settings: Settings, hears: Hears, every: Sequence[Flip] = ()) -> Flipped:
    """Run every test under each alternative, or under those that are given.

    A budget leaves out whole alternatives: one that only some tests have met says nothing about the suite.
    SuiteBroken when the suite fails without any, StopExploring when what was given does not work.
    """
    with runners_of(settings) as (runners, tests):
        name = f"a{os.getpid()}-{time.monotonic_ns()}"
        baselines = baselines_of(tests, runners, name)
        each = sum(one.seconds for one in baselines.values()) / len(runners)
        every = every or flips()
        count = len(every)
        if settings.budget is not None and each:
            count = min(count, int(settings.budget / each))
        if not count:
            raise StopExploring(f"--budget: one alternative takes about {each:.1f} s, so none fits into it")
        tried = every[:count]
        hears.planned(count, len(baselines), count * each, len(every) - count)
        changed = _changed([(flip, test) for flip in tried for test in baselines], baselines, runners, name, hears)
        return Flipped(settings, baselines, tried, every[count:], changed)


def _changed(
    pairs: Sequence[tuple[Flip, str]],
    baselines: Mapping[str, Baseline],
    runners: Sequence[Runner],
    name: str,
    hears: Hears,
) -> dict[Flip, list[Changed]]:
    """The tests that end otherwise, in the order of the catalogue. Each is run again, so that no chance counts."""

    def tasks(some: Sequence[tuple[Flip, str]], mark: str) -> list[Task]:
        return [
            Task(test, f"{name}-{mark}{number}", plan_of(flip), time_limit(baselines[test]))
            for number, (flip, test) in enumerate(some)
        ]

    results = run_all(tasks(pairs, "r"), runners, lambda number, result: hears.ran())
    suspects = [pair for pair, result in zip(pairs, results, strict=True) if _outcome(result) != "passed"]
    found: dict[Flip, list[Changed]] = {}
    for (flip, test), result in zip(suspects, run_all(tasks(suspects, "s"), runners), strict=True):
        if _outcome(result) != "passed":
            found.setdefault(flip, []).append(Changed(test, _outcome(result), result["failure"]))
    return {flip: found[flip] for flip in sorted(found, key=_place)}


def plan_of(flip: Flip) -> Mapping[str, Any]:
    """The plan of a run under an alternative."""
    return {"assumptions": {flip.id: flip.alternative}}


def _outcome(result: Result) -> str:
    return "hung" if result["hung"] else str(result["outcome"])


_IDS = list(SWITCHES)


def _place(flip: Flip) -> tuple[int, int]:
    return _IDS.index(flip.id), list(flip.switch.alternatives).index(flip.alternative)


# What is told


def document(flipped: Flipped) -> dict[str, Any]:
    """`report.json`: what every report has, without runs, and the alternatives on which tests depend."""
    explored = Explored(flipped.settings, flipped.baselines, [], len(flipped.left_out) * len(flipped.baselines))
    return {
        **report.document(explored),
        "plan": "assumptions",
        "assumptions": [
            {
                "id": flip.id,
                "alternative": flip.alternative,
                "assumed": flip.switch.assumed,
                "changes": flip.changes,
                "tests": [{"test": one.test, "outcome": one.outcome} for one in tests],
                "question": flip.switch.question,
                "call": flip.switch.call,
            }
            for flip, tests in flipped.changed.items()
        ],
        "alternatives": {
            "tried": [flip.text for flip in flipped.tried],
            "left_out": [flip.text for flip in flipped.left_out],
        },
    }


def write(flipped: Flipped, directory: Path) -> Path:
    """Write `report.json` into a directory, which is made where it is not there."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "report.json"
    path.write_text(json.dumps(document(flipped), indent=2, ensure_ascii=False) + "\n", "utf-8")
    return path


def readable(flipped: Flipped, path: Path) -> str:
    """The questions, each with what depends on it, and in a sentence what to do."""
    return "\n".join([*_unsteady(flipped), *_questions(flipped), "", _sum(flipped), f"More in {path}", ""])


def _unsteady(flipped: Flipped) -> Iterator[str]:
    for test, baseline in flipped.baselines.items():
        if baseline.difference:
            yield f"unsteady: {test} differs from itself without any alternative. {baseline.difference}"


def _questions(flipped: Flipped) -> Iterator[str]:
    for number, switch in enumerate(flipped.questions, 1):
        yield from (
            "",
            f"{number}. {switch.question}",
            f"   call     {switch.call}",
            f"   assumed  {switch.assumed} ({switch.id})",
        )
        for flip, tests in flipped.changed.items():
            if flip.id == switch.id:
                yield f"   under    {flip.text}: {flip.changes}"
                for one in tests:
                    yield f"            {one.test} {'is' if one.outcome == 'skipped' else 'has'} {one.outcome}" + (
                        f": {one.failure}" if one.failure else ""
                    )


def _sum(flipped: Flipped) -> str:
    count, tried = len(flipped.changed), len(flipped.tried)
    left = f" The budget left out {len(flipped.left_out)} more." if flipped.left_out else ""
    if not count:
        return f"Your suite depends on none of {tried} alternatives.{left}"
    asked = len(flipped.questions)
    what = "this question" if asked == 1 else f"these {asked} questions"
    return f"Your suite depends on {count} of {tried} alternatives; ask {what} before going live.{left}"
