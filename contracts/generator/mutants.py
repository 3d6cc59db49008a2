"""The section of contracts/README.md on wrong services: which rule of `rampsim conform` finds each.

The rows are what `python -m tests.conformance.mutants --write` found when it judged them last.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypedDict

RECORD = Path(__file__).with_name("mutants.json")

_INTRODUCTION = """
## Wrong services and what finds them

Whether `rampsim conform` sees behaviour is judged by services that are wrong in one thing each: the simulator with one
answer, call or delivery changed on its way. The rule named is the one that is to find it; a promise broken fails a run,
a guess that differs does so with `--strict`. `python -m tests.conformance.mutants` judges them anew.

"""


class Row(TypedDict):
    """One wrong service. `rule`: the rule that found it, None where none did."""

    name: str
    wrong: str
    rule: str | None
    promise: bool


def section() -> str:
    """Markdown, with the score above the table."""
    rows: list[Row] = json.loads(RECORD.read_text())
    lines = [score(rows), "", "| wrong service | what is wrong | found by | what that is |", "| - | - | - | - |"]
    for row in rows:
        found = f"`{row['rule']}`" if row["rule"] else "nothing"
        what = "" if not row["rule"] else "a broken promise" if row["promise"] else "a guess that differs"
        lines.append(f"| {row['name']} | {row['wrong']} | {found} | {what} |")
    return _INTRODUCTION + "\n".join(lines) + "\n"


def score(rows: list[Row]) -> str:
    """How many were found, in a sentence."""
    found = [row for row in rows if row["rule"]]
    promises = sum(row["promise"] for row in found)
    guesses = len(found) - promises
    return f"{len(found)} of {len(rows)} are found: {promises} as broken promises, {guesses} as guesses that differ."
