"""`python -m tests.campaigns.hostile`: runs all campaigns, or one, at any size. See README.md."""

from __future__ import annotations

import argparse
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.campaigns.hostile.campaigns import CAMPAIGNS
from tests.campaigns.hostile.runner import Report, run_campaign


def table(reports: list[Report]) -> str:
    """The outcome as a table in Markdown."""
    head = ("campaign", "inputs", "failures", "slowest answer", "worst health", "memory before, after", "time")
    rows = [head, tuple("-" for _ in head)]
    for report in reports:
        kinds = ", ".join(f"{count} × {kind}" for kind, count in sorted(report.findings.by_kind().items()))
        warm, end = report.memory_span
        rows.append((
            report.name, f"{report.inputs:,}", f"{report.findings.total}" + (f" ({kinds})" if kinds else ""),
            f"{report.slowest:.2f} s", f"{report.worst_health:.2f} s", f"{warm >> 20}, {end >> 20} MB",
            f"{report.seconds:.0f} s",
        ))  # fmt: skip
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def details(report: Report) -> str:
    """Every group of failures with a call that shows it."""
    lines = []
    for group in sorted(report.findings.groups.values(), key=lambda group: -group.count):
        lines.append(f"\n{report.name}: {group.count} × {group.kind}: {group.signature}")
        for example in group.examples[:1]:
            lines.append(f"    {example['place']}")
            lines.append(f"    {example['call'][:1500]}")
            lines += [f"      {line}" for line in example["detail"].strip().splitlines()[-6:]]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.hostile", description=__doc__)
    parser.add_argument("--campaign", action="append", choices=CAMPAIGNS, help="only this one; repeatable")
    parser.add_argument("--scale", type=float, default=1.0, help="how much of the whole, 0.001 to 1 or more")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--episode", type=int, help="only this episode, to see a failure again")
    parser.add_argument("--jobs", type=int, default=2, help="how many campaigns at a time")
    parser.add_argument("--json", type=Path, help="where to write everything that was found")
    given = parser.parse_args()
    names = given.campaign or list(CAMPAIGNS)

    def run(name: str) -> Report:
        first, last = (0, None) if given.episode is None else (given.episode, given.episode + 1)
        report = run_campaign(CAMPAIGNS[name], seed=given.seed, first=first, last=last, scale=given.scale)
        print(f"{name}: {report.inputs} inputs in {report.seconds:.0f} s, {report.findings.total} failures", flush=True)  # noqa: T201
        if report.findings.groups:
            print(details(report), flush=True)  # noqa: T201
        return report

    with ThreadPoolExecutor(given.jobs) as pool:
        reports = list(pool.map(run, names))
    print("\n" + table(reports))  # noqa: T201
    if given.json is not None:
        given.json.write_text(json.dumps([report.as_json() for report in reports], indent=2))
    return 1 if any(report.findings.total for report in reports) else 0


if __name__ == "__main__":
    sys.exit(main())
