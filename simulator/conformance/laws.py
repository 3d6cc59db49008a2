"""Behaviour rules (laws) as data, and the code that runs them. A service is checked with its `Rulebook`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import partial
from types import ModuleType
from typing import Any, TypeAlias

from simulator.conformance.bench import WITHOUT, Bench, MissingData, Need, SetupRefused, finding
from simulator.conformance.rules import AssumedPoint, Finding, Rule, Tally
from simulator.conformance.service import Answer, MissingField, NoAnswer
from simulator.conformance.world import ControlledWorld
from simulator.engine.clients.control import CallRefused
from simulator.engine.lazy import names_in
from simulator.engine.text.json import JsonObject
from simulator.engine.text.progress import SILENT, ProgressListener
from simulator.kernel.dataclass import dataclass

Checked: TypeAlias = Iterator[tuple[str, str | None]]
"""Yields each path that is checked in a response, with the fault found there or None."""


@dataclass(frozen=True)
class Law:
    """A behaviour rule that is checked with its own calls. It creates the resources that it needs on a `Bench`."""

    rule: Rule
    check: Callable[[Bench], None]
    needs: tuple[Need, ...] = ()


@dataclass(frozen=True)
class Always:
    """A rule that applies to every response."""

    rule: Rule
    faults: Callable[[Answer], Checked]


def _law(name: str, basis: str, *needs: Need, promise: bool) -> Callable[[Callable[[Bench], None]], Law]:
    return lambda check: Law(Rule(name, _title(check), basis, promise), check, needs)


def _always(name: str, basis: str, *, promise: bool) -> Callable[[Callable[[Answer], Checked]], Always]:
    return lambda faults: Always(Rule(name, _title(faults), basis, promise), faults)


def _title(judge: object) -> str:
    return " ".join((judge.__doc__ or "").split())


promise, guess = partial(_law, promise=True), partial(_law, promise=False)
"""Decorators for a function that checks a clause of the specification (`promise`), or an assumption (`guess`, with the
id of the decision). The function's docstring becomes the rule's title in reports.
"""
always_promise, always_guess = partial(_always, promise=True), partial(_always, promise=False)
"""Decorators for a function that checks every response."""


@dataclass(frozen=True)
class Refusal:
    """A request that the service must refuse, and the error that it must return."""

    error: str
    """The status and the code: `422 unsupported_pair`."""
    operation: str
    body: JsonObject | None = None
    """A valid body."""
    change: Mapping[str, object] = field(default_factory=dict)
    """The values that make the body invalid, by dotted path. The value None removes the field."""
    query: Mapping[str, object] | None = None
    path: Mapping[str, str] | None = None
    param: str | None = None
    """The field that the error's `param` must name, if the specification requires it."""

    def judge(self, bench: Bench) -> None:
        body = self.body
        for place, value in self.change.items():
            body = changed(body or {}, place, value)
        status, _, code = self.error.partition(" ")
        answer = bench.call(self.operation, body, query=self.query, path=self.path)
        bench.refused(answer, int(status), code, param=self.param)


def refusals(
    name: str, basis: str, title: str, *rows: Refusal, needs: tuple[Need, ...] = ("writes",), promise: bool = True
) -> Law:
    """Return a rule that requires the service to refuse all these requests."""

    def check(bench: Bench) -> None:
        for row in rows:
            row.judge(bench)

    return Law(Rule(name, title, basis, promise), check, needs)


def changed(body: JsonObject, place: str, value: object) -> JsonObject:
    """Return a body with a different value at a dotted path, or without that field if the value is None."""
    name, _, inner = place.partition(".")
    if inner:
        return {**body, name: changed(body[name], inner, value)}
    return {key: member for key, member in {**body, name: value}.items() if key != name or value is not None}


@dataclass(frozen=True)
class RequestHooks:
    """Changes that make schemathesis' requests acceptable to the service."""

    before_call: Callable[[Any], None]
    """Change a request, a `schemathesis.Case`, before it is sent."""
    after_call: Callable[[Any, Any], None]
    """Save a response, `(case, response)`, for later requests that refer to it."""


@dataclass(frozen=True)
class Rulebook:
    """All rules for one service, in the order used in reports."""

    laws: tuple[Law, ...]
    always: tuple[Always, ...]
    provide: Callable[[ControlledWorld], None]
    """Refills the account before each rule."""
    assumed: tuple[AssumedPoint, ...]
    """The points at which a specified rule depends on an assumption."""
    beyond_schemas: str
    """A short phrase with the reasons why the service may refuse a request that matches the contract."""

    @classmethod
    def of(
        cls,
        modules: Iterable[ModuleType],
        provide: Callable[[ControlledWorld], None],
        assumed: tuple[AssumedPoint, ...],
        beyond_schemas: str,
    ) -> Rulebook:
        """Return a rulebook with the rules that these modules define, in the order of their definition."""
        rows = [row for module in modules for row in names_in(module).values()]
        laws = tuple(row for row in rows if isinstance(row, Law))
        return cls(laws, tuple(row for row in rows if isinstance(row, Always)), provide, assumed, beyond_schemas)

    @property
    def rules(self) -> tuple[Rule, ...]:
        return (*(row.rule for row in self.laws), *(row.rule for row in self.always))


def play(
    bench: Bench, laws: Sequence[Law], provide: Callable[[ControlledWorld], None],
    listener: ProgressListener[None] = SILENT,
) -> None:  # fmt: skip
    """Check the behaviour rules in order. Record each failure, and continue with the next rule."""
    bench.tally.knows([row.rule for row in laws])
    for number, row in enumerate(laws, 1):
        rule = row.rule
        listener.running(f"rule {number} of {len(laws)}: {rule.name}")
        lacking = next((need for need in row.needs if not bench.has(need)), None)
        if lacking is not None:
            bench.tally.unjudged[rule.name] = WITHOUT[lacking]
            continue
        bench.rule, bench.answer = rule, None
        if bench.controlled:
            provide(bench.world)
        try:
            row.check(bench)
        except SetupRefused as refused:
            bench.tally.unjudged[rule.name] = f"{refused}, so there was nothing to check"
            if bench.controlled:
                # Only this run changes a controlled world, so the service has no reason to refuse a valid request.
                bench.tally.breaks(SETUP, finding(SETUP, refused.answer, "status", f"{refused}"))
        except MissingData as missing:
            bench.tally.unjudged[rule.name] = str(missing)
        except MissingField as missing:
            if bench.tally.has_shape(missing.answer.operation, missing.place):
                bench.tally.unjudged[rule.name] = f"{missing} ({missing.answer.operation})"
            else:
                bench.tally.breaks(rule, finding(rule, missing.answer, missing.place, str(missing)))
        except NoAnswer as silent:
            operation, why = str(silent).partition(":")[0], str(silent)
            bench.tally.breaks(rule, Finding(rule.name, operation, "connection", rule.basis, why, "", None, ""))
        except (CallRefused, LookupError, TypeError, ValueError, ArithmeticError) as error:
            # Rules read responses. If a response cannot be read, or if it led to an action that is illegal in the
            # service's world, the service is at fault.
            if bench.answer is None:
                raise
            message = f"the response cannot be read ({type(error).__name__}: {error})"
            if isinstance(error, CallRefused):
                message = f"the response does not match the state of the world: {error}"
            bench.tally.breaks(rule, finding(rule, bench.answer, "", message))


SETUP = Rule(
    "setup.accepted", "A valid request is accepted in a world that only this run changes.", "Endpoints", promise=True
)


def observe(always: Sequence[Always], tally: Tally, answer: Answer) -> None:
    """Check one response against the rules that apply to all responses."""
    for row in always:
        rule = row.rule
        try:
            for place, fault in row.faults(answer):
                if fault is None:
                    tally.kept(rule)
                else:
                    tally.breaks(rule, finding(rule, answer, place, fault))
        except MissingField as missing:
            if not tally.has_shape(answer.operation, missing.place):
                tally.breaks(rule, finding(rule, missing.answer, missing.place, str(missing)))
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError):
            # The shape is wrong. The schema check reports this.
            continue
