"""Laws as rows: what is judged, what it rests on, and the function that judges it; and how rows are played.

A service is judged by its `Rulebook`. A law makes what it needs on a `Bench`; what has to hold of every answer, however
it came about, is judged wherever an answer comes in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from simulator.conformance.bench import WITHOUT, Bench, Lacking, Need, Refused, finding
from simulator.conformance.rules import AssumedPoint, Finding, Rule, Tally
from simulator.conformance.service import Answer, NoAnswer, Unread
from simulator.conformance.world import ControlledWorld
from simulator.engine.clients.control import CallRefused
from simulator.kernel.dataclass import dataclass

Faults = Callable[[Answer], Iterator[tuple[str, str | None]]]
"""For each place that is judged in an answer: the place, and what is wrong there, or None."""


@dataclass(frozen=True)
class Law:
    """One rule that is played: the promise of a clause, or a guess by the name of a decision."""

    rule: Rule
    check: Callable[[Bench], None]
    needs: tuple[Need, ...] = ()


@dataclass(frozen=True)
class Always:
    """One rule that holds of every answer."""

    rule: Rule
    faults: Faults


def promise(name: str, clause: str, *needs: Need) -> Callable[[Callable[[Bench], None]], Law]:
    """Decorate the function that judges a clause. Its docstring is the one sentence that reports show."""
    return lambda check: Law(_rule(name, check, clause, promise=True), check, needs)


def guess(name: str, assumption: str, *needs: Need) -> Callable[[Callable[[Bench], None]], Law]:
    """Decorate the function that judges an assumption, by the name of the decision."""
    return lambda check: Law(_rule(name, check, assumption, promise=False), check, needs)


def always_promise(name: str, clause: str) -> Callable[[Faults], Always]:
    """Decorate the function that judges a clause in every answer."""
    return lambda faults: Always(_rule(name, faults, clause, promise=True), faults)


def always_guess(name: str, assumption: str) -> Callable[[Faults], Always]:
    """Decorate the function that judges an assumption in every answer."""
    return lambda faults: Always(_rule(name, faults, assumption, promise=False), faults)


def _rule(name: str, judge: object, basis: str, *, promise: bool) -> Rule:
    return Rule(name, " ".join((judge.__doc__ or "").split()), basis, promise)


@dataclass(frozen=True)
class RequestHooks:
    """What schemathesis does with its requests, so that the service can accept them."""

    before_call: Callable[[Any], None]
    """Change a request, a `schemathesis.Case`, before it is sent."""
    after_call: Callable[[Any, Any], None]
    """Remember an answer, `(case, response)`, to which later requests may refer."""


@dataclass(frozen=True)
class Rulebook:
    """All that a service is judged by, in the order of reports."""

    laws: tuple[Law, ...]
    always: tuple[Always, ...]
    provide: Callable[[ControlledWorld], None]
    """Give back to the account what an earlier law spent."""
    assumed: tuple[AssumedPoint, ...]
    """Points of promises that rest on assumptions."""
    beyond_schemas: str
    """Why the service may refuse what fits the contract, in a few words."""

    @property
    def rules(self) -> tuple[Rule, ...]:
        return (*(row.rule for row in self.laws), *(row.rule for row in self.always))


def play(
    bench: Bench, laws: Sequence[Law], provide: Callable[[ControlledWorld], None],
    told: Callable[[str], None] = lambda text: None,
) -> None:  # fmt: skip
    """Play the laws one after another; what one breaks off on is told and does not stop the next."""
    bench.tally.knows([row.rule for row in laws])
    for number, row in enumerate(laws, 1):
        rule = row.rule
        told(f"law {number} of {len(laws)}: {rule.name}")
        lacking = next((need for need in row.needs if not bench.has(need)), None)
        if lacking is not None:
            bench.tally.unjudged[rule.name] = WITHOUT[lacking]
            continue
        bench.rule, bench.answer = rule, None
        if bench.controlled:
            provide(bench.world)
        try:
            row.check(bench)
        except Refused as refused:
            bench.tally.unjudged[rule.name] = f"{refused}, so there was nothing to judge"
            if bench.controlled:
                # Where nothing but this run acts on the world, a valid request has no reason to be turned down.
                bench.tally.breaks(SETUP, finding(SETUP, refused.answer, "status", f"{refused}"))
        except Lacking as lacking_data:
            bench.tally.unjudged[rule.name] = str(lacking_data)
        except Unread as unread:
            if bench.tally.has_shape(unread.answer.operation, unread.place):
                bench.tally.unjudged[rule.name] = f"{unread} ({unread.answer.operation})"
            else:
                bench.tally.breaks(rule, finding(rule, unread.answer, unread.place, str(unread)))
        except NoAnswer as silent:
            bench.tally.breaks(rule, Finding(
                rule.name, str(silent).partition(":")[0], "connection", rule.basis, str(silent), "", None, ""
            ))  # fmt: skip
        except CallRefused as impossible:
            # What the service answered led to a step that its own world cannot make.
            if bench.answer is None:
                raise
            bench.tally.breaks(rule, finding(rule, bench.answer, "", f"what it says cannot be: {impossible}"))
        except (LookupError, TypeError, ValueError, ArithmeticError) as error:
            # A law reads what it was answered; what cannot be read is the answer's fault.
            if bench.answer is None:
                raise
            message = f"the answer cannot be read ({type(error).__name__}: {error})"
            bench.tally.breaks(rule, finding(rule, bench.answer, "", message))


SETUP = Rule(
    "setup.accepted", "A valid request is accepted in a world that nobody else moves.", "Endpoints", promise=True
)


def observe(always: Sequence[Always], tally: Tally, answer: Answer) -> None:
    """Judge one answer by what holds of all."""
    for row in always:
        rule = row.rule
        try:
            for place, fault in row.faults(answer):
                if fault is None:
                    tally.kept(rule)
                else:
                    tally.breaks(rule, finding(rule, answer, place, fault))
        except Unread as unread:
            if not tally.has_shape(answer.operation, unread.place):
                tally.breaks(rule, finding(rule, unread.answer, unread.place, str(unread)))
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError):
            # The shape is wrong, which is for the schema to say.
            continue
