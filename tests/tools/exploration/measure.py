"""Measures how long explore takes for the forty tests: `make bench-explore`, with options as ARGS.

No test asserts on time. The results are the rows of the table in the README next to this file.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import click

from tests.places import ROOT
from tests.tools.exploration.suite import FORTY, outside


class Measured(NamedTuple):
    """One row. `seconds` on the wall; `processor` those of all processes: explore, its server, the tests."""

    plan: str
    tests: int
    sites: int
    runs: int
    findings: int
    seconds: float
    processor: float

    def __str__(self) -> str:
        times = f"{self.seconds:.0f} s | {self.processor:.0f} s | {1000 * self.processor / max(self.runs, 1):.0f} ms"
        return f"| `{self.plan}` | {self.tests} | {self.sites} | {self.runs} | {self.findings} | {times} |"


HEAD = """| plan | tests | sites | runs | findings | on the wall | processor | of it a run |
| - | - | - | - | - | - | - | - |"""


def measure(plan: str, workers: int) -> Measured:
    """Explore the forty tests once under a plan."""
    with tempfile.TemporaryDirectory() as out:
        before, begun = _processor(), time.monotonic()
        words = ("--plan", plan, "--workers", str(workers), "--out", out)
        done = subprocess.run(
            [sys.executable, "-m", "simulator", "explore", *words, "--", *FORTY],
            cwd=ROOT, env=outside(), capture_output=True, text=True,
        )  # fmt: skip
        seconds, processor = time.monotonic() - begun, _processor() - before
        if done.returncode not in (0, 1):
            raise SystemExit(done.stdout + done.stderr)
        report = json.loads((Path(out) / "report.json").read_text("utf-8"))
    tests = report["baseline"]["tests"]
    sites = sum(len(test["sites"]) for test in tests)
    return Measured(plan, len(tests), sites, len(report["runs"]), len(report["findings"]), seconds, processor)


def _processor() -> float:
    """The CPU time of all processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@click.command()
@click.option("--plan", "plans", type=click.Choice(["quick", "pair", "full"]), multiple=True, help="Only this plan.")
@click.option("--workers", type=int, default=2, show_default=True)
def main(plans: tuple[str, ...], workers: int) -> None:
    """Explore the forty tests under each plan and print a row for each."""
    click.echo(HEAD)
    for plan in plans or ("quick", "pair", "full"):
        click.echo(str(measure(plan, workers)))


if __name__ == "__main__":
    main()
