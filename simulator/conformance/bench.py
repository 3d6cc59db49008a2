"""What a law plays with: the service, the means there are to move its world, and the tally of what held.

A law makes what it needs with `done`, which gives up on the law where the service refuses, and judges with `equal`,
`holds` and `refused`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Literal, TypeAlias
from uuid import uuid4

from simulator.conformance.rules import SHOWN_CHARACTERS, Finding, Rule, Tally
from simulator.conformance.service import FRESH_KEY, Answer, Service, Unread
from simulator.conformance.world import ControlledWorld
from simulator.engine.text.json import Shown

Need: TypeAlias = Literal["writes", "control", "environments", "hook"]
"""What a law cannot do without: calls that change something; a world that can be steered; its second
environment; a URL that webhooks can be sent to."""

WITHOUT: dict[Need, str] = {
    "writes": "the run only reads",
    "control": "the target's clock, weather and webhooks are not in this run's hands",
    "environments": "the run has no key pair of the other environment",
    "hook": "there is no URL for webhooks: give one that answers 200 with --webhook-url",
}


EventFaults: TypeAlias = Callable[[str, str], Iterable[tuple[str, str, bool]]]


class Refused(Exception):
    """The service did not accept what a law needs before it can judge anything."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(f"{answer.operation} answered {answer.short}")
        self.answer = answer


class Lacking(Exception):
    """The account has not what a law has to look at; the text says what."""


class Bench:
    """One run of the laws against one service."""

    def __init__(
        self, service: Service, tally: Tally, world: ControlledWorld | None, *, writes: bool, hook: str | None = None,
        event_faults: EventFaults = lambda kind, raw: (),
    ) -> None:  # fmt: skip
        self.service, self.tally, self._world, self.writes, self._hook = service, tally, world, writes, hook
        self.event_faults = event_faults
        """What the contract says of an event: the place, what is wrong there, and whether that was promised."""
        self.rule: Rule
        self.answer: Answer | None = None

    def heard(self, answer: Answer) -> None:
        self.answer = answer

    @property
    def world(self) -> ControlledWorld:
        """The world under test; only laws that need `control` may ask for it."""
        assert self._world is not None
        return self._world

    @property
    def controlled(self) -> bool:
        return self._world is not None

    def has(self, need: Need) -> bool:
        if need == "writes":
            return self.writes
        if need == "hook":
            return self._world is not None or self._hook is not None
        return self._world is not None

    @property
    def hook(self) -> str:
        """A URL that answers 200 to webhooks; only laws that need `hook` may ask for it."""
        return self._hook or self.world.inbox()

    @cached_property
    def other_environment(self) -> Service:
        """The service's other environment, with its own keys; only laws that need `environments` may ask for it."""
        return self.service.another(self.world.other_base(self.service.base_url), self.world.other_keys)

    def in_other_environment(self) -> Bench:
        """Return a bench whose calls go to the other environment."""
        other = copy(self)
        other.service = self.other_environment
        return other

    def close(self) -> None:
        if "other_environment" in vars(self):
            self.other_environment.close()
        self.service.close()

    # Calls.

    def call(
        self, operation: str, body: object = None, *, query: Mapping[str, object] | None = None,
        key: str | None = None, token: str | None = None, path: Mapping[str, str] | None = None, **ids: str,
    ) -> Answer:  # fmt: skip
        return self.service.call(operation, body, query=query, key=key, token=token, path={**(path or {}), **ids})

    def done(
        self, operation: str, body: object = None, *, query: Mapping[str, object] | None = None,
        key: str | None = None, path: Mapping[str, str] | None = None, **ids: str,
    ) -> Answer:  # fmt: skip
        """A call that has to succeed before anything can be judged. Refused."""
        answer = self.call(operation, body, query=query, key=key, path={**(path or {}), **ids})
        if not answer.ok:
            raise Refused(answer)
        return answer

    def total(self, operation: str, query: Mapping[str, object] | None = None, **ids: str) -> int:
        """How many rows a list has by its own count."""
        return int(self.done(operation, query={**(query or {}), "size": 1}, path=ids).number("pagination.total"))

    @staticmethod
    def fresh(word: str = "Conform") -> str:
        """Return a text that is new to the account. It has a capital, so a service that folds case shows."""
        return f"{word}-{uuid4().hex[:12]}"

    # Judging.

    def holds(
        self, held: bool, answer: Answer, message: str, place: str = "", *, after: tuple[Answer, ...] = ()
    ) -> bool:
        """Judge once. `after` are the calls that have to be sent before the one at fault."""
        if held:
            self.tally.kept(self.rule)
        else:
            self.tally.breaks(self.rule, finding(self.rule, answer, place, message, after))
        return held

    def equal(self, answer: Answer, place: str, wanted: object, *, after: tuple[Answer, ...] = ()) -> bool:
        """The member at a place is this; a member that is absent is another."""
        try:
            got = answer.at(place)
        except Unread:
            got = ABSENT
        message = f"{place} is {shown(got)}, not {shown(wanted)}"
        return self.holds(got == wanted, answer, message, place, after=after)

    def same(self, answer: Answer, other: Answer, *places: str) -> None:
        """The members at these places are what another answer had there; without places, all of both."""
        for place in places or sorted({*answer.body, *other.body}):
            wanted = other.body.get(place, ABSENT) if not places else other.at(place)
            got = answer.body.get(place, ABSENT) if not places else read(answer, place)
            self.holds(
                got == wanted, answer, f"{place} is {shown(got)}; {other.operation} answered {shown(wanted)}", place,
                after=(other,),
            )  # fmt: skip

    def like(self, answer: Answer, row: Shown, full: Shown, *, but: tuple[str, ...] = ()) -> None:
        """A row shown in one place has the same members as the resource shown in another."""
        for name in sorted({*row, *full} - {*but}):
            got, wanted = row.get(name, ABSENT), full.get(name, ABSENT)
            self.holds(got == wanted, answer, f"{name} is {shown(got)} here and {shown(wanted)} there", name)

    def refused(
        self, answer: Answer, status: int, code: str | None = None, *, param: str | None = None,
        after: tuple[Answer, ...] = (),
    ) -> bool:  # fmt: skip
        """The call was turned down in just this way."""
        wanted = f"{status} {code}" if code else str(status)
        held = answer.status == status and (code is None or answer.code == code)
        if not self.holds(held, answer, f"answers {answer.short}, not {wanted}", "status", after=after):
            return False
        if param is not None:
            message = f"param is {shown(answer.param)}, not {shown(param)}"
            return self.holds(answer.param == param, answer, message, "error.param", after=after)
        return True

    def refuses(
        self, status: int, code: str | None, operation: str, body: object = None, *, param: str | None = None,
        query: Mapping[str, object] | None = None, path: Mapping[str, str] | None = None,
        after: tuple[Answer, ...] = (), **ids: str,
    ) -> Answer:  # fmt: skip
        """Make a call that has to be turned down in just this way."""
        answer = self.call(operation, body, query=query, path=path, **ids)
        self.refused(answer, status, code, param=param, after=after)
        return answer

    def accepted(self, answer: Answer, status: int | None = None, *, after: tuple[Answer, ...] = ()) -> bool:
        held = answer.ok if status is None else answer.status == status
        return self.holds(held, answer, f"answers {answer.short}, not {status or '2xx'}", "status", after=after)


ABSENT = "(absent)"


def read(answer: Answer, place: str) -> object:
    try:
        return answer.at(place)
    except Unread:
        return ABSENT


def shown(value: object) -> str:
    text = value if value is ABSENT else repr(value)
    return str(text)[:SHOWN_CHARACTERS]


def finding(rule: Rule, answer: Answer, place: str, message: str, after: tuple[Answer, ...] = ()) -> Finding:
    text = answer.raw.decode(errors="replace")[:SHOWN_CHARACTERS]
    lines = "\n".join(_lines([*after, answer]))
    return Finding(rule.name, answer.operation, place, rule.basis, message, lines, answer.status, text)


LEAST_ID = 8
"""A shorter id may stand by chance in what is no id."""


def _lines(calls: Sequence[Answer]) -> Iterator[str]:
    """The lines of a shell that repeat calls which belong together: the keys they share, and the ids they hand on."""
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
