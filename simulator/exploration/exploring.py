"""A whole exploration: runs the tests without faults, plans the faults, runs the tests with them, collects results."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from simulator.engine.text.progress import SILENT, ProgressListener
from simulator.exploration import orders, pairs, plans
from simulator.exploration.baselines import TRACED, Baseline, baselines_of, notes_on, says_something, with_lines
from simulator.exploration.catalogue import CLASSES, class_of
from simulator.exploration.judgement.causes import Cause, Judged, causes_of
from simulator.exploration.judgement.judging import VERDICTS
from simulator.exploration.plans import Run
from simulator.exploration.runs.aftermath import Hooks
from simulator.exploration.runs.commands import CommandRunner, Stage, start_stage
from simulator.exploration.runs.running import Crew, PytestRunner, StopExploring, SuiteBroken, executable, is_pytest
from simulator.exploration.runs.tasks import Document, Result, Task
from simulator.exploration.sites import every_site
from simulator.exploration.verdicts import NOTHING, own_faults, verdict_on
from simulator.kernel.dataclass import dataclass
from simulator.testing.servers.server import Server, serve

NO_TESTS = "no tests were collected: name their files or directory in the command, as for pytest"
NOTHING_TRIED = (
    "nothing was tried: no test called the simulator, had an order or received an event, so no fault was possible. The "
    "command must use the address in SIMULATOR_URL and the keys in SIMULATOR_PUBLIC_KEY, SIMULATOR_SECRET_KEY and "
    "SIMULATOR_WEBHOOK_KEY, or the fixtures of the pytest plugin"
)


class Hosts(NamedTuple):
    """Functions that start a server for the tests that pytest runs (`serve`), and for a worker that runs any other
    command (`stage`). A process that explores several times can lend servers.
    """

    serve: Callable[[], AbstractContextManager[Server]] = serve
    stage: Callable[[], Stage] = start_stage


@dataclass(frozen=True)
class Settings:
    """The options of an exploration. `budget`, and `limit` for each test, are in seconds. `replay`: the only run."""

    command: Sequence[str]
    plan: str = "pair"
    faults: Sequence[str] = tuple(CLASSES)
    budget: float | None = None
    hooks: Hooks = Hooks()
    seed: int = 1
    workers: int = os.cpu_count() or 1
    replay: Run | None = None
    limit: float | None = None
    hosts: Hosts = Hosts()
    copies: int = 2
    """The largest number of copies of a delivery under the plan `orders`."""


class Explored(NamedTuple):
    """All results of an exploration."""

    settings: Settings
    baselines: Mapping[str, Baseline]
    judged: Sequence[Judged]
    left_out: int
    """The number of planned runs that exceeded the budget."""

    @property
    def findings(self) -> list[Judged]:
        """Return the findings: first in tests that pass, then in tests that fail, and of each the most severe first."""
        found = [one for one in self.judged if one.verdict.is_finding]
        return sorted(found, key=lambda one: (one.outcome == "failed", VERDICTS.index(one.verdict.verdict)))

    @property
    def causes(self) -> list[Cause]:
        """Return each defect of the application with the findings that reveal it, most severe first."""
        return causes_of(self.findings)


IN_PROCESS = tuple(name for name, one in CLASSES.items() if one.kind in ("line", "hold"))
"""The classes that need the places where an application in the tests' process can die or be held back."""

Listener: TypeAlias = ProgressListener[Judged]


def explore(settings: Settings, listener: Listener = SILENT) -> Explored:
    """Explore a test suite. Raises SuiteBroken if it fails without faults, StopExploring if an option is invalid."""
    begun = time.monotonic()
    with crew_of(settings) as (crew, tests):
        name = f"x{os.getpid()}-{time.monotonic_ns()}"
        wanted = [test for test in tests if settings.replay is None or test == settings.replay.test]
        if not wanted:
            raise SuiteBroken(f"there is no test {settings.replay.test}" if settings.replay else NO_TESTS)
        listener.began(len(wanted))
        baselines = baselines_of(wanted, crew, name, settings.limit)
        for note in (*crew.notes, *notes_on(wanted, baselines)):
            listener.noted(note)
        if settings.replay is None and not any(map(says_something, baselines.values())):
            raise StopExploring(NOTHING_TRIED)
        if _needs_lines(settings):
            baselines = with_lines(baselines, crew, name)
        judged = own_faults(baselines) if settings.replay is None or settings.replay.fault == plans.NONE else []
        budget = None if settings.budget is None else settings.budget - (time.monotonic() - begun)
        if settings.replay is not None:
            chosen, left_out = [_placed(settings.replay, baselines)], 0
        elif settings.plan == plans.ORDERS:
            chosen, more, left_out = orders.search(baselines, crew, name, settings.copies, budget)
            judged += more
        else:
            chosen, left_out = _chosen(settings, baselines, crew.size, budget, listener)
        for one in judged:
            listener.ended(one)
        faulty = [one for one in chosen if one.fault != plans.NONE]
        told = settings.replay is not None
        found = _runs(faulty, baselines, crew, name, listener, told=told)
        if settings.plan == plans.PAIRS and not told:
            alone = pairs.parts_of([one.run for one in found if one.verdict.is_finding], _evidence(baselines))
            found = pairs.attributed(found, _runs(alone, baselines, crew, f"{name}-p", listener, told=False))
        return Explored(settings, baselines, judged + found, left_out)


def _needs_lines(settings: Settings) -> bool:
    if settings.replay is not None:
        return settings.replay.fault in IN_PROCESS and not settings.replay.plan
    return settings.plan not in (plans.ORDERS, plans.PAIRS) and bool({*settings.faults} & {*IN_PROCESS})


def _chosen(
    settings: Settings, baselines: Mapping[str, Baseline], workers: int, budget: float | None, listener: Listener
) -> tuple[list[Run], int]:
    """Return the planned runs that fit into the budget (in seconds), and the number of runs that do not fit."""
    evidence = _evidence(baselines)
    if settings.plan == plans.PAIRS:
        planned = pairs.runs_of(evidence, settings.faults)
    else:
        planned = plans.runs_of(evidence, settings.plan, settings.faults)
        for note in _without_place(settings.faults, {run.fault for run in planned}):
            listener.noted(note)
    seconds = {test: one.seconds for test, one in baselines.items()}
    chosen = plans.within(planned, seconds, workers, budget)
    left_out = len(planned) - len(chosen)
    if left_out and not chosen:
        assert settings.budget is not None
        assert budget is not None
        raise StopExploring(
            f"--budget: the tests took {settings.budget - budget:.0f} s without faults. The rest of the "
            f"{settings.budget:g} s is too short for a run. Increase the budget"
        )
    listener.planned(len(chosen), plans.expected_seconds(chosen, seconds, workers), left_out)
    return chosen, left_out


def _placed(run: Run, baselines: Mapping[str, Baseline]) -> Run:
    """Return the run with a plan (an `Arming`), which a run without one, as after `--replay` with an id, gets from its
    fault class and site. Raises StopExploring if the site does not exist.
    """
    if run.plan or run.fault == plans.NONE or run.test not in baselines:
        return run
    for site, arming in CLASSES[run.fault].placed(every_site(baselines[run.test].evidence)):
        if site.name == run.site:
            return plans.run_at(run.test, run.fault, site, arming)
    raise StopExploring(f"--replay: without faults, {run.test} has no {run.site} where {run.fault} can happen")


@contextmanager
def crew_of(settings: Settings) -> Iterator[tuple[Crew, list[str]]]:
    """Start the processes that execute runs. Yield them as a `Crew`, with the names of the collected tests."""
    command = executable(settings.command)
    with ExitStack() as stack:
        if not is_pytest(command):
            given = (command, settings.seed, settings.hooks, settings.hosts.stage)
            crew = stack.enter_context(Crew([CommandRunner(*given) for _ in range(settings.workers)]))
            yield crew, [" ".join(settings.command)]
            return
        server = stack.enter_context(settings.hosts.serve())

        def worker() -> PytestRunner:
            return PytestRunner(command, server.url, settings.seed, settings.hooks)

        workers = [worker() for _ in range(settings.workers)]
        crew = stack.enter_context(Crew(workers, worker))
        workers[0].start()
        if workers[0].reads:
            crew.notes.append(
                f"{workers[0].reads} reads a variable of the simulator at import time. Each run has its "
                "own world, so each needs its own process, which takes longer. Read the variable in a fixture or a test"
            )
        yield crew, workers[0].tests


def _without_place(classes: Sequence[str], planned: Collection[str]) -> Iterator[str]:
    """Yield a note that lists the fault classes without a site in the tests, if there are any."""
    if left := [name for name in classes if name not in planned]:
        find = "fault class has" if len(left) == 1 else "fault classes have"
        yield f"{len(left)} {find} no site in these tests and were not tried: {', '.join(left)}"


def _evidence(baselines: Mapping[str, Baseline]) -> dict[str, Document]:
    return {test: one.evidence for test, one in baselines.items()}


def _runs(
    runs: Sequence[Run], baselines: Mapping[str, Baseline], crew: Crew, name: str, listener: Listener, *, told: bool
) -> list[Judged]:
    """Execute the runs and determine their verdicts. `told`: True if every run gets a history, not only findings."""
    tasks = [
        Task(
            run.test,
            f"{name}-r{number}",
            run.plan,
            baselines[run.test].limit * (TRACED if class_of(run.fault).kind == "hold" else 1)
            + class_of(run.fault).seconds,
            waits=bool(class_of(run.fault).seconds),
            effects=not class_of(run.fault).strikes,
        )
        for number, run in enumerate(runs)
    ]
    judged: dict[int, Judged] = {}

    def tell(number: int, result: Result) -> None:
        run = runs[number]
        judged[number] = verdict_on(run, result, baselines[run.test])
        listener.ended(judged[number])

    crew.run(tasks, tell)
    found = [number for number in sorted(judged) if told or judged[number].verdict.is_finding]
    again = [replace(tasks[number], world=f"{tasks[number].world}-again", story=True) for number in found]
    for number, result in zip(found, crew.run(again), strict=True):
        evidence = result["evidence"] or NOTHING
        names = baselines[runs[number].test].masks.names(evidence)
        judged[number] = judged[number]._replace(timeline=names.rows(evidence["timeline"]))
    return [judged[number] for number in sorted(judged)]
