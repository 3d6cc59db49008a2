"""What of a scenario is carried out, made of a document that was judged valid: its rules, timeline and world.

`schema` is the language, which judges documents; nothing here does, so that a server which plays scenarios needs no
models of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from simulator.engine.text.json import JsonObject
from simulator.kernel.clock import parse_duration
from simulator.kernel.dataclass import dataclass

CREATED = "created"
REQUEST = "request"


@dataclass(frozen=True, slots=True)
class Span:
    """A duration in milliseconds, or a pair of bounds between which chance decides."""

    low_ms: int = 0
    high_ms: int = 0


def span_of(value: object) -> Span:
    """A span as it is written; ValueError."""
    if not isinstance(value, dict):
        span_ms = parse_duration(value)
        return Span(span_ms, span_ms)
    bounds = value.get("between")
    if set(value) != {"between"} or not isinstance(bounds, list) or len(bounds) != 2:
        raise ValueError("write a duration (20s) or {between: [20s, 60s]}")
    low_ms, high_ms = (parse_duration(bound) for bound in bounds)
    if low_ms > high_ms:
        raise ValueError("the first bound of `between` must not exceed the second")
    return Span(low_ms, high_ms)


@dataclass(frozen=True, slots=True)
class Step:
    """An action with its parameters, or a hand-over to another scenario.

    `delay` counts from the step before; in a timeline from the moment at which the scenario became active.
    """

    delay: Span
    action: str | None
    scenario: str | None
    target: str | None
    environment: str | None
    parameters: JsonObject

    @classmethod
    def of(cls, given: JsonObject, delay: str) -> Step:
        named = {name: given.get(name) for name in ("action", "scenario", "target", "environment")}
        parameters = {name: value for name, value in given.items() if name != delay and name not in named}
        return cls(span_of(given[delay]) if delay in given else Span(), **named, parameters=parameters)


@dataclass(frozen=True, slots=True)
class AnswerInstead:
    """What a request is answered with; the status is the catalogue's unless another is given."""

    code: str
    status: int | None = None
    message: str | None = None
    param: str | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """A reaction: when one of these happens and everything in `where` holds, do these steps, or answer."""

    events: tuple[str, ...]
    where: Mapping[str, object]
    times: int | None
    probability: float | None
    do: tuple[Step, ...]
    answer: AnswerInstead | None

    @classmethod
    def of(cls, given: JsonObject) -> Rule:
        on, answer = given["on"], given.get("answer")
        return cls(
            events=(on,) if isinstance(on, str) else tuple(on),
            where=given.get("where", {}),
            times=given.get("times"),
            probability=given.get("probability"),
            do=tuple(Step.of(step, "after") for step in given.get("do") or ()),
            answer=None if answer is None else AnswerInstead(**answer),
        )


@dataclass(frozen=True, slots=True)
class Script:
    """A scenario as it is carried out.

    `world` has what is set up when it becomes active, by the members that actions declare (`Initial`).
    """

    rules: tuple[Rule, ...]
    timeline: tuple[Step, ...]
    world: Mapping[str, JsonObject | list[JsonObject] | None]
    faults: tuple[JsonObject, ...]
    slowdown: Mapping[str, float]

    @classmethod
    def of(cls, document: JsonObject) -> Script:
        return cls(
            rules=tuple(Rule.of(rule) for rule in document.get("rules", ())),
            timeline=tuple(Step.of(step, "at") for step in document.get("timeline", ())),
            world=document.get("world", {}),
            faults=tuple(document.get("faults") or ()),
            slowdown={status: float(factor) for status, factor in document.get("slowdown", {}).items()},
        )
