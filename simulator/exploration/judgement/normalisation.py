"""Values whose differences between runs are irrelevant. Reports replace these values with fixed strings."""

from __future__ import annotations

import re
from typing import Any

_CHANGES = (
    (re.compile(r"(127\.0\.0\.1|localhost|\[::1\]):\d+"), r"\1:PORT"),
    (re.compile(r"\bx\d+-\d+-[br][\w-]*"), "WORLD"),
    (re.compile(r"\bat 0x[0-9a-f]{6,}"), "at ADDRESS"),
    (re.compile(r"\bpytest-of-[^/\s]+/pytest-\d+/([\w.-]*?)\d+\b"), r"pytest/\1"),
)
"""Patterns and their replacements: local ports, world ids, memory addresses, pytest's temporary directories."""


def same(text: str) -> str:
    """Normalise a string so that it is the same each time a test runs under the same fault."""
    for pattern, instead in _CHANGES:
        text = pattern.sub(instead, text)
    return text


def same_result(result: dict[str, Any]) -> dict[str, Any]:
    """Normalise a run's result: the failure, the reason why records are unreadable, and the history."""
    result = {**result, "failure": same(result["failure"])}
    evidence = result["evidence"]
    if evidence:
        told: dict[str, Any] = {name: same(evidence[name]) for name in ("unread",) if evidence.get(name)}
        if "timeline" in evidence:
            told["timeline"] = [[*row[:-1], same(row[-1])] for row in evidence["timeline"]]
        result["evidence"] = {**evidence, **told}
    return result
