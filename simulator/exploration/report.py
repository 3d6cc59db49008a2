"""What explore tells: a table for people, JSON, JUnit, a page with two columns, a scenario file for each finding."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from itertools import zip_longest
from pathlib import Path
from xml.etree import ElementTree

from simulator.exploration.exploring import Explored, Judged, sites_in
from simulator.exploration.judging import VERDICTS
from simulator.exploration.plans import Run
from simulator.version import __version__
from simulator.wire.json import JsonObject
from simulator.wire.yaml_text import yaml_text

_HEAD = "# explore: "
"""Before what a replay needs beyond the scenario, in the first line of a finding."""


class NoFinding(Exception):
    """A file that is no finding, or none of this name; the text says which."""


def document(explored: Explored) -> JsonObject:
    """`report.json`: the same bytes for the same seed, whatever the number of workers and the time it took."""
    counts = Counter(one.verdict.verdict for one in explored.judged)
    return {
        "version": __version__,
        "seed": explored.settings.seed,
        "plan": explored.settings.plan,
        "suite": {"command": list(explored.settings.command), "commit": _commit()},
        "baseline": {
            "tests": [
                {
                    "test": test,
                    "steady": not one.difference,
                    "sites": sites_in(one),
                    **({"difference": one.difference} if one.difference else {}),
                }
                for test, one in explored.baselines.items()
            ]
        },
        "runs": [_row(one) for one in explored.judged],
        "findings": [one.run.id for one in explored.findings],
        "summary": {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]},
        "left_out": explored.left_out,
    }


def _row(one: Judged) -> JsonObject:
    verdict = one.verdict
    return {
        "id": one.run.id,
        "test": one.run.test,
        "fault": one.run.fault,
        "site": one.run.site,
        "verdict": verdict.verdict,
        "test_outcome": one.outcome,
        "money": {"expected": f"{verdict.expected:f}", "actual": f"{verdict.actual:f}", "currency": verdict.currency},
        "note": verdict.note,
    }


def _commit() -> str | None:
    """Of which commit the suite is; None where it is in no repository."""
    try:
        done = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True)
    except OSError:
        return None
    return done.stdout.strip() or None


def write(explored: Explored, directory: Path) -> None:
    """All files, into a directory that is made where it is not there; findings of earlier times go."""
    findings = directory / "findings"
    findings.mkdir(parents=True, exist_ok=True)
    for old in findings.glob("*.yaml"):
        old.unlink()
    for one in explored.findings:
        (findings / f"{one.run.id}.yaml").write_text(finding_file(one), "utf-8")
    report = json.dumps(document(explored), indent=2, ensure_ascii=False)
    (directory / "report.json").write_text(report + "\n", "utf-8")
    (directory / "junit.xml").write_text(junit(explored), "utf-8")
    (directory / "report.html").write_text(page(explored), "utf-8")


# Findings


def finding_file(one: Judged) -> str:
    """A scenario file; what it takes to make the run again stands in its first line."""
    run = one.run
    needed = {"test": run.test, "fault": run.fault, "site": run.site, "id": run.id, "plan": run.plan}
    scenario: JsonObject = {
        "name": f"finding-{run.id}",
        "description": f"{run.fault} at {run.site}: {one.verdict.verdict}."[:300],
    }
    if run.plan.get("rules"):
        scenario["rules"] = list(run.plan["rules"])
    if run.plan.get("faults"):
        scenario["faults"] = list(run.plan["faults"])
    return f"{_HEAD}{json.dumps(needed)}\n{yaml_text(json.loads(json.dumps(scenario)))}"


def read_finding(given: str, directory: Path) -> Run:
    """The run of a finding, by its file or its id in `directory`. NoFinding."""
    path = Path(given) if given.endswith((".yaml", ".yml")) else directory / "findings" / f"{given}.yaml"
    try:
        head = path.read_text("utf-8").partition("\n")[0]
    except OSError:
        raise NoFinding(f"there is no finding {given!r} ({path} is not there)") from None
    if not head.startswith(_HEAD):
        raise NoFinding(f"{path} is no finding of explore: its first line does not begin with `{_HEAD.strip()}`")
    try:
        return Run(**json.loads(head.removeprefix(_HEAD)))
    except (ValueError, TypeError):
        raise NoFinding(f"the first line of {path} cannot be read") from None


def known_findings(path: Path) -> set[str]:
    """The findings of an earlier report. NoFinding for a file that is none."""
    try:
        return set(json.loads(path.read_text("utf-8"))["findings"])
    except (OSError, ValueError, KeyError, TypeError):
        raise NoFinding(f"{path} is no report.json of explore") from None


# For people


def readable(explored: Explored, out: Path, known: frozenset[str] = frozenset()) -> str:
    """The findings, the worst first, and what became of all runs."""
    lines: list[str] = []
    for test, baseline in explored.baselines.items():
        if baseline.difference:
            lines.append(f"unsteady: {test} differs from itself without faults. {baseline.difference}")
    findings = sorted(explored.findings, key=lambda one: (one.outcome == "failed", VERDICTS.index(one.verdict.verdict)))
    for one in findings:
        verdict = one.verdict
        new = "" if not known or one.run.id not in known else ", known already"
        lines += [
            "",
            f"{verdict.verdict.upper()}  {one.run.test}  (the test {one.outcome}{new})",
            f"  under   {one.run.fault} at {one.run.site}" if one.run.site else "  under   no fault at all",
            *(
                [f"  money   expected {verdict.expected:f} {verdict.currency}, actual {verdict.actual:f}"]
                if verdict.currency
                else []
            ),
            f"  why     {verdict.note}",
            f"  replay  rampsim explore --replay {one.run.id} -- {' '.join(explored.settings.command)}",
        ]
    return "\n".join([*lines, "", *_table(explored), "", _sum(explored, out), ""])


def _table(explored: Explored) -> Iterator[str]:
    """How often each class ended how."""
    rows: dict[str, Counter[str]] = {}
    for one in explored.judged:
        rows.setdefault(one.run.fault, Counter())[one.verdict.verdict] += 1
    shown = [verdict for verdict in VERDICTS if any(verdict in row for row in rows.values())]
    if rows:
        yield "fault".ljust(30) + "".join(verdict.rjust(len(verdict) + 2) for verdict in shown)
    for fault, row in rows.items():
        yield fault.ljust(30) + "".join(str(row[verdict] or "").rjust(len(verdict) + 2) for verdict in shown)


def _sum(explored: Explored, out: Path) -> str:
    runs, found = len(explored.judged), len(explored.findings)
    left = f" {explored.left_out} more runs did not fit into the budget." if explored.left_out else ""
    return f"{runs} runs, {found or 'no'} finding{'' if found == 1 else 's'}.{left} More in {out / 'report.html'}"


def junit(explored: Explored) -> str:
    """One test case for each run; one that is not reached is skipped."""
    suite = ElementTree.Element("testsuite", name="rampsim explore", tests=str(len(explored.judged)))
    suite.set("failures", str(len(explored.findings)))
    for one in explored.judged:
        case = ElementTree.SubElement(suite, "testcase", classname=one.run.test, name=f"{one.run.fault} {one.run.site}")
        if one.verdict.is_finding:
            failure = ElementTree.SubElement(case, "failure", type=one.verdict.verdict, message=one.verdict.note)
            failure.text = f"rampsim explore --replay {one.run.id} -- {' '.join(explored.settings.command)}"
        elif one.verdict.verdict == "not-reached":
            ElementTree.SubElement(case, "skipped", message=one.verdict.note)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)


STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
td, th { padding: .2rem .6rem; text-align: left; vertical-align: top; }
tr:nth-child(even) { background: #8881; } .first td { background: #f802; font-weight: 600; }
.verdict { font-weight: 700; } code { font-size: .9em; } section { margin: 2.5rem 0; }
td.line { font: 12px/1.4 ui-monospace, monospace; width: 50%; overflow-wrap: anywhere; }
"""


def page(explored: Explored) -> str:
    """Each finding as a story in two columns, without the fault and with it; the first difference is marked."""
    findings = "".join(_story(explored, one) for one in explored.findings) or "<p>No finding.</p>"
    counts = document(explored)["summary"]
    rows = "".join(f"<tr><td>{escape(name)}</td><td>{count}</td></tr>" for name, count in counts.items())
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>rampsim explore</title><style>{STYLE}</style>'
        f"<h1>rampsim explore</h1><p><code>{escape(' '.join(explored.settings.command))}</code>, "
        f"plan {explored.settings.plan}, seed {explored.settings.seed}</p><table>{rows}</table>{findings}</html>\n"
    )


def _story(explored: Explored, one: Judged) -> str:
    before = [_line(row) for row in explored.baselines[one.run.test].evidence["timeline"]]
    after = [_line(row) for row in one.timeline]
    first = next((n for n, (left, right) in enumerate(zip_longest(before, after)) if left != right), None)
    rows = "".join(
        f'<tr{" class=first" if number == first else ""}><td class="line">{escape(left or "")}</td>'
        f'<td class="line">{escape(right or "")}</td></tr>'
        for number, (left, right) in enumerate(zip_longest(before, after))
    )
    command = f"rampsim explore --replay {one.run.id} -- {' '.join(explored.settings.command)}"
    return (
        f'<section id="{escape(one.run.id)}"><h2><span class="verdict">{escape(one.verdict.verdict)}</span> '
        f"{escape(one.run.test)}</h2><p>{escape(one.run.fault)} at {escape(one.run.site)}; the test {one.outcome}. "
        f"{escape(one.verdict.note)}</p><p><code>{escape(command)}</code></p>"
        f"<table><tr><th>Without the fault</th><th>With it</th></tr>{rows}</table></section>"
    )


def _line(row: Sequence[str]) -> str:
    at, _, text = row
    return f"{at[5:19].replace('T', ' ')} {text}"
