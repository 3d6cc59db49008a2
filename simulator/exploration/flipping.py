"""Runs of the suite under one alternative assumption at a time, and the tests whose result changes.

The simulator makes an assumption where the specification is silent. If a test's result changes under an alternative,
only the operator of the real service can say which result is correct.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from simulator.engine.text.progress import SILENT, ProgressListener
from simulator.engine.worlds.alternatives import Observation, Switch, chosen
from simulator.engine.worlds.observations import observations
from simulator.evidence.observed import BadObserved, read_files
from simulator.exploration.baselines import Baseline, baselines_of, sites_in
from simulator.exploration.exploring import Settings, crew_of
from simulator.exploration.runs.running import Crew, StopExploring
from simulator.exploration.runs.tasks import Result, Task
from simulator.kernel.dataclass import dataclass
from simulator.service import TOOLING

_NOTHING_ASKED = (
    "No test called the simulator, had a transaction or received an event, so the result says nothing about your code. "
    "Tests find it through the fixtures `world` and `webhooks`, or by SIMULATOR_URL and the keys in "
    "SIMULATOR_PUBLIC_KEY, SIMULATOR_SECRET_KEY and SIMULATOR_WEBHOOK_KEY, read when the test starts."
)
"""The note if no alternative could have changed anything."""


class Flip(NamedTuple):
    """An assumption's id and the name of one alternative to it."""

    id: str
    alternative: str

    @property
    def switch(self) -> Switch:
        return TOOLING.alternatives()[self.id]

    @property
    def changes(self) -> str:
        """Return a description of the alternative."""
        return self.switch.alternatives[self.alternative]

    @property
    def text(self) -> str:
        """Return the alternative as a value for `--assume`."""
        return f"{self.id}={self.alternative}"


class Changed(NamedTuple):
    """A test whose result changed. `outcome`: failed, hung or skipped. `failure`: the reason in one line."""

    test: str
    outcome: str
    failure: str


@dataclass(frozen=True)
class Flipped:
    """The results under all alternatives that were tried. `changed`: the alternatives under which the result of a test
    changed. `settled`: the alternatives used in all runs, including the baseline, by assumption id. `observed`: the
    assumptions that files with observations of the real service decide, whose alternatives are not tried.
    """

    settings: Settings
    settled: Mapping[str, str]
    observed: Mapping[str, Observation]
    baselines: Mapping[str, Baseline]
    tried: Sequence[Flip]
    left_out: Sequence[Flip]
    changed: Mapping[Flip, Sequence[Changed]]

    @property
    def questions(self) -> list[Switch]:
        """Return the questions about the real service, one for each assumption on which a test depends."""
        return list({flip.id: flip.switch for flip in self.changed}.values())


def settled() -> dict[str, str]:
    """Return the alternatives that SIMULATOR_ASSUME sets, by id. Raises StopExploring if the variable is malformed."""
    known, problems = chosen(TOOLING.alternatives(), os.environ.get("SIMULATOR_ASSUME", "").split())
    if problems:
        raise StopExploring("SIMULATOR_ASSUME: " + "; ".join(problems))
    return known


def observed() -> dict[str, Observation]:
    """Return the observations in the files of SIMULATOR_OBSERVED, by id. Raises StopExploring for an invalid file."""
    paths = [Path(name) for name in os.environ.get("SIMULATOR_OBSERVED", "").split()]
    try:
        return observations(read_files(paths, TOOLING.alternatives()))
    except BadObserved as error:
        raise StopExploring(f"SIMULATOR_OBSERVED: {error}") from None


def flips(known: Collection[str] = ()) -> list[Flip]:
    """Return all alternatives: first the most likely alternative to each assumption, then the second most likely, and
    so on. `known`: ids of assumptions that are already decided and therefore omitted.
    """
    switches = [switch for switch in TOOLING.alternatives().values() if switch.id not in known]
    columns = zip_longest(*([Flip(switch.id, name) for name in switch.alternatives] for switch in switches))
    return [flip for column in columns for flip in column if flip is not None]


def flip_all(settings: Settings, listener: ProgressListener[None] = SILENT, every: Sequence[Flip] = ()) -> Flipped:
    """Run every test under each alternative assumption, or under each one in `every`. A budget omits whole
    alternatives. Raises SuiteBroken if the suite fails without any alternative, StopExploring if an option is invalid.
    """
    known, seen = settled(), observed()
    with crew_of(settings) as (crew, tests):
        name = f"a{os.getpid()}-{time.monotonic_ns()}"
        baselines = baselines_of(tests, crew, name, settings.limit)
        each = sum(one.seconds for one in baselines.values()) / crew.size
        every = every or flips({*known, *seen})
        tried = within_budget(every, each, settings.budget)
        left_out = every[len(tried) :]
        listener.began(len(baselines))
        listener.planned(len(tried) * len(baselines), len(tried) * each, len(left_out))
        pairs = [(flip, test) for flip in tried for test in baselines]
        changed = _changed(pairs, known, baselines, crew, name, listener)
        if not changed and not any(sites_in(one) for one in baselines.values()):
            # A test that starts its own server has no sites, so only a changed result shows that it uses a simulator.
            raise StopExploring(_NOTHING_ASKED)
        return Flipped(settings, known, seen, baselines, tried, left_out, changed)


def within_budget(every: Sequence[Flip], each: float, budget: float | None) -> Sequence[Flip]:
    """Return the first alternatives, as many as fit into the budget. `each`: the seconds that one alternative takes.
    Raises StopExploring if not even the first alternative fits.
    """
    if budget is None or not each:
        return every
    if budget < each:
        raise StopExploring(
            f"--budget: one alternative takes about {each:.1f} s, which is more than the {budget:g} s of the budget. "
            "Increase the budget"
        )
    return every[: int(budget / each)]


def _changed(
    pairs: Sequence[tuple[Flip, str]],
    known: Mapping[str, str],
    baselines: Mapping[str, Baseline],
    crew: Crew,
    name: str,
    listener: ProgressListener[None],
) -> dict[Flip, list[Changed]]:
    """Return, for each alternative in the order of the catalogue, the tests that do not pass under it. A test that does
    not pass is run a second time, to exclude tests that fail at random.
    """

    limits = {test: one.limit for test, one in baselines.items()}

    def tasks(some: Sequence[tuple[Flip, str]], mark: str) -> list[Task]:
        return [
            Task(test, f"{name}-{mark}{number}", {"assumptions": {**known, flip.id: flip.alternative}}, limits[test])
            for number, (flip, test) in enumerate(some)
        ]

    results = crew.run(tasks(pairs, "r"), lambda number, result: listener.ended(None))
    suspects = [pair for pair, result in zip(pairs, results, strict=True) if _outcome(result) != "passed"]
    found: dict[Flip, list[Changed]] = {}
    for (flip, test), result in zip(suspects, crew.run(tasks(suspects, "s")), strict=True):
        if _outcome(result) != "passed":
            found.setdefault(flip, []).append(Changed(test, _outcome(result), result["failure"]))
    return {flip: found[flip] for flip in sorted(found, key=_place)}


def _outcome(result: Result) -> str:
    return "hung" if result["hung"] else str(result["outcome"])


def _place(flip: Flip) -> tuple[int, int]:
    return list(TOOLING.alternatives()).index(flip.id), list(flip.switch.alternatives).index(flip.alternative)
