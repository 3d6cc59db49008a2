"""Models of faults, and their validation. The module `in_force` contains the active faults.

Source: section "Faults" of the control interface. Requests and scenario files share the checks. This module declares
the fields; `server/checks/faults`, `webhooks/delivery/faults` and `mutations` apply them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from simulator.engine.faults import mutations
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
"""The limits for delayed requests and deliveries, in real time."""


MALFORMED_MEANINGS = {
    "truncate": "The body is cut in half.",
    "garbage": "The body is not JSON.",
}


class Match(Body):
    """The calls that a fault acts on: all given fields must match."""

    method: Text | None = None
    """Only calls by this method."""
    path: Annotated[Text, Field(max_length=500)] | None = None
    """Only calls to paths that match this glob, below the base: `/quotes/*/confirm`."""
    public_key: Text | None = None
    """Only calls of this key pair."""


class Respond(Body):
    """The error envelope to return instead of the true response."""

    status: Annotated[int, Field(ge=200, le=599)]
    """The status to return."""
    code: Text
    """The code in the error envelope; any code."""
    message: FreeText | None = None
    """The message in the error envelope."""
    retry_after: Annotated[int, Field(ge=0)] | None = None
    """Seconds for the header Retry-After."""


Chosen: TypeAlias = bool | Annotated[Text, Field(max_length=200)]
"""A dotted path, or true to let the simulator choose."""


class BodyMutations(Body):
    """Unexpected contents of a body that the contract allows. Paths are dotted: `status`, `data.0.status`.

    `*` in a path means every item of a list.
    """

    unknown_enum: Chosen | None = None
    """Puts an unknown value in an enum: at this path, or with true at `status` or the like."""
    extra_field: Chosen | None = None
    """Adds a field of this name or path; with true, `added_later` in every object of the body."""
    missing_field: Chosen | None = None
    """Removes the field at this path, which may be absent or null; with true, the first such field."""


class Happening(Body):
    """An outside event just before a call is handled."""

    action: Text
    """The action, which needs no target: `set_balance`, `move_rates`, `set_kyc`, …"""
    parameters: dict[str, str | float | bool] = Field(default_factory=dict)
    """Its parameters."""


class CallMembers(BodyMutations):
    """The effect of a fault on API calls, and its limits."""

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
    """The corruption of the response body."""
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
    lasts: Text | float | None = None
    """How long it acts, in simulated time from its first hit: `1h`; a number means seconds."""
    probability: Annotated[float, Field(ge=0, le=1)] | None = None
    """The probability that it acts on a matching call, from 0 to 1; drawn from the world's seed."""


class InterfaceFault(CallMembers):
    """A fault of API calls. The first one that matches a call acts, after authentication."""

    match: Match
    """Which calls: all given fields must match."""


_MODIFIERS = ("after_commit", "first_per_key", "skip", "times", "lasts", "probability")
EFFECTS = (*(name for name in CallMembers.__annotations__ if name not in _MODIFIERS), *BodyMutations.model_fields)
"""The fields of which a request fault needs at least one."""


class WebhookMatch(Body):
    """Which deliveries."""

    event: Text | None = None
    """Only deliveries of this event type."""
    endpoint_id: Text | None = None
    """Only deliveries to this endpoint."""


class Deliver(BodyMutations):
    """The effect on a delivery."""

    copies: Annotated[int, Field(ge=1, le=100)] | None = None
    """How often it is sent in total."""
    delay: Text | float | None = None
    """How long to hold it back: simulated time such as `2s`; a number means seconds."""
    reorder: bool = False
    """Whether to hold it until the next first attempt to the endpoint has been answered.

    Attempts that are held themselves do not count; attempts during its own `delay` do.
    """
    hold: Literal["terminal"] | Annotated[int, Field(ge=1, le=1000)] | None = None
    """Until when to hold it: a number of further first attempts that the endpoint has answered (`reorder`: 1).

    `terminal`: until the endpoint has acknowledged the event for the end of its object (completed, failed, expired).
    Events for an end are not held, nor are events of objects without an end. Held deliveries go out when the fault
    ends.
    """
    before_answer: bool = False
    """Whether to deliver it, and wait for the receiver, before the response to the API call that causes it.

    It acts only on the first attempts of events that an API call itself causes.
    """
    two_at_once: bool = False
    """Whether to send it twice at the same time; the second attempt is not retried."""
    acknowledgement_lost: bool = False
    """Whether to lose the receiver's 2xx, so that the attempt fails and is retried."""
    unknown_type: Chosen | None = None
    """Replaces its type by one that is not in the catalogue: this one, or with true a new one.

    The changed body is signed; the event itself stays unchanged.
    """
    drop: bool = False
    """Whether to lose it, without a retry."""
    corrupt_signature: bool = False
    """Whether to send a wrong X-Signature."""
    stale_timestamp: bool = False
    """Whether to send an X-Timestamp that is 10 minutes old, with a matching signature."""
    alter_body: bool = False
    """Whether to send a body that differs from the signed one."""
    slow: Text | float | None = None
    """How long to wait before sending it: wall time, at most one minute."""


DESCRIBED = frozenset((*EFFECTS, "after_commit", *Deliver.model_fields))
"""The fields that describe an effect, for both kinds of faults."""
OF_FIRST_ATTEMPTS = ("reorder", "hold", "before_answer")
"""Fields that change the order of first attempts. A resend is not a first attempt."""
OF_NEW_NAMES = ("unknown_enum", "extra_field", "unknown_type")
"""Fields that add an unknown name to a body."""
_APART = {"before_answer": ("delay", "reorder", "hold", "drop"), "two_at_once": ("copies",), "reorder": ("hold",)}
"""Fields of a delivery fault that contradict each other."""


class WebhookFault(Body):
    """A fault of webhook deliveries. It acts on first attempts, retries and resends while it is in force."""

    webhook: WebhookMatch
    """Which deliveries."""
    deliver: Deliver
    """The effect on them."""
    skip: Annotated[int, Field(ge=0)] | None = None
    """How many matching attempts are let through first: 2 for the third."""
    times: Annotated[int, Field(ge=1)] | None = None
    """How many attempts it acts on; without a limit if left out."""
    probability: Annotated[float, Field(ge=0, le=1)] | None = None
    """The probability that it acts on a matching attempt, from 0 to 1; drawn from the world's seed."""


Fault: TypeAlias = InterfaceFault | WebhookFault


def check_fault(raw: JsonObject, vocabulary: Vocabulary | None) -> Fault:
    """Return a valid fault. Raise `ApiError` 400 with a dotted `param` if the fault is malformed.

    If `vocabulary` is given, also raise the error if no request or event can match the fault.
    """
    model: type[Fault] = WebhookFault if "webhook" in raw or "deliver" in raw else InterfaceFault
    if not raw.keys() & {"match", "webhook", "deliver"}:  # the name of the container may be the typo
        refuse_names(raw, dict.fromkeys((*members(InterfaceFault), *members(WebhookFault))))
    refuse_unknown(model, raw)
    fault = parse(model, raw, code="invalid_parameter")
    found = list(wrongs_of_fault(fault, vocabulary))
    if found:
        raise refusal_of(found)
    return fault


def wrong_event(event: str | None, known: Iterable[str]) -> Iterator[Wrong]:
    """Yield a problem if a delivery fault names an unknown event. `event` is None for all events."""
    if event is not None and event not in known:
        yield wrong("webhook.event", f"there is no event type {event!r}{did_you_mean(event, known)}")


def wrongs_of_fault(fault: Fault, vocabulary: Vocabulary | None) -> Iterator[Wrong]:
    """Yield the problems of a fault that the types of its fields do not detect.

    If `vocabulary` is given, a fault that no request can match is a problem. A fault without an effect is reported at
    `respond` or `deliver`.
    """
    if isinstance(fault, WebhookFault):
        yield from _wrong_webhook_fault(fault, vocabulary)
        return
    given = {name: value for name in ("delay", "answer_delay") if (value := getattr(fault, name)) is not None}
    wrong_delay = [one for name, value in given.items() for one in _wrong_delay(value, name, LONGEST_DELAY_MS)]
    yield from wrong_delay
    yield from _wrong_delay(fault.lasts, "lasts")
    delays = not wrong_delay and any(parse_duration(value) > 0 for value in given.values())
    others = (getattr(fault, name) not in (None, False) for name in EFFECTS if name not in ("delay", "answer_delay"))
    if not delays and not wrong_delay and not any(others):
        yield wrong(EFFECTS[0], f"a fault needs at least one of {', '.join(EFFECTS)}")
    elif fault.after_commit and fault.respond is None and not fault.drop:
        yield wrong("respond", "after_commit needs respond, which replaces the response, or drop, which loses it")
    asked = [name for name in BodyMutations.model_fields if getattr(fault, name)]
    if asked and (fault.respond is not None or fault.drop):
        yield wrong(
            "respond" if fault.respond is not None else "drop",
            f"it cannot be combined with {', '.join(asked)}: these change the true response",
        )
    if vocabulary is not None and fault.act is not None and fault.act.action not in vocabulary.actions.of_world:
        name = fault.act.action
        yield wrong(
            "act.action", f"the world has no action named {name!r}{did_you_mean(name, vocabulary.actions.of_world)}"
        )
    if vocabulary is not None:
        unmet = list(_wrong_match(fault.match, vocabulary.operations))
        yield from unmet
        if not unmet:
            yield from _wrong_for(vocabulary, fault, list(_met(fault.match, vocabulary.operations)))


def _wrong_webhook_fault(fault: WebhookFault, vocabulary: Vocabulary | None) -> Iterator[Wrong]:
    event = fault.webhook.event
    known = {} if vocabulary is None else vocabulary.events
    if vocabulary is not None:
        yield from wrong_event(event, known)
    yield from _wrong_delivery(fault.deliver)
    if vocabulary is None or event not in (None, *known):
        return
    bodies = (mutations.places_of_event(vocabulary, one) for one in (known if event is None else (event,)))
    yield from _wrong_mutation(vocabulary, fault.deliver, bodies, "deliver.")
    if fault.deliver.hold == "terminal" and event is not None and not vocabulary.ends_after(event):
        yield wrong("deliver.hold", f"the object of {event} has no later end")


def _wrong_for(vocabulary: Vocabulary, fault: InterfaceFault, operations: list[Operation]) -> Iterator[Wrong]:
    """Yield a problem for each effect of a fault that cannot occur in any of these operations."""
    answers = [row.answer() for row in operations if row.answer is not None]
    yield from _wrong_mutation(vocabulary, fault, (mutations.places_of(vocabulary, one) for one in answers))
    for name in ("first_per_key", "key_forgotten"):
        if getattr(fault, name) and not any(row.takes_key for row in operations):
            yield wrong(name, "no matching call takes an Idempotency-Key")


def _wrong_mutation(
    vocabulary: Vocabulary, given: BodyMutations, bodies: Iterable[mutations.Places], within: str = ""
) -> Iterator[Wrong]:
    mutation = mutations.Mutation.of(given)
    if mutation is None:
        return
    if mutation.unknown_type in vocabulary.events:
        yield wrong(f"{within}unknown_type", f"{mutation.unknown_type} is an existing type")
    for name, why in mutations.impossible(bodies, mutation):
        yield wrong(within + name, why)


def _met(match: Match, operations: Iterable[Operation]) -> Iterator[Operation]:
    """Yield the operations that a matching request can use."""
    method = None if match.method is None else match.method.upper().replace("HEAD", "GET")
    for row in operations:
        if method in (None, row.method) and (match.path is None or can_match(match.path, row.path)):
            yield row


def _wrong_delivery(deliver: Deliver) -> Iterator[Wrong]:
    """Yield problems with the effects on a delivery: invalid durations, contradicting fields, or no effect."""
    durations = [
        *_wrong_delay(deliver.delay, "deliver.delay"),
        *_wrong_delay(deliver.slow, "deliver.slow", LONGEST_SLOWNESS_MS),
    ]
    yield from durations
    acting = [name for name in Deliver.model_fields if getattr(deliver, name) not in (None, False)]
    if not durations and all(_is_idle(deliver, name) for name in acting):
        yield wrong("deliver", f"a delivery fault has at least one of {', '.join(Deliver.model_fields)}")
    for one, others in _APART.items():
        both = [name for name in others if one in acting and name in acting]
        if both:
            yield wrong(f"deliver.{both[0]}", f"it cannot be combined with {one}")


def _is_idle(deliver: Deliver, name: str) -> bool:
    value = getattr(deliver, name)
    return value == 1 if name == "copies" else name in ("delay", "slow") and parse_duration(value) == 0


def _wrong_match(match: Match, operations: Iterable[Operation]) -> Iterator[Wrong]:
    """Yield a problem if no operation has the path, or if the method is not possible there."""
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
