"""Faults: what can be asked for, and what is wrong with it (`in_force` has those that act).

Control interface, chapter "Faults". Calls and scenario files ask the same checks. A member stands here, in its model,
in the row of `in_force`, and in the place that acts on it: `server/faults` for calls, the webhooks room or the courier
for deliveries, `surprises` for what is in the bodies of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from simulator.engine.faults import mutations as surprises
from simulator.engine.rows.operation import Operation
from simulator.engine.rows.vocabulary import Vocabulary
from simulator.engine.text.fields import Body, FreeText, Text, Wrong, parse, refusal_of, wrong
from simulator.engine.text.globs import can_match, meant_path
from simulator.engine.text.json import JsonObject
from simulator.engine.text.shapes import Meanings
from simulator.engine.text.strict import did_you_mean, members, refuse_names, refuse_unknown
from simulator.kernel.clock import MINUTE_MS, format_duration, parse_duration

LONGEST_DELAY_MS = 10 * MINUTE_MS
LONGEST_SLOWNESS_MS = MINUTE_MS
"""Of interface calls, and of deliveries: both are wall time."""


MALFORMED_MEANINGS = {
    "truncate": "The body is cut in half.",
    "garbage": "The body is no JSON.",
}


class Match(Body):
    """Which calls: all that are named must fit."""

    method: Text | None = None
    """Only calls by this method."""
    path: Annotated[Text, Field(max_length=500)] | None = None
    """Only calls to paths that fit this glob, below the base: `/quotes/*/confirm`."""
    public_key: Text | None = None
    """Only calls of this key pair."""


class Respond(Body):
    """The error envelope that is answered instead of the true answer."""

    status: Annotated[int, Field(ge=200, le=599)]
    """The status to answer."""
    code: Text
    """The code in the error envelope; any one."""
    message: FreeText | None = None
    """The message in the error envelope."""
    retry_after: Annotated[int, Field(ge=0)] | None = None
    """Seconds for the header Retry-After."""


Chosen: TypeAlias = bool | Annotated[Text, Field(max_length=200)]
"""A dotted path, or true: the simulator chooses."""


class Surprising(Body):
    """What nobody expects of a body, though the contract allows it. Paths are dotted: `status`, `data.0.status`.

    `*` in a path stands for every item of a list.
    """

    unknown_enum: Chosen | None = None
    """Puts a word that nobody knows where a fixed list of words is: at this path, or else at `status` or the like."""
    extra_field: Chosen | None = None
    """Adds a member of this name or path, with true `added_later` to every object of the body."""
    missing_field: Chosen | None = None
    """Leaves out the member at this path, one that may be absent or null; with true the first that is there."""


class Happening(Body):
    """What happens in the outside world just before a call is dealt with."""

    action: Text
    """The action, one that needs no target: `set_balance`, `move_rates`, `set_kyc`, …"""
    parameters: dict[str, str | float | bool] = Field(default_factory=dict)
    """Its parameters."""


class CallMembers(Surprising):
    """What a fault of API calls does, and how often."""

    respond: Respond | None = None
    """The error to return instead of the true response."""
    delay: Text | float | None = None
    """How long to hold the call back: wall time such as `2s`, at most 10 minutes; a number means seconds."""
    answer_delay: Text | float | None = None
    """How long to hold the response back once the work is done: wall time, as in `delay`."""
    act: Happening | None = None
    """An outside event just before the call is handled; if it is refused, the call does not count as a hit."""
    drop: bool = False
    """Whether to cut the connection; no work is done then."""
    malformed: Annotated[Literal["truncate", "garbage"], Meanings(MALFORMED_MEANINGS)] | None = None
    """How to corrupt the body of the response."""
    after_commit: bool = False
    """Whether to do the work and store its true response first; then it is replaced, or lost with `drop`."""
    first_per_key: Annotated[int, Field(ge=1, le=1000)] | None = None
    """How many calls under each Idempotency-Key it acts on; a call without a key is let through."""
    key_forgotten: bool = False
    """Whether the response stored for the call's Idempotency-Key is deleted first, so that the work is done again.

    It acts only on a call under a key that has a stored response.
    """
    skip: Annotated[int, Field(ge=0)] | None = None
    """How many matching calls are let through first: 2 for the third."""
    times: Annotated[int, Field(ge=1)] | None = None
    """How many calls it acts on; without a limit if left out."""
    probability: Annotated[float, Field(ge=0, le=1)] | None = None
    """The probability that it acts on a matching call, from 0 to 1; drawn from the world's seed."""


class InterfaceFault(CallMembers):
    """A fault of interface calls: the first one that matches acts, after authentication, on the call."""

    match: Match
    """Which calls: all that is named must fit."""


_MODIFIERS = ("after_commit", "first_per_key", "skip", "times", "probability")
EFFECTS = (*(name for name in CallMembers.__annotations__ if name not in _MODIFIERS), *Surprising.model_fields)
"""The fields of which a fault of calls has at least one."""


class WebhookMatch(Body):
    """Which deliveries."""

    event: Text | None = None
    """Only deliveries of this event type."""
    endpoint_id: Text | None = None
    """Only deliveries to this endpoint."""


class Deliver(Surprising):
    """What happens to a delivery."""

    copies: Annotated[int, Field(ge=1, le=100)] | None = None
    """How often it is sent in all."""
    delay: Text | float | None = None
    """How long it is held back: simulated time such as `2s`; a number means seconds."""
    reorder: bool = False
    """Whether it is held until the next first attempt to the endpoint has been answered.

    One that is held itself does not count; one that went during its own `delay` does.
    """
    hold: Literal["terminal"] | Annotated[int, Field(ge=1, le=1000)] | None = None
    """Until when it is held: a number, of further first attempts that the endpoint has answered (`reorder`: 1).

    `terminal`: until the endpoint has acknowledged the event that tells of the end of its object (completed, failed,
    expired); events that tell of an end are not held, nor those of objects that have none. What is held goes when the
    fault ends.
    """
    before_answer: bool = False
    """Whether it is delivered, and answered, before the answer of the interface call that causes it goes out.

    It acts only on the first attempts of events that an interface call itself causes.
    """
    two_at_once: bool = False
    """Whether it is sent twice at the same time; the second attempt is not retried."""
    acknowledgement_lost: bool = False
    """Whether the receiver's 2xx is lost, so that the attempt fails and is retried."""
    unknown_type: Chosen | None = None
    """Gives it a type that is not in the catalogue, in place of its own: this one, or with true a new one.

    What is sent is signed like that; the event itself stays as it is.
    """
    drop: bool = False
    """Whether it is lost, without a retry."""
    corrupt_signature: bool = False
    """Whether X-Signature is made wrong."""
    stale_timestamp: bool = False
    """Whether X-Timestamp is 10 minutes old, and signed like that."""
    alter_body: bool = False
    """Whether the body differs from what was signed."""
    slow: Text | float | None = None
    """How long to wait before it is sent: wall time, at most one minute."""


TOLD = frozenset((*EFFECTS, "after_commit", *Deliver.model_fields))
"""The members, of faults of both kinds, that say what a fault does."""
OF_FIRST_ATTEMPTS = ("reorder", "hold", "before_answer")
"""Members that set the order of first attempts; a resend is none."""
OF_NEW_NAMES = ("unknown_enum", "extra_field", "unknown_type")
"""Members that put a name into a body that nobody knows."""
_APART = {"before_answer": ("delay", "reorder", "hold", "drop"), "two_at_once": ("copies",), "reorder": ("hold",)}
"""Members of a delivery that contradict each other."""


class WebhookFault(Body):
    """A fault of webhook deliveries. It acts on first attempts, retries and resends while it is in force."""

    webhook: WebhookMatch
    """Which deliveries."""
    deliver: Deliver
    """What happens to them."""
    skip: Annotated[int, Field(ge=0)] | None = None
    """How many matching attempts are let through first: 2 for the third."""
    times: Annotated[int, Field(ge=1)] | None = None
    """How many attempts it acts on; without a limit if left out."""
    probability: Annotated[float, Field(ge=0, le=1)] | None = None
    """The probability that it acts on a matching attempt, from 0 to 1; drawn from the world's seed."""


Fault: TypeAlias = InterfaceFault | WebhookFault


def check_fault(raw: JsonObject, vocabulary: Vocabulary | None) -> Fault:
    """A fault that may be put in force; ApiError 400 with dotted `param` when it is malformed.

    With `vocabulary` also when no call or event of it can match it.
    """
    model: type[Fault] = WebhookFault if "webhook" in raw or "deliver" in raw else InterfaceFault
    if not raw.keys() & {"match", "webhook", "deliver"}:  # which of the two is meant may be the slip
        refuse_names(raw, dict.fromkeys((*members(InterfaceFault), *members(WebhookFault))))
    refuse_unknown(model, raw)
    fault = parse(model, raw, code="invalid_parameter")
    found = list(wrongs_of_fault(fault, vocabulary))
    if found:
        raise refusal_of(found)
    return fault


def wrong_event(event: str | None, known: Iterable[str]) -> Iterator[Wrong]:
    """What is wrong with the event of a fault of deliveries, None for all events."""
    if event is not None and event not in known:
        yield wrong("webhook.event", f"there is no event type {event!r}{did_you_mean(event, known)}")


def wrongs_of_fault(fault: Fault, vocabulary: Vocabulary | None) -> Iterator[Wrong]:
    """What is wrong with a fault beyond the shape of its members; with `vocabulary` also that no call can meet it.

    A fault that does nothing is wrong at `respond` or `deliver`.
    """
    if isinstance(fault, WebhookFault):
        event = fault.webhook.event
        known = {} if vocabulary is None else vocabulary.events
        if vocabulary is not None:
            yield from wrong_event(event, known)
        yield from _wrong_delivery(fault.deliver)
        if vocabulary is not None and event in (None, *known):
            events = known if event is None else (event,)
            bodies = (surprises.places_of_event(vocabulary, one) for one in events)
            yield from _wrong_surprise(vocabulary, fault.deliver, bodies, "deliver.")
        if vocabulary is not None and fault.deliver.hold == "terminal" and event is not None and event in known:
            last = vocabulary.ends_after(event)
            if not last:
                yield wrong("deliver.hold", f"no event tells of a later end of what {event} is about")
        return
    given = {name: value for name in ("delay", "answer_delay") if (value := getattr(fault, name)) is not None}
    wrong_delay = [one for name, value in given.items() for one in _wrong_delay(value, name, LONGEST_DELAY_MS)]
    yield from wrong_delay
    delays = not wrong_delay and any(parse_duration(value) > 0 for value in given.values())
    others = (getattr(fault, name) not in (None, False) for name in EFFECTS if name not in ("delay", "answer_delay"))
    if not delays and not wrong_delay and not any(others):
        yield wrong(EFFECTS[0], f"a fault has at least one of {', '.join(EFFECTS)}")
    elif fault.after_commit and fault.respond is None and not fault.drop:
        yield wrong("respond", "after_commit replaces the answer by respond, or loses it with drop")
    asked = [name for name in Surprising.model_fields if getattr(fault, name)]
    if asked and (fault.respond is not None or fault.drop):
        yield wrong(
            "respond" if fault.respond is not None else "drop",
            f"it does not go together with {', '.join(asked)}: these change the true answer",
        )
    if vocabulary is not None and fault.act is not None and fault.act.action not in vocabulary.actions.of_world:
        name = fault.act.action
        yield wrong(
            "act.action", f"no action of the world is called {name!r}{did_you_mean(name, vocabulary.actions.of_world)}"
        )
    if vocabulary is not None:
        unmet = list(_wrong_match(fault.match, vocabulary.operations))
        yield from unmet
        if not unmet:
            yield from _wrong_for(vocabulary, fault, list(_met(fault.match, vocabulary.operations)))


def _wrong_for(vocabulary: Vocabulary, fault: InterfaceFault, operations: list[Operation]) -> Iterator[Wrong]:
    """What a fault wants of calls or answers and none of these operations has."""
    answers = [row.answer() for row in operations if row.answer is not None]
    yield from _wrong_surprise(vocabulary, fault, (surprises.places_of(vocabulary, one) for one in answers))
    for name in ("first_per_key", "key_forgotten"):
        if getattr(fault, name) and not any(row.takes_key for row in operations):
            yield wrong(name, "no call that fits takes an Idempotency-Key")


def _wrong_surprise(
    vocabulary: Vocabulary, given: Surprising, bodies: Iterable[surprises.Places], within: str = ""
) -> Iterator[Wrong]:
    surprise = surprises.Surprise.of(given)
    if surprise is None:
        return
    if surprise.unknown_type in vocabulary.events:
        yield wrong(f"{within}unknown_type", f"{surprise.unknown_type} is a type that there is")
    for name, why in surprises.impossible(bodies, surprise):
        yield wrong(within + name, why)


def _met(match: Match, operations: Iterable[Operation]) -> Iterator[Operation]:
    """The operations that a call which fits can mean."""
    method = None if match.method is None else match.method.upper().replace("HEAD", "GET")
    for row in operations:
        if method in (None, row.method) and (match.path is None or can_match(match.path, row.path)):
            yield row


def _wrong_delivery(deliver: Deliver) -> Iterator[Wrong]:
    """Durations that are none, members that do not go together, and no effect at all."""
    durations = [
        *_wrong_delay(deliver.delay, "deliver.delay"),
        *_wrong_delay(deliver.slow, "deliver.slow", LONGEST_SLOWNESS_MS),
    ]
    yield from durations
    acting = [name for name in Deliver.model_fields if getattr(deliver, name) not in (None, False)]
    if not durations and all(_is_idle(deliver, name) for name in acting):
        yield wrong("deliver", f"it does something by at least one of {', '.join(Deliver.model_fields)}")
    for one, others in _APART.items():
        both = [name for name in others if one in acting and name in acting]
        if both:
            yield wrong(f"deliver.{both[0]}", f"it does not go together with {one}")


def _is_idle(deliver: Deliver, name: str) -> bool:
    value = getattr(deliver, name)
    return value == 1 if name == "copies" else name in ("delay", "slow") and parse_duration(value) == 0


def _wrong_match(match: Match, operations: Iterable[Operation]) -> Iterator[Wrong]:
    """A path that no operation has, or a method that is not possible there."""
    rows = list(operations)
    if match.path is not None:
        known = [row.path for row in rows]
        rows = [row for row in rows if can_match(match.path, row.path)]
        if not rows:
            meant = meant_path(match.path, known)
            hint = f"; did you mean {meant}?" if meant else ""
            yield wrong("match.path", f"no path below the base (/v1) can be {match.path!r}{hint}")
            return
    methods = dict.fromkeys(method for row in rows for method in (row.method, *(("HEAD",) * (row.method == "GET"))))
    if match.method is not None and match.method.upper() not in methods:
        where = "" if match.path is None else f" at {match.path}"
        yield wrong("match.method", f"{match.method} is not possible{where}, only {', '.join(sorted(methods))}")


def _wrong_delay(delay: str | float | None, param: str, longest_ms: int | None = None) -> Iterator[Wrong]:
    if delay is None:
        return
    try:
        span_ms = parse_duration(delay)
    except ValueError as error:
        yield wrong(param, str(error))
        return
    if longest_ms is not None and span_ms > longest_ms:
        yield wrong(param, f"it is wall time, at most {format_duration(longest_ms)}")
