"""What a rule answers a request with, in place of the interface."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.scenario.schema import Rule
from simulator.wire.errors import CATALOGUE


@dataclass(frozen=True)
class Answer:
    """What a rule answers a request with; `place` is the rule's file and line."""

    status: int
    code: str
    message: str
    param: str | None
    place: str


def answer_of(name: str, rule: Rule, place: str) -> Answer | None:
    """The answer of a rule of a scenario; None when it lets the call pass."""
    if rule.answer is None:
        return None
    row = CATALOGUE[rule.answer.code]
    message = rule.answer.message or f"{row.cause[:1].upper()}{row.cause[1:]} (scenario {name}, {place})."
    return Answer(rule.answer.status or row.status, row.code, message, rule.answer.param, place)
