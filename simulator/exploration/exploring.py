"""The whole of it: runs without faults, the plan, the runs with faults, and what is to be told."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from simulator.engine.text.progress import SILENT, ProgressListener
from simulator.exploration import plans
from simulator.exploration.catalogue import CLASSES
from simulator.exploration.judgement.causes import Cause, Judged, causes_of
from simulator.exploration.judgement.judging import (
    VERDICTS,
    Orders,
    Problem,
    books_disagree,
    judge,
    judge_baseline,
)
from simulator.exploration.judgement.masking import Masks, Names, masks_of
from simulator.exploration.plans import Run
from simulator.exploration.runs.aftermath import Hooks
from simulator.exploration.runs.commands import CommandRunner, Stage, start_stage
from simulator.exploration.runs.running import (
    Crew,
    PytestRunner,
    StopExploring,
    SuiteBroken,
    executable,
    is_pytest,
)
from simulator.exploration.runs.tasks import Document, Result, Task
from simulator.exploration.sites import sites_of
from simulator.kernel.dataclass import dataclass
from simulator.testing.servers.server import Server, serve

NO_TESTS = "there are no tests: name their files or their directory in the command, as for pytest itself"
_LIMIT_SECONDS = 15.0
"""How long a test may take at least before it is said to hang."""
_SLOWER = 5.0
"""How many times as long as without faults."""


class Hosts(NamedTuple):
    """Where the worlds of the runs live. Who explores again and again in one process may give what runs already.

    `serve`: begins the server of tests that pytest runs; `stage`: begins that of a worker that runs any other command.
    """

    serve: Callable[[], AbstractContextManager[Server]] = serve
    stage: Callable[[], Stage] = start_stage


@dataclass(frozen=True)
class Settings:
    """What is asked for. `budget`, and `limit` of each test, in seconds.

    `replay` is the only run to be made, where one is named.
    """

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


class Baseline(NamedTuple):
    """A test without faults. `difference`: in what its two runs differ first, "" for a steady one.

    `limit`: after how many seconds it is said to hang.
    """

    evidence: Document
    difference: str
    seconds: float
    limit: float = _LIMIT_SECONDS
    masks: Masks = Masks()
    """What is random in it."""

    @property
    def by_reference(self) -> bool:
        """Whether the references of its orders are the same in every run."""
        return self.masks.references is None


class Explored(NamedTuple):
    """All that was found."""

    settings: Settings
    baselines: Mapping[str, Baseline]
    judged: Sequence[Judged]
    left_out: int
    """How many runs of the plan the budget left out."""

    @property
    def findings(self) -> list[Judged]:
        """The gravest first: those of green tests, then by verdict."""
        found = [one for one in self.judged if one.verdict.is_finding]
        return sorted(found, key=lambda one: (one.outcome == "failed", VERDICTS.index(one.verdict.verdict)))

    @property
    def causes(self) -> list[Cause]:
        """What is wrong, each with the findings that show it; the gravest first."""
        return causes_of(self.findings)


Listener: TypeAlias = ProgressListener[Judged]


def explore(settings: Settings, listener: Listener = SILENT) -> Explored:
    """Explore a suite. SuiteBroken when it fails without faults, StopExploring when what was given does not work."""
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
        if settings.replay is not None:
            chosen, left_out = [_placed(settings.replay, baselines)], 0
        else:
            planned = plans.runs_of(_evidence(baselines), settings.plan, settings.faults)
            for note in _without_place(settings.faults, {run.fault for run in planned}):
                listener.noted(note)
            seconds = {test: one.seconds for test, one in baselines.items()}
            spent = time.monotonic() - begun
            budget = None if settings.budget is None else settings.budget - spent
            chosen = plans.within(planned, seconds, crew.size, budget)
            left_out = len(planned) - len(chosen)
            if left_out and not chosen:
                raise StopExploring(
                    f"--budget: the tests took {spent:.0f} s without faults, and no run fits into what is left of "
                    f"{settings.budget:g} s: give it more"
                )
            listener.planned(len(chosen), plans.expected_seconds(chosen, seconds, crew.size), left_out)
        judged = _own_faults(baselines) if settings.replay is None or settings.replay.fault == plans.NONE else []
        for one in judged:
            listener.ended(one)
        faulty = [one for one in chosen if one.fault != plans.NONE]
        judged += _runs(faulty, baselines, crew, name, listener, told=settings.replay is not None)
        return Explored(settings, baselines, judged, left_out)


def _placed(run: Run, baselines: Mapping[str, Baseline]) -> Run:
    """Return a run with what goes wrong in it; one that is known by its site alone is armed there anew."""
    if run.plan or run.fault == plans.NONE or run.test not in baselines:
        return run
    made = CLASSES[run.fault]
    for site in sites_of(baselines[run.test].evidence):
        if (site.kind, site.name) == (made.kind, run.site) and (arming := made.arm(site)) is not None:
            return plans.run_at(run.test, run.fault, site, arming)
    raise StopExploring(f"--replay: without faults, {run.test} has no {run.site} any more where {run.fault} can happen")


@contextmanager
def crew_of(settings: Settings) -> Iterator[tuple[Crew, list[str]]]:
    """A server, who makes the runs in it, and the tests there are."""
    command = executable(settings.command)
    with ExitStack() as stack:
        if not is_pytest(command):
            runners = [
                CommandRunner(command, settings.seed, settings.hooks, settings.hosts.stage)
                for _ in range(settings.workers)
            ]
            yield stack.enter_context(Crew(runners)), [" ".join(settings.command)]
            return
        server = stack.enter_context(settings.hosts.serve())

        def worker() -> PytestRunner:
            return PytestRunner(command, server.url, settings.seed, settings.hooks)

        workers = [worker() for _ in range(settings.workers)]
        crew = stack.enter_context(Crew(workers, worker))
        workers[0].start()
        if workers[0].reads:
            crew.notes.append(
                f"{workers[0].reads} reads a variable of the simulator while it is imported. Each run has a world of "
                "its own, so each becomes a process of its own, which takes longer: read it in a fixture or a test"
            )
        yield crew, workers[0].tests


def baselines_of(tests: Sequence[str], crew: Crew, name: str, limit: float | None) -> dict[str, Baseline]:
    """Each test twice without faults. SuiteBroken for those that fail so; tests that are skipped are left out."""
    tasks = [
        Task(test, f"{name}-b{number}-{half}", None, limit or 4 * _LIMIT_SECONDS, story=True)
        for number, test in enumerate(tests)
        for half in (1, 2)
    ]
    results = crew.run(tasks)
    failed = [
        f"{task.test}: {_hung(task) if result['hung'] else result.get('said') or result['failure']}"
        for task, result in zip(tasks, results, strict=True)
        if result["outcome"] == "failed" or (result["outcome"] == "passed" and result["evidence"] is None)
    ]
    if failed:
        raise SuiteBroken("\n".join(["the tests fail without any fault; mend them first", *dict.fromkeys(failed)]))
    found: dict[str, Baseline] = {}
    for test, first, second in zip(tests, results[::2], results[1::2], strict=True):
        if "passed" in (first["outcome"], second["outcome"]):
            found[test] = _baseline(first, second, limit)
    if not found:
        raise SuiteBroken("all tests are skipped, so there is nothing to explore")
    return found


def _hung(task: Task) -> str:
    return f"it has not ended within {task.limit:g} s, without any fault; --limit allows more"


def notes_on(tests: Sequence[str], baselines: Mapping[str, Baseline]) -> Iterator[str]:
    """What the author of a suite may not know of it: which tests tell nothing, and why."""
    skipped = [test for test in tests if test not in baselines]
    if skipped:
        yield f"{_named(skipped, tests)} skipped, so nothing is known of them"
    silent = [test for test, one in baselines.items() if all(call["of_kit"] for call in one.evidence["calls"])]
    if silent:
        yield (
            f"{_named(silent, tests)} without any call to this simulator, so nothing can go wrong there. "
            "It is found by SIMULATOR_URL; one that a test starts itself is another"
        )


def _without_place(classes: Sequence[str], planned: Collection[str]) -> Iterator[str]:
    """Which classes are not tried, because no test comes to where they could happen."""
    left = [name for name in classes if name not in planned]
    if left:
        find = "class of faults finds" if len(left) == 1 else "classes of faults find"
        yield f"{len(left)} {find} no place in these tests, so nothing is known of: {', '.join(left)}"


def _named(some: Sequence[str], tests: Sequence[str]) -> str:
    names = ", ".join(some[:3]) + (", …" if len(some) > 3 else "")
    return f"{len(some)} of {len(tests)} tests ({names}) {'is' if len(some) == 1 else 'are'}"


def _baseline(first: Result, second: Result, limit: float | None) -> Baseline:
    if first["outcome"] != second["outcome"]:
        passed = first if first["outcome"] == "passed" else second
        difference = f"the first time it {first['outcome']}, the second time it {second['outcome']}"
        return _baseline(passed, passed, limit)._replace(difference=difference.replace("skipped", "was skipped"))
    one, other = first["evidence"], second["evidence"]
    seconds = min(first["seconds"], second["seconds"])
    masks = masks_of(one, other)
    shown = {**one, "timeline": masks.names(one).rows(one.get("timeline", ()))}
    if one.get("effects") != other.get("effects"):
        shown["effects"] = ""  # they differ anyway, so they cannot show whether a fault had an effect
    limit = limit or _LIMIT_SECONDS + _SLOWER * seconds
    return Baseline(shown, _difference(one, other), seconds, limit, masks)


_COMPARED = {
    "calls": ("method", "operation", "status"),
    "deliveries": ("type",),
    "transactions": ("type", "status", "amount", "currency"),
}


def _difference(one: Document, other: Document) -> str:
    """In what two runs without faults differ first."""
    for sort, names in _COMPARED.items():
        rows, others = ([" ".join(str(row[name]) for name in names) for row in each[sort]] for each in (one, other))
        for number, (row, another) in enumerate(zip(rows, others, strict=False), 1):
            if row != another:
                return f"{sort} #{number}: {row}, the second time {another}"
        if len(rows) != len(others):
            return f"{len(rows)} {sort}, the second time {len(others)}"
    return ""


def _evidence(baselines: Mapping[str, Baseline]) -> dict[str, Document]:
    return {test: one.evidence for test, one in baselines.items()}


def _own_faults(baselines: Mapping[str, Baseline]) -> list[Judged]:
    """Return what the books have wrong although nothing went wrong."""
    found = []
    for test, one in baselines.items():
        verdict = judge_baseline(one.evidence)
        if verdict is not None:
            names = one.masks.names(one.evidence)
            books = _masked(books_disagree(Orders(one.evidence)), names)
            verdict = replace(verdict, note=names.masked(verdict.note))
            found.append(Judged(plans.without_fault(test), verdict, "passed", one.evidence["timeline"], books))
    return found


def _masked(books: Sequence[Problem], names: Names) -> list[Problem]:
    return [one._replace(order=names.masked(one.order), note=names.masked(one.note)) for one in books]


def _runs(
    runs: Sequence[Run], baselines: Mapping[str, Baseline], crew: Crew, name: str, listener: Listener, *, told: bool
) -> list[Judged]:
    """Make runs and judge them. `told`: with the story of each, and not of findings alone."""
    tasks = [
        Task(
            run.test,
            f"{name}-r{number}",
            run.plan,
            baselines[run.test].limit + CLASSES[run.fault].seconds,
            waits=bool(CLASSES[run.fault].seconds),
            effects=not CLASSES[run.fault].strikes,
        )
        for number, run in enumerate(runs)
    ]
    judged: dict[int, Judged] = {}

    def tell(number: int, result: Result) -> None:
        run = runs[number]
        judged[number] = _judged(run, result, baselines[run.test])
        listener.ended(judged[number])

    crew.run(tasks, tell)
    found = [number for number in sorted(judged) if told or judged[number].verdict.is_finding]
    again = [replace(tasks[number], world=f"{tasks[number].world}-again", story=True) for number in found]
    for number, result in zip(found, crew.run(again), strict=True):
        evidence = result["evidence"] or _NOTHING
        names = baselines[runs[number].test].masks.names(evidence)
        judged[number] = judged[number]._replace(timeline=names.rows(evidence["timeline"]))
    return [judged[number] for number in sorted(judged)]


_NOTHING: Document = {
    "transactions": [],
    "standing": [],
    "switched_off": [],
    "books": None,
    "not_genuine": [],
    "timeline": [],
}
"""What is known of a run whose process has died."""


def _judged(run: Run, result: Result, baseline: Baseline) -> Judged:
    evidence = result["evidence"] or {**_NOTHING, "hits": int(result["hung"])}
    verdict = judge(
        baseline.evidence,
        {**evidence, "failure": result["failure"]},
        passed=result["outcome"] != "failed",
        hung=result["hung"],
        strikes=CLASSES[run.fault].strikes,
        by_reference=baseline.by_reference,
    )
    if verdict.is_finding and baseline.difference:
        verdict = replace(verdict, note=f"{verdict.note} (the test is unsteady, so it may have come of that)")
    names = baseline.masks.names(evidence)
    books = _masked(books_disagree(Orders(evidence)), names) if verdict.is_finding else ()
    return Judged(run, replace(verdict, note=names.masked(verdict.note)), result["outcome"], books=books)


def sites_in(baseline: Baseline) -> list[str]:
    """The names of all sites of a test."""
    return [site.name for site in sites_of(baseline.evidence)]
