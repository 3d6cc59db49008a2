"""Runs without faults. Each test runs twice without faults, and its runs with faults are compared with the result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from simulator.exploration.judgement.judging import judge_baseline
from simulator.exploration.judgement.masking import Masks, masks_of
from simulator.exploration.runs.running import Crew, SuiteBroken
from simulator.exploration.runs.tasks import Document, Result, Task
from simulator.exploration.sites import sites_of

_LIMIT_SECONDS = 15.0
"""The minimum time after which a test counts as hung."""
TRACED = 4.0
"""The factor for the time limit of a test while its lines are traced."""
_SLOWER = 5.0
"""A test counts as hung when it takes this many times as long as without faults."""


class Baseline(NamedTuple):
    """The result of running a test twice without faults. `difference`: the first difference between the two runs, or
    "". `limit`: the number of seconds after which the test counts as hung.
    """

    evidence: Document
    difference: str
    seconds: float
    limit: float = _LIMIT_SECONDS
    masks: Masks = Masks()
    """The random values in the test."""


def baselines_of(tests: Sequence[str], crew: Crew, name: str, limit: float | None) -> dict[str, Baseline]:
    """Run each test twice without faults. Raises SuiteBroken if tests fail. Skipped tests are omitted."""
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
        raise SuiteBroken("\n".join(["the tests fail without any fault; fix them first", *dict.fromkeys(failed)]))
    found: dict[str, Baseline] = {}
    for test, first, second in zip(tests, results[::2], results[1::2], strict=True):
        if "passed" in (first["outcome"], second["outcome"]):
            found[test] = _baseline(first, second, limit)
    if not found:
        raise SuiteBroken("all tests are skipped, so explore has nothing to do")
    return found


def with_lines(baselines: Mapping[str, Baseline], crew: Crew, name: str) -> dict[str, Baseline]:
    """Run each test once more, and record where an application in the tests' process can crash or be held back."""
    tasks = [
        Task(test, f"{name}-l{number}", None, TRACED * one.limit, records=True)
        for number, (test, one) in enumerate(baselines.items())
    ]
    results = crew.run(tasks)
    found: dict[str, Baseline] = {}
    for (test, one), result in zip(baselines.items(), results, strict=True):
        recorded = result["evidence"] or {}
        lines = {name: recorded.get(name, ()) for name in ("lines", "holds")}
        found[test] = one._replace(evidence={**one.evidence, **lines})
    return found


def _hung(task: Task) -> str:
    return f"the test did not end within {task.limit:g} s, without any fault; --limit allows more"


def notes_on(tests: Sequence[str], baselines: Mapping[str, Baseline]) -> Iterator[str]:
    """Yield notes for the suite's author about what explore does not check, and why."""
    skipped = [test for test in tests if test not in baselines]
    if skipped:
        yield f"{_named(skipped, tests)} skipped, so explore does not check them"
    silent = [test for test, one in baselines.items() if all(call["of_kit"] for call in one.evidence["calls"])]
    if silent:
        yield (
            f"{_named(silent, tests)} without calls to this simulator, so no fault can reach them. "
            "Tests find it through SIMULATOR_URL; a server that a test starts itself is a different one"
        )
    if baselines and all(one.evidence.get("books", ()) is None for one in baselines.values()):
        yield "your books were not read, so only the service's ledger is checked; name them with --books"


def says_something(baseline: Baseline) -> bool:
    """Return True if the test, without faults, used the simulator or left errors in the integrator's records."""
    used = any(not call["of_kit"] for call in baseline.evidence["calls"])
    return used or bool(sites_of(baseline.evidence)) or judge_baseline(baseline.evidence) is not None


def sites_in(baseline: Baseline) -> list[str]:
    """Return the names of all sites of a test: its calls, deliveries and transactions."""
    return [site.name for site in sites_of(baseline.evidence)]


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
        shown["effects"] = ""  # the effects differ without a fault, so they cannot show that a fault had one
    limit = limit or _LIMIT_SECONDS + _SLOWER * seconds
    return Baseline(shown, _difference(one, other), seconds, limit, masks)


_COMPARED = {
    "calls": ("method", "operation", "status"),
    "deliveries": ("type",),
    "transactions": ("type", "status", "amount", "currency"),
}


def _difference(one: Document, other: Document) -> str:
    for sort, names in _COMPARED.items():
        rows, others = ([" ".join(str(row[name]) for name in names) for row in each[sort]] for each in (one, other))
        for number, (row, another) in enumerate(zip(rows, others, strict=False), 1):
            if row != another:
                return f"{sort} #{number}: {row}, the second time {another}"
        if len(rows) != len(others):
            return f"{len(rows)} {sort}, the second time {len(others)}"
    return ""
