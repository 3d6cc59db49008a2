"""Reports on an exploration: a summary, JSON, JUnit, an HTML page, and a scenario file for each finding."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from simulator.engine.text.json import JsonObject
from simulator.engine.text.reports import Case, Failure, Suite, counted, json_report, junit, readable
from simulator.engine.text.yaml import yaml_text
from simulator.exploration.baselines import sites_in
from simulator.exploration.catalogue import CLASSES
from simulator.exploration.exploring import Explored, Settings
from simulator.exploration.judgement.causes import VERDICTS as MEANINGS
from simulator.exploration.judgement.causes import Cause, Judged, advice_of
from simulator.exploration.judgement.judging import FAILED_LOUDLY, HIDDEN_BY_SETTLE, SURVIVED, VERDICTS, Problem
from simulator.exploration.plans import Run, without_fault
from simulator.exploration.reports.page import page
from simulator.exploration.reports.receipt import receipt, verdicts, with_commit
from simulator.exploration.runs.aftermath import Hooks
from simulator.version import __version__

_HEAD = "# explore: "
"""The start of the first line in a finding's file. JSON data for a replay follows."""


_MOST_WARNINGS = 5
"""The maximum number of warnings on the terminal. The report contains all of them."""


class NoFinding(Exception):
    """Raised if a finding does not exist, or if a file does not contain a finding or a report."""


def document(explored: Explored) -> JsonObject:
    """Return `report.json`, whose bytes depend on the seed but not on the workers, the time and the git state."""
    found = rest(explored)
    return {**found, "receipt": receipt(explored, found)}


def rest(explored: Explored) -> JsonObject:
    """Return the report without its receipt: the suite, the options, and the number of runs for each verdict."""
    return {
        "version": __version__,
        "seed": explored.settings.seed,
        "plan": explored.settings.plan,
        "baseline": {
            "tests": [
                {"test": test, "steady": not one.difference, "sites": sites_in(one)}
                | ({"difference": one.difference} if one.difference else {})
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
        **({"stages": {"before": verdict.before, "after": _after(one)}} if verdict.before else {}),
        **({"books": [_book(line) for line in one.books]} if one.books else {}),
    }


def _after(one: Judged) -> str:
    if one.verdict.verdict != HIDDEN_BY_SETTLE:
        return one.verdict.verdict
    return FAILED_LOUDLY if one.outcome == "failed" else SURVIVED


def _book(line: Problem) -> JsonObject:
    """Return, as JSON, an order and its amounts: `delivered` by the service, and `booked` by the integrator."""
    row = line.row
    amounts = {"delivered": row["expected"], "booked": row["actual"]}
    return {"order": line.order, **amounts, "currency": line.currency, "note": line.note}


def write(explored: Explored, directory: Path, known: Mapping[str, str] = {}) -> None:
    """Write all files into a directory, which is created if missing. Findings from an earlier exploration are deleted.
    `known`: findings from an earlier report. The JUnit report does not contain them as failures.
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
    put(directory / "report.json", json_report(report))
    put(directory / "receipt.json", json_report(with_commit(report["receipt"])))
    put(directory / "junit.xml", junit_report(explored, directory, Compared.of(explored, known).new))
    put(directory / "report.html", page(explored, report, summed(explored), replays))


def put(path: Path, text: str) -> None:
    """Write a file as UTF-8. Lone surrogates, which can come from the tests, are replaced."""
    path.write_text(text, "utf-8", "replace")


DIRECTORY = Path(".rampsim/explore")
"""The default value of `--out`."""


def replay_line(settings: Settings, name: str, directory: Path) -> str:
    """Return the command that repeats the run for a finding."""
    words = ["rampsim", "explore", "--replay"]
    words.append(name if directory == DIRECTORY else str(directory / "findings" / f"{name}.yaml"))
    hooks = settings.hooks
    mode = hooks.mode if hooks.mode != Hooks.mode else None
    given = (("settle", hooks.settle), ("settle", mode), ("books", hooks.books), ("quiesce", hooks.quiesce))
    for option, value in (*given, ("app", hooks.app)):
        words += [f"--{option}", str(value)] if value else []
    if hooks.tolerated_ms is not None:
        words += ["--during", *(["--tolerate", f"{hooks.tolerated_ms}ms"] if hooks.tolerated_ms else [])]
    words += ["--seed", str(settings.seed)] if settings.seed != 1 else []
    return shlex.join([*words, "--", *settings.command])


def finding_file(one: Judged) -> str:
    """Return the scenario file for a finding. Its first line contains the data for a replay."""
    run = one.run
    needed = {name: getattr(run, name) for name in ("test", "fault", "site", "id", "plan")}
    scenario: JsonObject = {
        "name": f"finding-{run.id}",
        "description": f"{f'{run.fault} at {run.site}' if run.site else 'No fault'}: {one.verdict.verdict}.",
    }
    scenario |= {name: list(run.plan[name]) for name in ("rules", "faults") if run.plan.get(name)}
    return f"{_HEAD}{json.dumps(needed)}\n{yaml_text(json.loads(json.dumps(scenario)))}"


def read_run(given: str, directory: Path) -> Run:
    """Return the run to repeat, given as a finding's file or as a run id. A run without a finding has no file, so it is
    read from the report in `directory`. Raises `NoFinding` if there is none.
    """
    is_file = given.endswith((".yaml", ".yml"))
    path = Path(given) if is_file else directory / "findings" / f"{given}.yaml"
    try:
        head = path.read_text("utf-8").partition("\n")[0]
    except OSError:
        if not is_file and (run := _reported(given, directory / "report.json")) is not None:
            return run
        why = f"{path} does not exist, and the report contains no run with this id"
        raise NoFinding(f"no finding {given!r}: {why}") from None
    if not head.startswith(_HEAD):
        raise NoFinding(f"{path} is not a finding of explore: its first line does not start with `{_HEAD.strip()}`")
    try:
        return Run(**json.loads(head.removeprefix(_HEAD)))
    except (ValueError, TypeError):
        raise NoFinding(f"the first line of {path} cannot be read") from None


def _reported(name: str, report: Path) -> Run | None:
    """Return the run with this id from a report, with an empty plan, or None if there is none."""
    try:
        rows = json.loads(report.read_text("utf-8"))["runs"]
        row = next(row for row in rows if row["id"] == name)
        return Run(row["id"], row["test"], row["fault"], row["site"], {}) if row["fault"] in CLASSES else None
    except (OSError, ValueError, KeyError, TypeError, StopIteration):
        return None


def known_findings(path: Path) -> dict[str, str]:
    """Return the verdicts of an earlier report's findings, by id. Raises `NoFinding` if the file is not a report."""
    try:
        report = json.loads(path.read_text("utf-8"))
        verdicts_then = {row["id"]: str(row["verdict"]) for row in report["runs"]}
        return {str(name): verdicts_then[name] for name in report["findings"]}
    except (OSError, ValueError, KeyError, TypeError):
        raise NoFinding(f"{path} is not a report.json written by `rampsim explore`") from None


class Compared(NamedTuple):
    """The result of a comparison with an earlier report, as finding ids."""

    new: Sequence[str]
    """Findings that are missing in the earlier report, or less severe there."""
    gone: Sequence[str]
    """Findings that were run again and no longer occur."""
    unseen: Sequence[str]
    """Findings that were not run again."""

    @classmethod
    def of(cls, explored: Explored, known: Mapping[str, str]) -> Compared:
        now = {one.run.id: one.verdict.verdict for one in explored.findings}
        looked = {one.run.id for one in explored.judged}
        # A run without faults is reported only if the integrator's records are wrong.
        looked |= {without_fault(test).id for test in explored.baselines}
        new = [name for name in now if name not in known or _rank(now[name]) < _rank(known[name])]
        gone = [name for name in known if name not in now and name in looked]
        return cls(new, gone, [name for name in known if name not in looked])

    @property
    def sentences(self) -> Iterator[str]:
        """Yield sentences about the findings that no longer occur and the findings whose runs were not repeated."""
        for names, what in ((self.gone, "gone"), (self.unseen, "not covered by this plan")):
            if names:
                yield f"{counted(len(names), 'known finding is', 'known findings are')} {what}: {', '.join(names)}"


def _rank(verdict: str) -> int:
    return VERDICTS.index(verdict) if verdict in VERDICTS else len(VERDICTS)


def summary(explored: Explored, out: Path, known: Mapping[str, str] = {}) -> str:
    """Return the summary: the findings, most severe first, and a table of all runs. `known`: earlier findings."""
    lines: list[str] = []
    for test, baseline in explored.baselines.items():
        if baseline.difference:
            lines.append(f"flaky: {test} gives different results in two runs without faults. {baseline.difference}")
    for cause in explored.causes:
        lines += ["", *_cause_lines(explored, cause, out, known)]
    hidden = [one for one in explored.judged if one.verdict.verdict == HIDDEN_BY_SETTLE]
    if hidden:
        lines += ["", f"warning: in {counted(len(hidden), 'run')}, only your job made the books right"]
        lines += [f"  {one.run.id}  {_occurrence(one)}: {one.verdict.note}" for one in hidden[:_MOST_WARNINGS]]
        lines += [f"  and {len(hidden) - _MOST_WARNINGS} more, in the report"] * (len(hidden) > _MOST_WARNINGS)
    if explored.settings.replay is not None and not explored.findings:
        for one in explored.judged:
            lines += ["", *_run_lines(one), *(f"  {at[5:19].replace('T', ' ')} {text}" for at, _, text in one.timeline)]
    end = summed(explored)
    if explored.settings.replay is None:  # a replay writes no report
        end += f" More in {out / 'report.html'}"
    compared = Compared.of(explored, known).sentences if known else ()
    return readable("\n".join([*lines, "", *_table(explored), "", *compared, end, _receipt(explored), ""]))


def _cause_lines(explored: Explored, cause: Cause, out: Path, known: Mapping[str, str]) -> Iterator[str]:
    one, *others = cause.findings
    verdict, advice = one.verdict, advice_of(one.run.fault)
    yield f"{verdict.verdict.upper()}  {one.run.test}  (the test {one.outcome}{_known(one, known)})"
    yield f"  under   {one.run.fault} at {one.run.site}" if one.run.site else "  under   no fault"
    yield f"  means   {advice.means}"
    if verdict.currency:
        yield f"  money   expected {verdict.expected:f} {verdict.currency}, actual {verdict.actual:f}"
    yield f"  why     {verdict.note}"
    yield from (f"  books   {line.note}" for line in one.books if line.note != verdict.note)
    yield f"  fix     {advice.mend} ({advice.clause})"
    yield f"  replay  {replay_line(explored.settings, one.run.id, out)}"
    if others:
        yield f"  also    in {counted(len(others), 'run')} with the same cause: {cause.text}"
        yield from (f"          {each.run.id}  {_occurrence(each)}{_known(each, known)}" for each in others)


def _occurrence(one: Judged) -> str:
    return f"{one.run.fault} at {one.run.site} in {one.run.test}" if one.run.site else one.run.test


def _run_lines(one: Judged) -> Iterator[str]:
    """Yield the lines for a replayed run that is not a finding."""
    yield f"{one.verdict.verdict}  {one.run.test}  (the test {one.outcome})"
    if one.run.site:
        yield f"  under   {one.run.fault} at {one.run.site}"
    if one.verdict.note:
        yield f"  why     {one.verdict.note}"


def _known(one: Judged, known: Mapping[str, str]) -> str:
    before, now = known.get(one.run.id), one.verdict.verdict
    if before is None:
        return ", new" if known else ""
    return ", known already" if before == now else f", known as {before}"


def _receipt(explored: Explored) -> str:
    shown = with_commit(document(explored)["receipt"])
    commit = shown["suite"]["commit"]
    of = f"suite {commit[:12]}{' (changed)' if shown['suite']['changed'] else ''}, " if commit else ""
    return f"Receipt: {of}rampsim {shown['version']}, seed {shown['seed']}, plan {shown['plan']}, {shown['digest']}"


def _table(explored: Explored) -> Iterator[str]:
    rows: dict[str, Counter[str]] = {}
    for one in explored.judged:
        rows.setdefault(one.run.fault, Counter())[one.verdict.verdict] += 1
    shown = [verdict for verdict in VERDICTS if any(verdict in row for row in rows.values())]
    width = max([30, *(len(fault) + 2 for fault in rows)])
    if rows:
        yield "fault".ljust(width) + "".join(f"  {verdict}" for verdict in shown)
    for fault, row in rows.items():
        counts = "".join(str(row[verdict] or "").rjust(len(verdict) + 2) for verdict in shown)
        yield f"{fault.ljust(width)}{counts}".rstrip()
    if rows:
        yield ""
    yield from (f"{verdict.ljust(17)} {MEANINGS[verdict]}" for verdict in shown)


def summed(explored: Explored) -> str:
    """Return a sentence with the number of runs and findings."""
    found, shown = len(explored.causes), len(explored.findings)
    left = f" {explored.left_out} more runs did not fit into the budget." if explored.left_out else ""
    where = f" in {counted(shown, 'run')}" if shown > found else ""
    findings = counted(found, "finding") if found else "no findings"
    return f"{counted(len(explored.judged), 'run')}, {findings}{where}.{left}"


def junit_report(explored: Explored, directory: Path, new: Collection[str]) -> str:
    """Return a JUnit report with a test case for each run. Of the new findings with the same cause, the first is a
    failure.

    Further runs with this cause, known findings, runs in which the fault never happened, and flaky tests are skipped.
    """
    failing: dict[str, Cause] = {}
    same_as: dict[str, str] = {}
    for cause in explored.causes:
        names = [one.run.id for one in cause.findings if one.run.id in new]
        failing |= dict.fromkeys(names[:1], cause)
        same_as |= dict.fromkeys(names[1:], names[0] if names else "")
    differing = {test: one.difference for test, one in explored.baselines.items() if one.difference}
    cases = [Case(test, "flaky without faults", skipped=difference) for test, difference in differing.items()]
    for one in explored.judged:
        verdict, note = one.verdict.verdict, one.verdict.note
        case = Case(one.run.test, f"{one.run.fault} {one.run.site}".strip())
        if one.run.id in failing:
            text = "\n".join(_details(explored, one, failing[one.run.id], directory))
            case = case._replace(failure=Failure(note, text, verdict))
        elif one.run.id in same_as:
            case = case._replace(skipped=f"the same cause as {same_as[one.run.id]}: {verdict}, {note}")
        elif one.verdict.is_finding:
            case = case._replace(skipped=f"known already: {verdict}, {note}")
        elif verdict == "not-reached":
            case = case._replace(skipped=note)
        cases.append(case)
    return junit(Suite("rampsim explore", cases))


def _details(explored: Explored, one: Judged, cause: Cause, directory: Path) -> Iterator[str]:
    """Yield the lines for a finding: what happened, the fix, other runs that reveal it, the timeline with the fault."""
    advice = advice_of(one.run.fault)
    yield from (one.verdict.note, *(line.note for line in one.books if line.note != one.verdict.note))
    yield from ("", advice.means, f"{advice.mend} ({advice.clause})", "")
    others = [each for each in cause.findings if each is not one]
    if others:
        yield f"{counted(len(others), 'run')} more with the same cause:"
        yield from (f"{each.run.id}  {_occurrence(each)}" for each in others)
        yield ""
    yield from (replay_line(explored.settings, one.run.id, directory), "")
    yield from (f"{at} {text}" for at, _, text in one.timeline)
