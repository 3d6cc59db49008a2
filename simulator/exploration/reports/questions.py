"""Reports on alternative assumptions: the questions to ask about the real service, as text, JSON, JUnit and HTML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from simulator.engine.text.json import JsonObject
from simulator.engine.text.reports import Case, Suite, json_report, junit, readable
from simulator.exploration.exploring import Explored
from simulator.exploration.flipping import Flipped
from simulator.exploration.reports import report
from simulator.exploration.reports.page import rendered
from simulator.exploration.reports.receipt import receipt, with_commit
from simulator.exploration.reports.report import put


def document(flipped: Flipped) -> JsonObject:
    """Return `assumptions.json`: the alternatives that tests depend on, each with a question about the real service,
    and the request whose response answers it.
    """
    settings = replace(flipped.settings, plan="assumptions", faults=())
    explored = Explored(settings, flipped.baselines, [], len(flipped.left_out) * len(flipped.baselines))
    whole = report.rest(explored)
    found: JsonObject = {
        **{name: whole[name] for name in ("version", "seed", "plan", "baseline")},
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
        "settled": dict(flipped.settled),
        "observed": {
            one: {"alternative": seen.alternative, "date": seen.date} for one, seen in flipped.observed.items()
        },
        "alternatives": {
            "tried": [flip.text for flip in flipped.tried],
            "left_out": [flip.text for flip in flipped.left_out],
        },
    }
    return {**found, "receipt": receipt(explored, found)}


def write(flipped: Flipped, directory: Path) -> Path:
    """Write all files and return the path of the HTML page. Reports of explorations with faults are not overwritten."""
    directory.mkdir(parents=True, exist_ok=True)
    found = document(flipped)
    put(directory / "assumptions.json", json_report(found))
    put(directory / "assumptions-receipt.json", json_report(with_commit(found["receipt"])))
    put(directory / "assumptions.xml", junit_report(flipped))
    path = directory / "assumptions.html"
    put(path, page(flipped))
    return path


def summary(flipped: Flipped, path: Path) -> str:
    """Return the questions, each with the tests that depend on the answer."""
    return readable("\n".join([*_flaky(flipped), *_questions(flipped), "", _sum(flipped), f"More in {path}", ""]))


def _flaky(flipped: Flipped) -> Iterator[str]:
    for test, baseline in flipped.baselines.items():
        if baseline.difference:
            yield f"flaky: {test} gives different results in two runs without any alternative. {baseline.difference}"


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
    if flipped.observed:
        left += f" Not asked, because observed: {', '.join(flipped.observed)}."
    if not count:
        return f"Your suite depends on none of {tried} alternatives.{left}"
    asked = len(flipped.questions)
    what = "this question" if asked == 1 else f"these {asked} questions"
    return f"Your suite depends on {count} of {tried} alternatives. Ask {what} before going live.{left}"


def junit_report(flipped: Flipped) -> str:
    """Return a test case for each alternative. None fails, but the output lists the tests that depend on it."""
    cases = []
    for flip in flipped.tried:
        tests = [f"{one.test} {one.outcome}" for one in flipped.changed.get(flip, ())]
        cases.append(Case("assumptions", flip.text, output="\n".join([flip.switch.question, *tests]) if tests else ""))
    return junit(Suite("rampsim explore --assumptions", cases))


def page(flipped: Flipped) -> str:
    """Return the questions as an HTML page that you can send to the service's operator."""
    questions = [
        {"switch": switch, "flips": [(flip, tests) for flip, tests in flipped.changed.items() if flip.id == switch.id]}
        for switch in flipped.questions
    ]
    return rendered(
        "assumptions.html",
        command=" ".join(flipped.settings.command),
        seed=flipped.settings.seed,
        sum=_sum(flipped),
        questions=questions,
    )
