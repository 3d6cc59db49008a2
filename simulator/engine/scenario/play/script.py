"""The executable form of a valid document, with which a server can play it without the models in `schema`."""

from __future__ import annotations

from collections.abc import Mapping

from simulator.engine.text.json import JsonObject
from simulator.kernel.clock import parse_duration
from simulator.kernel.dataclass import dataclass

CREATED = "created"
REQUEST = "request"


@dataclass(frozen=True, slots=True)
class Span:
    """A fixed duration, or a random duration between two bounds."""

    low_ms: int = 0
    high_ms: int = 0


def span_of(value: object) -> Span:
    """Convert a duration or `{between: […]}` in a scenario file to a span. Raise `ValueError` for any other value."""
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
    """An action with its parameters, or a handover to another scenario."""

    delay: Span
    """The delay after the previous step or, in a timeline, after the scenario is activated."""
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
    """The error response that a rule returns to a request, by default with the usual status of the error code."""

    code: str
    status: int | None = None
    message: str | None = None
    param: str | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """If one of the events occurs and all tests in `where` pass, the rule plans steps or returns an error."""

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
    """The executable parts of a scenario."""

    rules: tuple[Rule, ...]
    timeline: tuple[Step, ...]
    world: Mapping[str, JsonObject | list[JsonObject] | None]
    """The initial state, by field of `world`. Actions declare these fields (see `Initial`)."""
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
