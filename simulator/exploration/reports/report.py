"""What explore tells: a table for people, JSON, JUnit, a page with two columns, a scenario file for each finding."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from simulator.engine.text.json import JsonObject
from simulator.engine.text.yaml import yaml_text
from simulator.exploration.catalogue import CLASSES
from simulator.exploration.exploring import Explored, Settings, sites_in
from simulator.exploration.judgement.causes import Cause, Judged
from simulator.exploration.judgement.fixes import ADVICE
from simulator.exploration.judgement.judging import VERDICTS, Problem
from simulator.exploration.plans import Run, without_fault
from simulator.exploration.reports.page import page
from simulator.exploration.reports.receipt import receipt, verdicts, with_commit
from simulator.version import __version__

_HEAD = "# explore: "
"""Before what a replay needs beyond the scenario, in the first line of a finding."""


NOTHING: Mapping[str, str] = {}
"""Where no findings are known."""


class NoFinding(Exception):
    """A file that is no finding, or none of this name; the text says which."""


def document(explored: Explored) -> JsonObject:
    """Return `report.json`: the same bytes for the same seed, whatever the workers, the time and the git state."""
    found = rest(explored)
    return {**found, "receipt": receipt(explored, found)}


def rest(explored: Explored) -> JsonObject:
    """A report without its receipt."""
    return {
        "version": __version__,
        "seed": explored.settings.seed,
        "plan": explored.settings.plan,
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
        "causes": [
            {"id": one.id, "cause": one.text, "verdict": one.verdict, "runs": [each.run.id for each in one.findings]}
            for one in explored.causes
        ],
        "summary": verdicts(explored),
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
        **({"books": [_book(line) for line in one.books]} if one.books else {}),
    }


def _book(line: Problem) -> JsonObject:
    """An order of which the books say something else: `delivered` by the service, `booked` by the integrator."""
    return {
        "order": line.order,
        "delivered": f"{line.expected:f}",
        "booked": f"{line.actual:f}",
        "currency": line.currency,
        "note": line.note,
    }


def write(explored: Explored, directory: Path, known: Mapping[str, str] = {}) -> None:
    """All files, into a directory that is made where it is not there; findings that it has from an earlier time go.

    `known`: findings of an earlier report, which are no failures of JUnit.
    """
    findings = directory / "findings"
    findings.mkdir(parents=True, exist_ok=True)
    for old in sorted(findings.glob("*.yaml")):
        if old.read_text("utf-8", "replace").startswith(_HEAD):
            old.unlink()
    for one in explored.findings:
        put(findings / f"{one.run.id}.yaml", finding_file(one))
    report = document(explored)
    replays = {one.run.id: replay_line(explored.settings, one.run.id, directory) for one in explored.findings}
    put(directory / "report.json", json.dumps(report, indent=2, ensure_ascii=False) + "\n")
    put(directory / "receipt.json", json.dumps(with_commit(report["receipt"]), indent=2, ensure_ascii=False) + "\n")
    put(directory / "junit.xml", junit(explored, directory, Compared.of(explored, known).new))
    put(directory / "report.html", page(explored, report, summed(explored), replays))


def put(path: Path, text: str) -> None:
    """Write a file, whatever tests had in their texts."""
    path.write_text(text, "utf-8", "replace")


DIRECTORY = Path(".rampsim/explore")
"""Where the files are unless `--out` says otherwise."""


def replay_line(settings: Settings, name: str, directory: Path) -> str:
    """The line that makes the run of a finding again."""
    words = ["rampsim", "explore", "--replay"]
    words.append(name if directory == DIRECTORY else str(directory / "findings" / f"{name}.yaml"))
    for option, value in (("--settle", settings.hooks.settle), ("--books", settings.hooks.books)):
        words += [option, str(value)] if value else []
    words += ["--seed", str(settings.seed)] if settings.seed != 1 else []
    return shlex.join([*words, "--", *settings.command])


# Findings


def finding_file(one: Judged) -> str:
    """A scenario file; what it takes to make the run again stands in its first line."""
    run = one.run
    needed = {"test": run.test, "fault": run.fault, "site": run.site, "id": run.id, "plan": run.plan}
    scenario: JsonObject = {
        "name": f"finding-{run.id}",
        "description": f"{f'{run.fault} at {run.site}' if run.site else 'No fault at all'}: {one.verdict.verdict}.",
    }
    if run.plan.get("rules"):
        scenario["rules"] = list(run.plan["rules"])
    if run.plan.get("faults"):
        scenario["faults"] = list(run.plan["faults"])
    return f"{_HEAD}{json.dumps(needed)}\n{yaml_text(json.loads(json.dumps(scenario)))}"


def read_run(given: str, directory: Path) -> Run:
    """Return a run to be made again: by the file of a finding, or by its id in `directory`. Raise `NoFinding`.

    A run that was no finding has no file: the report says which test, fault and place it was.
    """
    is_file = given.endswith((".yaml", ".yml"))
    path = Path(given) if is_file else directory / "findings" / f"{given}.yaml"
    try:
        head = path.read_text("utf-8").partition("\n")[0]
    except OSError:
        if not is_file and (run := _reported(given, directory / "report.json")) is not None:
            return run
        raise NoFinding(f"there is no finding {given!r} ({path} is not there), and no such run in the report") from None
    if not head.startswith(_HEAD):
        raise NoFinding(f"{path} is no finding of explore: its first line does not begin with `{_HEAD.strip()}`")
    try:
        return Run(**json.loads(head.removeprefix(_HEAD)))
    except (ValueError, TypeError):
        raise NoFinding(f"the first line of {path} cannot be read") from None


def _reported(name: str, report: Path) -> Run | None:
    """Return a run of a report by its id, without what goes wrong in it."""
    try:
        rows = json.loads(report.read_text("utf-8"))["runs"]
        row = next(row for row in rows if row["id"] == name)
        return Run(row["id"], row["test"], row["fault"], row["site"], {}) if row["fault"] in CLASSES else None
    except (OSError, ValueError, KeyError, TypeError, StopIteration):
        return None


def known_findings(path: Path) -> dict[str, str]:
    """The verdicts of the findings of an earlier report, by their ids. NoFinding for a file that is none."""
    try:
        report = json.loads(path.read_text("utf-8"))
        verdicts_then = {row["id"]: str(row["verdict"]) for row in report["runs"]}
        return {str(name): verdicts_then[name] for name in report["findings"]}
    except (OSError, ValueError, KeyError, TypeError):
        raise NoFinding(f"{path} is no report.json of explore") from None


class Compared(NamedTuple):
    """What is otherwise than in an earlier report: findings by their ids.

    `new`: those that it does not have, or not as grave. `gone`: run again, and no finding any more. `unseen`: not run.
    """

    new: Sequence[str]
    gone: Sequence[str]
    unseen: Sequence[str]

    @classmethod
    def of(cls, explored: Explored, known: Mapping[str, str]) -> Compared:
        now = {one.run.id: one.verdict.verdict for one in explored.findings}
        looked = {one.run.id for one in explored.judged}
        # A run without faults is told of only where the books are wrong.
        looked |= {without_fault(test).id for test in explored.baselines}
        new = [name for name in now if name not in known or _rank(now[name]) < _rank(known[name])]
        gone = [name for name in known if name not in now and name in looked]
        return cls(new, gone, [name for name in known if name not in looked])

    @property
    def said(self) -> Iterator[str]:
        """In sentences, but for the new ones."""
        for names, what in ((self.gone, "gone"), (self.unseen, "not looked at by this plan")):
            if names:
                many = f"{len(names)} known findings are" if len(names) > 1 else "1 known finding is"
                yield f"{many} {what}: {', '.join(names)}"


def _rank(verdict: str) -> int:
    return VERDICTS.index(verdict) if verdict in VERDICTS else len(VERDICTS)


# For people


def readable(explored: Explored, out: Path, known: Mapping[str, str] = NOTHING) -> str:
    """The findings, the worst first, and what became of all runs. `known`: findings of an earlier report."""
    lines: list[str] = []
    for test, baseline in explored.baselines.items():
        if baseline.difference:
            lines.append(f"unsteady: {test} differs from itself without faults. {baseline.difference}")
    for cause in explored.causes:
        lines += ["", *_cause_lines(explored, cause, out, known)]
    if explored.settings.replay is not None and not explored.findings:
        for one in explored.judged:
            lines += ["", *_run_lines(one), *(f"  {at[5:19].replace('T', ' ')} {text}" for at, _, text in one.timeline)]
    is_replay = explored.settings.replay is not None  # which writes no report
    told = summed(explored) if is_replay else f"{summed(explored)} More in {out / 'report.html'}"
    compared = Compared.of(explored, known).said if known else ()
    return plain("\n".join([*lines, "", *_table(explored), "", *compared, told, _receipt(explored), ""]))


def _cause_lines(explored: Explored, cause: Cause, out: Path, known: Mapping[str, str]) -> Iterator[str]:
    """Yield a finding as people read it: the first run that shows it, then all others."""
    one, *others = cause.findings
    verdict, advice = one.verdict, ADVICE[one.run.fault]
    yield f"{verdict.verdict.upper()}  {one.run.test}  (the test {one.outcome}{_known(one, known)})"
    yield f"  under   {one.run.fault} at {one.run.site}" if one.run.site else "  under   no fault at all"
    yield f"  means   {advice.means}"
    if verdict.currency:
        yield f"  money   expected {verdict.expected:f} {verdict.currency}, actual {verdict.actual:f}"
    yield f"  why     {verdict.note}"
    yield from (f"  books   {line.note}" for line in one.books if line.note != verdict.note)
    yield f"  mend    {advice.mend} ({advice.clause})"
    yield f"  replay  {replay_line(explored.settings, one.run.id, out)}"
    if others:
        yield f"  also    in {_runs_counted(len(others))} with the same cause: {cause.text}"
        yield from (f"          {each.run.id}  {_occurrence(each)}{_known(each, known)}" for each in others)


def _occurrence(one: Judged) -> str:
    """Where a finding was found, in a line."""
    return f"{one.run.fault} at {one.run.site} in {one.run.test}" if one.run.site else one.run.test


def _run_lines(one: Judged) -> Iterator[str]:
    """Yield what became of a replayed run that is no finding."""
    yield f"{one.verdict.verdict}  {one.run.test}  (the test {one.outcome})"
    if one.run.site:
        yield f"  under   {one.run.fault} at {one.run.site}"
    if one.verdict.note:
        yield f"  why     {one.verdict.note}"


def _runs_counted(count: int) -> str:
    return f"{count} run{'' if count == 1 else 's'}"


def _known(one: Judged, known: Mapping[str, str]) -> str:
    before, now = known.get(one.run.id), one.verdict.verdict
    if before is None:
        return ", new" if known else ""
    return ", known already" if before == now else f", known as {before}"


def _receipt(explored: Explored) -> str:
    """The receipt in a line."""
    shown = with_commit(document(explored)["receipt"])
    commit = shown["suite"]["commit"]
    of = f"suite {commit[:12]}{' (changed)' if shown['suite']['changed'] else ''}, " if commit else ""
    return f"Receipt: {of}rampsim {shown['version']}, seed {shown['seed']}, plan {shown['plan']}, {shown['digest']}"


_UNREADABLE = re.compile("[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def plain(text: str) -> str:
    """A text without what steers terminals, and what XML cannot have."""
    return _UNREADABLE.sub("\ufffd", text)


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


def summed(explored: Explored) -> str:
    """What came of it, in a sentence."""
    found, shown = len(explored.causes), len(explored.findings)
    left = f" {explored.left_out} more runs did not fit into the budget." if explored.left_out else ""
    where = f" in {_runs_counted(shown)}" if shown > found else ""
    runs = _runs_counted(len(explored.judged))
    return f"{runs}, {found or 'no'} finding{'' if found == 1 else 's'}{where}.{left}"


def junit(explored: Explored, directory: Path, new: Collection[str]) -> str:
    """Return one test case for each run. A finding that is new is a failure, once for each cause.

    Further runs of a cause, findings that are known, and runs that were not reached are skipped; so is one more case
    for each test that is unsteady.
    """
    unsteady = {test: one.difference for test, one in explored.baselines.items() if one.difference}
    failing: dict[str, Cause] = {}
    same_as: dict[str, str] = {}
    for cause in explored.causes:
        names = [one.run.id for one in cause.findings if one.run.id in new]
        failing |= dict.fromkeys(names[:1], cause)
        same_as |= dict.fromkeys(names[1:], names[0] if names else "")
    not_reached = sum(one.verdict.verdict == "not-reached" for one in explored.judged)
    suite = ElementTree.Element(
        "testsuite",
        name="rampsim explore",
        tests=str(len(explored.judged) + len(unsteady)),
        failures=str(len(failing)),
        errors="0",
        skipped=str(not_reached + len(explored.findings) - len(failing) + len(unsteady)),
    )
    for test, difference in unsteady.items():
        case = ElementTree.SubElement(suite, "testcase", classname=plain(test), name="unsteady without faults")
        ElementTree.SubElement(case, "skipped", message=plain(difference))
    for one in explored.judged:
        name = f"{one.run.fault} {one.run.site}".strip()
        case = ElementTree.SubElement(suite, "testcase", classname=plain(one.run.test), name=plain(name))
        note = plain(one.verdict.note)
        if one.run.id in failing:
            failure = ElementTree.SubElement(case, "failure", type=one.verdict.verdict, message=note)
            failure.text = plain("\n".join(_told(explored, one, failing[one.run.id], directory)))
        elif one.run.id in same_as:
            message = f"the same cause as {same_as[one.run.id]}: {one.verdict.verdict}, {note}"
            ElementTree.SubElement(case, "skipped", message=message)
        elif one.verdict.is_finding:
            ElementTree.SubElement(case, "skipped", message=f"known already: {one.verdict.verdict}, {note}")
        elif one.verdict.verdict == "not-reached":
            ElementTree.SubElement(case, "skipped", message=note)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)


def _told(explored: Explored, one: Judged, cause: Cause, directory: Path) -> Iterator[str]:
    """Yield a finding in lines: what happened, what to do, the other runs that show it, the story with the fault."""
    advice = ADVICE[one.run.fault]
    yield from (one.verdict.note, *(line.note for line in one.books if line.note != one.verdict.note))
    yield from ("", advice.means, f"{advice.mend} ({advice.clause})", "")
    others = [each for each in cause.findings if each is not one]
    if others:
        yield f"{_runs_counted(len(others))} more with the same cause:"
        yield from (f"{each.run.id}  {_occurrence(each)}" for each in others)
        yield ""
    yield from (replay_line(explored.settings, one.run.id, directory), "")
    yield from (f"{at} {text}" for at, _, text in one.timeline)
