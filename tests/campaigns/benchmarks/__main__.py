"""`python -m tests.campaigns.benchmarks`: measures the speed and memory of the simulator. See README.md."""

from __future__ import annotations

import argparse
import sys
from contextlib import nullcontext
from pathlib import Path

from tests.campaigns.benchmarks.machine import described
from tests.campaigns.benchmarks.plan import Length, Plan
from tests.campaigns.benchmarks.rows import ROWS, SCENES
from tests.campaigns.benchmarks.suite import OUTPUT, checked_out, commit_of, profile, report, rows_named, run, write
from tests.places import ROOT


def say(text: str) -> None:
    print(text, flush=True)  # noqa: T201


def main() -> int:
    names = [row.name for row in ROWS]
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.benchmarks", description=__doc__)
    parser.add_argument(
        "--only", action="append", default=[], choices=[*names, *SCENES], metavar="ROW",
        help=f"only this row, or all rows of this scene; repeatable: {', '.join(dict.fromkeys([*names, *SCENES]))}",
    )  # fmt: skip
    parser.add_argument("--rounds", type=int, help="how many times each figure is taken, in turns; 5, with --quick 1")
    parser.add_argument("--quick", action="store_true", help="a smoke: tiny sizes, whose figures say nothing")
    parser.add_argument("--full", action="store_true", help="a million calls where otherwise 120,000 are made")
    parser.add_argument("--compare", metavar="REF", help="measure this commit in the same rounds, beside this tree")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="where results.json, table.md and the pictures go")
    parser.add_argument("--profile", action="store_true", help="no figures, but what the simulator spends its time on")
    given = parser.parse_args()
    if not sys.platform.startswith("linux"):
        parser.error("processor time and memory are read as Linux tells them")
    rows = rows_named(given.only)
    length: Length = "quick" if given.quick else "full" if given.full else "usual"
    wanted = frozenset(row.name for row in rows) if given.only else frozenset()
    plan = Plan(given.rounds or (1 if given.quick else 5), length, wanted)
    commit = commit_of(ROOT) + (f" beside {given.compare}" if given.compare else "")
    say(f"{described()}; {commit}")
    if given.profile:
        profile(rows, plan, given.output, say)
        return 0
    with checked_out(given.compare) if given.compare else nullcontext() as other:
        results = run(rows, plan, other, say)
    write(results, rows, given.output, commit)
    if given.quick:
        say("Tiny sizes: what follows shows that all can be measured, and no more.")
    say(f"\n{report(results, rows)}\n\nresults.json and a picture of each row are in {given.output}")
    return 1 if results.failed else 0


if __name__ == "__main__":
    sys.exit(main())
