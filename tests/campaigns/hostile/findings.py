"""The findings of a campaign: failures with the call that shows them. Equal failures are counted together."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

EXAMPLES = 2
_NUMBERS = re.compile(r"0x[0-9a-f]+|\b[a-z]{1,8}_[0-9a-z]{8,}\b|\d+")


@dataclass
class Group:
    """Failures of one kind and signature; of the first ones the calls are kept."""

    kind: str
    signature: str
    count: int = 0
    examples: list[dict[str, Any]] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "signature": self.signature, "count": self.count, "examples": self.examples}


class Findings:
    """The failures of a run. `told` hears of every one that is kept as an example."""

    def __init__(self, told: Callable[[dict[str, Any]], None] = lambda failure: None) -> None:
        self.groups: dict[tuple[str, str], Group] = {}
        self._told = told

    def add(self, kind: str, signature: str, *, call: str, detail: str = "", place: str = "") -> None:
        """Count a failure. `call` reproduces it, `place` says where in the run it was (seed, episode, input)."""
        key = kind, _NUMBERS.sub("#", signature)
        group = self.groups.setdefault(key, Group(*key))
        group.count += 1
        example = {"kind": kind, "signature": key[1], "call": call, "detail": detail[-3000:], "place": place}
        kept = len(group.examples) < EXAMPLES
        if kept:
            group.examples.append(example)
        self._told(example if kept else {"kind": kind, "signature": key[1]})

    def merge(self, failure: dict[str, Any]) -> None:
        """Take in one failure as `told` gave it."""
        key = failure["kind"], failure["signature"]
        group = self.groups.setdefault(key, Group(*key))
        group.count += 1
        if "call" in failure and len(group.examples) < EXAMPLES:
            group.examples.append(failure)

    def by_kind(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for group in self.groups.values():
            found[group.kind] = found.get(group.kind, 0) + group.count
        return found

    @property
    def total(self) -> int:
        return sum(group.count for group in self.groups.values())
