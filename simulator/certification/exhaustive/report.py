"""The report of an exhaustive run: as text, as JSON, and as JUnit cases."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path as FilePath

from simulator.certification.exhaustive.running import FlowReport
from simulator.certification.exhaustive.scenario import Trace
from simulator.certification.exhaustive.search import Finding, claim
from simulator.engine.text.json import JsonObject
from simulator.engine.text.reports import Case, Failure, counted

DIRECTORY = FilePath(".rampsim/certify")
"""The directory of the scenario files."""
EXIT_CUT = 4


def write_scenarios(reports: Sequence[FlowReport], retry_delays_ms: Sequence[int]) -> None:
    """Write the shortest trace of each finding as a scenario file."""
    for report in reports:
        for finding in report.result.findings:
            name = f"{report.flow.name}-{finding.verdict}"
            says = f"{finding.verdict}: {'; '.join(report.result.trace(finding.path, finding.verdict))}."
            retries = [one // 1000 for one in retry_delays_ms]
            trace = Trace(name, says, report.flow, report.result.bounds, finding.path, retries)
            DIRECTORY.mkdir(parents=True, exist_ok=True)
            path = DIRECTORY / f"{name}.yaml"
            path.write_text(trace.yaml(), "utf-8")
            report.scenarios[finding.verdict] = path.as_posix()


def document(report: FlowReport) -> JsonObject:
    """Return the result for one flow. Only `seconds` differs between identical runs."""
    result = report.result
    return {
        "flow": report.flow.name,
        "events": len(result.bounds.events),
        "event_types": list(result.bounds.events),
        "copies": result.bounds.copies,
        "states": result.states,
        "edges": result.edges,
        "sequences": result.sequences,
        "complete": report.complete,
        "books": report.has_books,
        "depth": result.depth,
        "seconds": round(report.seconds, 1),
        "moves": result.moves,
        "never_played": list(result.missing),
        "note": _note(report),
        "findings": [_finding(report, one) for one in result.findings],
    }


def _finding(report: FlowReport, finding: Finding) -> JsonObject:
    trace = report.result.trace(finding.path, finding.verdict)
    shown: JsonObject = {
        "verdict": finding.verdict,
        "trace": trace,
        "shortest": True,  # the search is breadth first
        "scenario": report.scenarios.get(finding.verdict, ""),
        "note": finding.note,
    }
    if finding.other is not None:
        shown["other_trace"] = report.result.trace(finding.other)
    return shown


def _note(report: FlowReport) -> str:
    """Return the reason why a run is not complete, or ""."""
    if report.unsound:
        return f"deliveries of different orders affect each other, so use --snapshot or --state: {report.unsound}"
    if report.result.is_cut:
        return f"the budget ended the search after {counted(report.result.depth, 'delivery', 'deliveries')}"
    return f"never played: {', '.join(report.result.missing)}" if report.result.missing else ""


def exit_code(reports: Sequence[FlowReport]) -> int:
    """Return 1 if there are findings, 4 if a search is not complete, otherwise 0."""
    if any(one.result.findings for one in reports):
        return 1
    return 0 if all(one.complete for one in reports) else EXIT_CUT


def readable(reports: Sequence[FlowReport], *, has_job: bool) -> str:
    """Return the text about each flow: its findings with their shortest traces, or what the run has shown."""
    return "\n".join(line for report in reports for line in _lines(report, has_job=has_job))


def _lines(report: FlowReport, *, has_job: bool) -> list[str]:
    result, note = report.result, _note(report)
    lines = ["", f"{report.flow.name}: {', '.join(result.bounds.events)} ({report.seconds:.1f} s)"]
    if not result.findings and not report.unsound:
        lines.append(f"  {claim(result, has_job=has_job, has_books=report.has_books)}")
    for one in result.findings:
        trace = result.trace(one.path, one.verdict)
        lines += [f"  {one.verdict}: {one.note}", *(f"    {number}. {move}" for number, move in enumerate(trace, 1))]
        if one.other is not None:
            lines.append(f"    different books after: {', '.join(result.trace(one.other))}")
        lines.append(f"    scenario: {report.scenarios.get(one.verdict, '')}")
    if result.findings:
        lines.append(f"  {counted(result.states, 'state')}, {counted(result.edges, 'edge')}.")
    return [*lines, f"  Not complete: {note}."] if note else lines


def cases(reports: Sequence[FlowReport], *, has_job: bool) -> list[Case]:
    """Return a JUnit case for each flow."""
    found = []
    for report in reports:
        name, text = report.flow.name, "\n".join(_lines(report, has_job=has_job)[1:])
        verdicts = ", ".join(one.verdict for one in report.result.findings)
        failure = Failure(f"{name}: {verdicts}", text) if verdicts else None
        skipped = "" if report.complete or failure else f"not complete: {_note(report)}"
        found.append(Case("certify.exhaustive", name, failure, skipped=skipped))
    return found
