"""The sections of contracts/README.md on what tries `rampsim conform`: wrong services that it has to find, and seeds.

The rows are what `python -m tests.tools.conformance.mutants --write` found when it judged them last.
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

This shows that `rampsim conform` sees behaviour, not only shapes. Each wrong service is the simulator with one answer,
call or delivery changed on its way, and counts as found when the rule that is named for it finds it. A broken promise
fails a run; a guess that differs does so with `--strict`. `python -m tests.tools.conformance.mutants` judges them anew.

"""
_SEEDS = """
## Seeds

This shows that the simulator conforms whatever schemathesis happens to send: a run has to pass with any seed. CI runs a
fixed seed whole, and with that of the day what a seed changes: fuzzing and the stateful phase, ten examples each
(`make conform`; `SEEDS="3 4"` chooses others). The laws and the cases that cover each schema are those of every seed.

| what was run | seeds | findings |
| - | - | - |
| whole runs | 1, 4, 20, 21, 20261122 | none |
| the fuzzing alone | 1, 2, 5 to 12 | none |
"""


class Row(TypedDict):
    """One wrong service. `rule`: the rule that found it, None where none did."""

    name: str
    wrong: str
    rule: str | None
    promise: bool


def section() -> str:
    """Markdown: the score, a line for each area of rules, and every wrong service in a table that unfolds."""
    rows: list[Row] = json.loads(RECORD.read_text())
    return _INTRODUCTION + score(rows) + "\n\n" + _areas(rows) + _each(rows) + _SEEDS


def _areas(rows: list[Row]) -> str:
    """How many wrong services the rules of each area found, and which rules these are."""
    lines = ["| area | found | by the rules |", "| - | - | - |"]
    rules = Counter(row["rule"] for row in rows if row["rule"])
    for area, names in groupby(sorted(rules), lambda rule: rule.partition(".")[0]):
        of_area = list(names)
        told = ", ".join(rule.partition(".")[2] or rule for rule in of_area)
        lines.append(f"| {area} | {sum(rules[rule] for rule in of_area)} | {told} |")
    missed = [row["name"] for row in rows if not row["rule"]]
    return "\n".join([*lines, *([f"| not found | {len(missed)} | {', '.join(missed)} |"] if missed else [])]) + "\n"


def _each(rows: list[Row]) -> str:
    lines = ["| wrong service | what is wrong | found by | what that is |", "| - | - | - | - |"]
    for row in rows:
        found = f"`{row['rule']}`" if row["rule"] else "nothing"
        what = "" if not row["rule"] else "a broken promise" if row["promise"] else "a guess that differs"
        lines.append(f"| {row['name']} | {row['wrong']} | {found} | {what} |")
    table = "\n".join(lines)
    return f"\n<details>\n<summary>All {len(rows)}, each with its rule</summary>\n\n{table}\n\n</details>\n"


def score(rows: list[Row]) -> str:
    """How many were found, in a sentence."""
    found = [row for row in rows if row["rule"]]
    promises = sum(row["promise"] for row in found)
    guesses = len(found) - promises
    return f"{len(found)} of {len(rows)} are found: {promises} as broken promises, {guesses} as guesses that differ."
