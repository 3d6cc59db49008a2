"""The HTML report on an exploration. For each finding, it compares the timelines without and with the fault."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache
from itertools import zip_longest

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from simulator.engine.text.json import JsonObject
from simulator.exploration.exploring import Explored
from simulator.exploration.judgement.causes import VERDICTS as MEANINGS
from simulator.exploration.judgement.causes import Cause, advice_of
from simulator.exploration.judgement.judging import VERDICTS
from simulator.exploration.reports.receipt import with_commit
from simulator.exploration.runs.armed import SCENARIO

Row = Sequence[str]
"""A line in a timeline: time, kind, text."""


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("simulator.exploration.reports"),
        autoescape=select_autoescape(),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def rendered(name: str, **more: object) -> str:
    """Return a self-contained page without scripts. All values are escaped."""
    return _environment().get_template(name).render(**more)


def page(explored: Explored, report: JsonObject, summed: str, replays: Mapping[str, str]) -> str:
    """Return the page. `replays`: the replay command for each finding, by finding id."""
    receipt = with_commit(report["receipt"])
    counts: dict[str, dict[str, int]] = {}
    for one in explored.judged:
        counts.setdefault(one.run.fault, dict.fromkeys(VERDICTS, 0))[one.verdict.verdict] += 1
    return rendered(
        "report.html",
        sum=summed,
        receipt=receipt,
        receipt_rows=list(_flat(receipt)),
        flaky=[test for test in report["baseline"]["tests"] if not test["steady"]],
        shown=[verdict for verdict in VERDICTS if verdict in receipt["verdicts"]],
        counts=counts,
        meanings=MEANINGS,
        stories=[_story(explored, cause, replays[cause.findings[0].run.id]) for cause in explored.causes],
    )


def _story(explored: Explored, cause: Cause, replay: str) -> JsonObject:
    one = cause.findings[0]
    verdict = one.verdict
    money = f"expected {verdict.expected:f} {verdict.currency}, actual {verdict.actual:f}"
    rows = beside(explored.baselines[one.run.test].evidence["timeline"], one.timeline) if one.run.site else []
    return {
        "id": cause.id,
        "cause": cause.text,
        "occurrences": [{"run": each.run, "outcome": each.outcome} for each in cause.findings],
        "verdict": verdict.verdict,
        "fault": one.run.fault,
        "site": one.run.site,
        "test": one.run.test,
        "outcome": one.outcome,
        "note": verdict.note,
        "money": money * bool(verdict.currency),
        "advice": advice_of(one.run.fault),
        "replay": replay,
        "books": [line.row for line in one.books],
        "columns": ["Without the fault", "With it"] if one.run.site else ["What happened"],
        "rows": rows or [(_cell(row),) for row in one.timeline],
        "first": first_difference(rows),
    }


Cell = Mapping[str, str]


def beside(before: Sequence[Row], after: Sequence[Row]) -> list[tuple[Cell | None, Cell | None]]:
    """Align two timelines in two columns, like a side-by-side diff, with equal rows on the same line. Rows for faults
    that explore itself added or removed are omitted.
    """
    left, right = ([_cell(row) for row in _unarmed(rows)] for rows in (before, after))
    matcher = SequenceMatcher(None, [row["text"] for row in left], [row["text"] for row in right], autojunk=False)
    rows: list[tuple[Cell | None, Cell | None]] = []
    for _, i, j, k, m in matcher.get_opcodes():
        rows += zip_longest(left[i:j], right[k:m])
    return rows


_FAULTS = re.compile(r"(create|delete) faults?\b")
_UPLOAD = "upload scenario"
_ACTIVE = re.compile(rf"(activate names )(?:(.*), )?{SCENARIO}$")


def _unarmed(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield the rows of a timeline, without the control calls with which `rampsim explore` injected the fault."""
    own = False
    for row, following in zip_longest(rows, rows[1:]):
        at, what, text = row
        if own or _FAULTS.match(text):
            own = False
            continue
        own = text == _UPLOAD and following is not None and _ACTIVE.match(following[2]) is not None
        if not own:
            yield at, what, _ACTIVE.sub(lambda found: f"{found[1]}{found[2] or 'none'}", text)


def _cell(row: Row) -> Cell:
    at, _, text = row
    return {"at": at[5:19].replace("T", " "), "text": text}


def first_difference(rows: Sequence[tuple[Cell | None, Cell | None]]) -> int | None:
    """Return the index of the first row in which the columns differ, or None."""
    return next((number for number, (left, right) in enumerate(rows) if left != right), None)


def _flat(receipt: JsonObject) -> Iterator[tuple[str, str]]:
    suite = receipt["suite"]
    changed = " with uncommitted changes" if suite["changed"] else ""
    yield "Command", " ".join(suite["command"])
    yield "Commit of the suite", f"{suite['commit']}{changed}" if suite["commit"] else "not in a git repository"
    yield "Version of rampsim", receipt["version"]
    yield "Seed", str(receipt["seed"])
    yield "Plan", receipt["plan"]
    yield "Fault classes", f"{len(receipt['faults'])}: {', '.join(receipt['faults'])}"
    for name in ("settle", "books"):
        if receipt[name]:
            yield name.capitalize(), receipt[name]
    yield "Settle mode", receipt["settle_mode"]
    yield "Verdicts", ", ".join(f"{name} {count}" for name, count in receipt["verdicts"].items())
    yield "Digest of the report", receipt["digest"]
