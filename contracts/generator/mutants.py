"""The sections of contracts/README.md about tests of `rampsim conform`: wrong services that it must find, and seeds.

`python -m tests.tools.conformance.mutants --write` updates the rows.
"""

from __future__ import annotations

import json
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import TypedDict

RECORD = Path(__file__).with_name("mutants.json")

_INTRODUCTION = """
## Wrong services and what finds them

This shows that `rampsim conform` checks behaviour, not only shapes. Each wrong service is the simulator with one
modified response, request or delivery. It counts as found if the rule named for it finds it. A broken rule of the
specification fails a run; a difference from an assumption fails it with `--strict`.
`python -m tests.tools.conformance.mutants` repeats the test.

"""
_SEEDS = """
## Seeds

A run must pass with any seed of schemathesis. CI runs one fixed seed completely, and fuzzing and the stateful phase
with the seed of the day, ten examples each (`make conform`; `SEEDS="3 4"` selects other seeds). The rules of behaviour
and the coverage phase do not depend on the seed.

| run | seeds | findings |
| - | - | - |
| complete runs | 1, 4, 20, 21, 20261122 | none |
| only fuzzing | 1, 2, 5 to 12 | none |
"""


class Row(TypedDict):
    """One wrong service."""

    name: str
    wrong: str
    rule: str | None
    """The rule that found it, or None."""
    promise: bool


def section() -> str:
    """Return Markdown with the score, a line for each area of rules, and a collapsible table of wrong services."""
    rows: list[Row] = json.loads(RECORD.read_text())
    return _INTRODUCTION + score(rows) + "\n\n" + _areas(rows) + _each(rows) + _SEEDS


def _areas(rows: list[Row]) -> str:
    lines = ["| area | found | by the rules |", "| - | - | - |"]
    rules = Counter(row["rule"] for row in rows if row["rule"])
    for area, names in groupby(sorted(rules), lambda rule: rule.partition(".")[0]):
        of_area = list(names)
        names_of_area = ", ".join(rule.partition(".")[2] or rule for rule in of_area)
        lines.append(f"| {area} | {sum(rules[rule] for rule in of_area)} | {names_of_area} |")
    missed = [row["name"] for row in rows if not row["rule"]]
    return "\n".join([*lines, *([f"| not found | {len(missed)} | {', '.join(missed)} |"] if missed else [])]) + "\n"


def _each(rows: list[Row]) -> str:
    lines = ["| wrong service | what is wrong | found by | what that is |", "| - | - | - | - |"]
    for row in rows:
        found = f"`{row['rule']}`" if row["rule"] else "nothing"
        what = "" if not row["rule"] else "a broken rule" if row["promise"] else "a different assumption"
        lines.append(f"| {row['name']} | {row['wrong']} | {found} | {what} |")
    table = "\n".join(lines)
    return f"\n<details>\n<summary>All {len(rows)}, each with its rule</summary>\n\n{table}\n\n</details>\n"


def score(rows: list[Row]) -> str:
    found = [row for row in rows if row["rule"]]
    promises = sum(row["promise"] for row in found)
    guesses = len(found) - promises
    return f"{len(found)} of {len(rows)} are found: {promises} as broken rules, {guesses} as different assumptions."
