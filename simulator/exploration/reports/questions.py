"""What is told of flipped assumptions: the questions to the real service, for people, as JSON, JUnit and a page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

from simulator.engine.text.json import JsonObject
from simulator.exploration.exploring import Explored
from simulator.exploration.flipping import Flipped
from simulator.exploration.reports import report
from simulator.exploration.reports.page import rendered
from simulator.exploration.reports.receipt import receipt, with_commit
from simulator.exploration.reports.report import plain, put


def document(flipped: Flipped) -> JsonObject:
    """`assumptions.json`: the alternatives on which tests depend, with the questions and the calls that answer them."""
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
        "alternatives": {
            "tried": [flip.text for flip in flipped.tried],
            "left_out": [flip.text for flip in flipped.left_out],
        },
    }
    return {**found, "receipt": receipt(explored, found)}


def write(flipped: Flipped, directory: Path) -> Path:
    """All files, beside those of explorations under faults; the page for people."""
    directory.mkdir(parents=True, exist_ok=True)
    found = document(flipped)
    put(directory / "assumptions.json", json.dumps(found, indent=2, ensure_ascii=False) + "\n")
    receipt_shown = json.dumps(with_commit(found["receipt"]), indent=2, ensure_ascii=False)
    put(directory / "assumptions-receipt.json", f"{receipt_shown}\n")
    put(directory / "assumptions.xml", junit(flipped))
    path = directory / "assumptions.html"
    put(path, page(flipped))
    return path


def readable(flipped: Flipped, path: Path) -> str:
    """The questions, each with what depends on it, and in a sentence what to do."""
    return plain("\n".join([*_unsteady(flipped), *_questions(flipped), "", _sum(flipped), f"More in {path}", ""]))


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


def junit(flipped: Flipped) -> str:
    """One test case for each alternative, none of which fails: what depends on it stands in its output."""
    suite = ElementTree.Element("testsuite", name="rampsim explore --assumptions", tests=str(len(flipped.tried)))
    suite.set("failures", "0")
    for flip in flipped.tried:
        case = ElementTree.SubElement(suite, "testcase", classname="assumptions", name=flip.text)
        if flip in flipped.changed:
            depends = [f"{one.test} {one.outcome}" for one in flipped.changed[flip]]
            ElementTree.SubElement(case, "system-out").text = plain("\n".join([flip.switch.question, *depends]))
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)


def page(flipped: Flipped) -> str:
    """The questions, to be handed to who can answer them."""
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
