"""The test bench for behaviour rules (`Law`): calls to the service, control of its world, and the tally of verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from decimal import Decimal
from functools import cached_property
from typing import Literal, TypeAlias
from uuid import uuid4

from simulator.conformance.rules import SHOWN_CHARACTERS, Finding, Rule, ShapeFault, Tally
from simulator.conformance.service import FRESH_KEY, Answer, MissingField, Service
from simulator.conformance.world import ControlledWorld
from simulator.engine.text.json import Shown

Need: TypeAlias = Literal["writes", "control", "environments", "hook"]
"""A precondition of a rule: permission to make calls that change data, a world that can be controlled, that world's
second environment, or a webhook URL.
"""

WITHOUT: dict[Need, str] = {
    "writes": "the run is read-only",
    "control": "this run cannot control the target's clock, outside events or webhooks",
    "environments": "the run has no key pair for the other environment",
    "hook": "there is no webhook URL. Set one that returns 200 with --webhook-url",
}


class SetupRefused(Exception):
    """The service refused a request that a rule needs before it can check anything."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(f"{answer.operation} returned {answer.short}")
        self.answer = answer


class MissingData(Exception):
    """The account does not contain the data that a rule needs."""


class Bench:
    """The environment in which behaviour rules check a service: the client, the controlled world and the verdicts.

    A rule creates the resources that it needs with `done`. If the service refuses such a call, the rule is not checked.
    A rule records verdicts with `equal`, `holds`, `refused` and similar methods.
    """

    def __init__(
        self, service: Service, tally: Tally, world: ControlledWorld | None, *, writes: bool, hook: str | None = None,
        event_faults: Callable[[str, str], Iterable[ShapeFault]] = lambda kind, raw: (),
    ) -> None:  # fmt: skip
        self.service, self.tally, self._world, self.writes, self._hook = service, tally, world, writes, hook
        self.event_faults = event_faults
        """Yields the contract violations in an event, given its type and its JSON."""
        self.rule: Rule
        self.answer: Answer | None = None

    @property
    def world(self) -> ControlledWorld:
        """The world under test, for rules that need `control`."""
        assert self._world is not None
        return self._world

    @property
    def controlled(self) -> bool:
        return self._world is not None

    def has(self, need: Need) -> bool:
        if need == "writes":
            return self.writes
        return self.controlled or (need == "hook" and self._hook is not None)

    @property
    def hook(self) -> str:
        """The URL of a receiver that returns 200, for rules that need `hook`."""
        return self._hook or self.world.inbox()

    @cached_property
    def other_environment(self) -> Service:
        """A client for the account's other environment (sandbox or production), for rules that test both."""
        return self.service.another(self.world.other_base(self.service.base_url), self.world.other_keys)

    def in_other_environment(self) -> Bench:
        """Return a copy of this test bench that calls the account's other environment (sandbox or production)."""
        other = copy(self)
        other.service = self.other_environment
        return other

    def close(self) -> None:
        if "other_environment" in vars(self):
            self.other_environment.close()
        self.service.close()

    def call(
        self, operation: str, body: object = None, *, query: Mapping[str, object] | None = None,
        key: str | None = None, token: str | None = None, path: Mapping[str, str] | None = None, **ids: str,
    ) -> Answer:  # fmt: skip
        return self.service.call(operation, body, query=query, key=key, token=token, path={**(path or {}), **ids})

    def done(
        self, operation: str, body: object = None, *, query: Mapping[str, object] | None = None,
        key: str | None = None, path: Mapping[str, str] | None = None, **ids: str,
    ) -> Answer:  # fmt: skip
        """Make a call that prepares a check. Raise `SetupRefused` if the call fails."""
        answer = self.call(operation, body, query=query, key=key, path={**(path or {}), **ids})
        if not answer.ok:
            raise SetupRefused(answer)
        return answer

    def total(self, operation: str, query: Mapping[str, object] | None = None, **ids: str) -> int:
        """Return the total number of items in a list, according to its pagination."""
        return int(self.done(operation, query={**(query or {}), "size": 1}, path=ids).number("pagination.total"))

    @staticmethod
    def fresh(word: str = "Conform") -> str:
        """Return a new string. It contains a capital letter, to detect a service that ignores case."""
        return f"{word}-{uuid4().hex[:12]}"

    def holds(
        self, held: bool, answer: Answer, message: str, place: str = "", *, after: tuple[Answer, ...] = ()
    ) -> bool:
        """Record one verdict, and return `held`. `after` contains the calls to repeat before the failing call to
        reproduce the fault.
        """
        if held:
            self.tally.kept(self.rule)
        else:
            self.tally.breaks(self.rule, finding(self.rule, answer, place, message, after))
        return held

    def equal(self, answer: Answer, place: str, wanted: object, *, after: tuple[Answer, ...] = ()) -> bool:
        """Check that the field at a path has the expected value. A missing field differs from every value."""
        got = read(answer, place)
        return self.holds(got == wanted, answer, f"{place} is {shown(got)}, not {shown(wanted)}", place, after=after)

    def amounts(self, answer: Answer, due: Mapping[str, Decimal | int], *, after: tuple[Answer, ...] = ()) -> None:
        """Check that the response has these amounts at these paths. The number of decimal places does not matter."""
        for place, wanted in due.items():
            got = answer.number(place)
            self.holds(got == wanted, answer, f"{place} is {got}, not {wanted}", place, after=after)

    def echoes(
        self, answer: Answer, body: Mapping[str, object], *names: str, after: tuple[Answer, ...] = ()
    ) -> None:  # fmt: skip
        """Check that fields in a response equal the fields in a request body. Without `names`, check all fields."""
        for name in names or body:
            self.equal(answer, name, body[name], after=after)

    def same(self, answer: Answer, other: Answer, *places: str) -> None:
        """Check that two responses agree at these paths. Without paths, compare all fields."""
        for place in places or sorted({*answer.body, *other.body}):
            wanted = other.body.get(place, ABSENT) if not places else other.at(place)
            got = answer.body.get(place, ABSENT) if not places else read(answer, place)
            message = f"{place} is {shown(got)}; {other.operation} returned {shown(wanted)}"
            self.holds(got == wanted, answer, message, place, after=(other,))

    def like(self, answer: Answer, row: Shown, full: Shown) -> None:
        """Check that a list item (`row`) has the same fields and values as the full resource."""
        for name in sorted({*row, *full}):
            got, wanted = row.get(name, ABSENT), full.get(name, ABSENT)
            message = f"{name} is {shown(got)} in the list, but {shown(wanted)} in the resource"
            self.holds(got == wanted, answer, message, name)

    def refused(
        self, answer: Answer, status: int, code: str | None = None, *, param: str | None = None,
        after: tuple[Answer, ...] = (),
    ) -> bool:  # fmt: skip
        """Check that a call was refused with this status, code and param."""
        wanted = f"{status} {code}" if code else str(status)
        held = answer.status == status and (code is None or answer.code == code)
        if not self.holds(held, answer, f"returns {answer.short}, not {wanted}", "status", after=after):
            return False
        message = f"param is {shown(answer.param)}, not {shown(param)}"
        return param is None or self.holds(answer.param == param, answer, message, "error.param", after=after)

    def accepted(self, answer: Answer, status: int | None = None, *, after: tuple[Answer, ...] = ()) -> bool:
        held = answer.ok if status is None else answer.status == status
        return self.holds(held, answer, f"returns {answer.short}, not {status or '2xx'}", "status", after=after)


ABSENT = "(absent)"


def read(answer: Answer, place: str) -> object:
    try:
        return answer.at(place)
    except MissingField:
        return ABSENT


def shown(value: object) -> str:
    return (ABSENT if value is ABSENT else repr(value))[:SHOWN_CHARACTERS]


def finding(rule: Rule, answer: Answer, place: str, message: str, after: tuple[Answer, ...] = ()) -> Finding:
    text = answer.raw.decode(errors="replace")[:SHOWN_CHARACTERS]
    lines = "\n".join(_lines([*after, answer]))
    return Finding(rule.name, answer.operation, place, rule.basis, message, lines, answer.status, text)


LEAST_ID = 8
"""The minimum length of an id. Shorter strings may occur in a request by chance."""


def _lines(calls: Sequence[Answer]) -> Iterator[str]:
    """Yield shell commands that repeat calls. Variables replace Idempotency-Keys and ids of created resources."""
    variables: dict[str, str] = {}
    keys = [key for one in calls if (key := one.sent.headers.get("Idempotency-Key"))]
    for key in dict.fromkeys(keys) if len(calls) > 1 else ():
        variables[key] = f"KEY{len(variables) + 1}"
        yield f"{variables[key]}={FRESH_KEY}-{len(variables)}"
    for number, one in enumerate(calls, 1):
        line, made = one.sent.curl(variables), str(one.body.get("id", ""))
        new = one.sent.method == "POST" and len(made) >= LEAST_ID and made not in variables
        if new and any(later.sent.names(made) for later in calls[number:]):
            variables[made] = f"ID{number}"
            line = f"{variables[made]}=$({line.replace(' -i ', ' ', 1)} | {_READ_ID})"
        yield line


_READ_ID = """python3 -c 'import json, sys; print(json.load(sys.stdin)["id"])'"""
