"""Models of faults, and their validation, for requests and scenario files.

Source: section "Faults" of the control interface. The modules `server/checks/faults`, `webhooks/delivery/faults` and
`mutations` apply the faults.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from simulator.engine.faults import mutations
from simulator.engine.faults.effects import APART, IDLE, Effects
from simulator.engine.rows.operation import Operation
from simulator.engine.text.fields import Body, FreeText, Text, Wrong, parse, refusal_of, wrong
from simulator.engine.text.globs import can_match, glob_of, meant_path
from simulator.engine.text.json import JsonObject
from simulator.engine.text.shapes import Meanings
from simulator.engine.text.strict import did_you_mean, members, refuse_names, refuse_unknown
from simulator.engine.vocabulary.vocabulary import Vocabulary
from simulator.kernel.clock import MINUTE_MS, format_duration, parse_duration

LONGEST_DELAY_MS = 10 * MINUTE_MS
LONGEST_SLOWNESS_MS = MINUTE_MS
"""The limits for delayed requests and deliveries, in real time."""


MALFORMED_MEANINGS = {"truncate": "The body is cut in half.", "garbage": "The body is not JSON."}


class Match(Body):
    """The calls to which a fault applies. All given fields must match."""

    method: Text | None = None
    """Only calls with this method."""
    path: Annotated[Text, Field(max_length=500)] | None = None
    """Only calls whose path below the base path matches this glob, such as `/quotes/*/confirm`."""
    public_key: Text | None = None
    """Only calls with the token of this key pair, given by its public key."""


class Respond(Body):
    """The error response to send instead of the real response."""

    status: Annotated[int, Field(ge=200, le=599)]
    """The HTTP status of the response."""
    code: Text
    """The error code. It can be any code."""
    message: FreeText | None = None
    """The error message."""
    retry_after: Annotated[int, Field(ge=0)] | None = None
    """The value of the header Retry-After, in seconds."""


Chosen: TypeAlias = bool | Annotated[Text, Field(max_length=200)]
"""A dotted path, or true to let the simulator choose."""


class BodyMutations(Body):
    """Unexpected but allowed contents of a body. Paths are dotted: `status`, `data.0.status`.

    `*` in a path means every item of a list.
    """

    unknown_enum: Chosen | None = None
    """The path of an enum field that gets an unknown value. `true` selects `status` or a similar field."""
    extra_field: Chosen | None = None
    """The name or path of a field to add. `true` adds the field `added_later` to every object in the body."""
    missing_field: Chosen | None = None
    """The path of a field to remove. The field must be optional or nullable. `true` removes the first such field."""


class Happening(Body):
    """An outside event that happens just before a call is handled."""

    action: Text
    """The action. It must be an action without a target, such as `set_balance`, `move_rates` or `set_kyc`."""
    parameters: dict[str, str | float | bool] = Field(default_factory=dict)
    """The parameters of the action."""


class Latency(Body):
    """A random delay with a log-normal distribution. The delay is generated from the world's seed."""

    median: Text | float
    """The delay that half of the calls exceed, such as `200ms`."""
    p99: Text | float
    """The delay that one call in a hundred exceeds, such as `2s`."""


class CallMembers(BodyMutations):
    """The effects of a fault on API calls, and how often and how long the fault applies."""

    respond: Respond | None = None
    """The error response to send instead of the real response."""
    delay: Text | float | None = None
    """The delay before the call is handled, in wall-clock time, at most 10 minutes.

    Write a duration such as `2s`, or a number of seconds.
    """
    answer_delay: Text | float | None = None
    """The delay between handling the call and sending the response, in wall-clock time as for `delay`."""
    latency: Latency | None = None
    """A random delay before the call is handled, in wall-clock time, in addition to `delay`."""
    act: Happening | None = None
    """An outside event that happens just before the call is handled.

    If the event is refused, the fault does not count as applied.
    """
    drop: bool = False
    """Whether to cut the connection instead of handling the call."""
    malformed: Annotated[Literal["truncate", "garbage"], Meanings(MALFORMED_MEANINGS)] | None = None
    """The way in which the response body is corrupted."""
    after_commit: bool = False
    """Whether to handle the call and store its real response first.

    `respond` then replaces the response, or `drop` loses it.
    """
    first_per_key: Annotated[int, Field(ge=1, le=1000)] | None = None
    """How many calls with the same Idempotency-Key the fault applies to. A call without a key is let through."""
    key_forgotten: bool = False
    """Whether to delete the response stored for the call's Idempotency-Key first, so that the call is handled again.

    The fault applies only to a call whose key has a stored response.
    """
    skip: Annotated[int, Field(ge=0)] | None = None
    """The number of matching calls to let through first. With 2, the fault applies from the third call on."""
    times: Annotated[int, Field(ge=1)] | None = None
    """The number of calls to which the fault applies. There is no limit by default."""
    lasts: Text | float | None = None
    """The period during which the fault applies, in simulated time from its first match.

    Write a duration such as `1h`, or a number of seconds.
    """
    probability: Annotated[float, Field(ge=0, le=1)] | None = None
    """The probability that the fault applies to a matching call, from 0 to 1.

    The decision is generated from the world's seed.
    """


class InterfaceFault(CallMembers):
    """A fault in API calls. After authentication, the first fault that matches a call applies."""

    match: Match
    """The calls to which the fault applies. All given fields must match."""


_MODIFIERS = ("after_commit", "first_per_key", "skip", "times", "lasts", "probability")
EFFECTS = (*(name for name in CallMembers.__annotations__ if name not in _MODIFIERS), *BodyMutations.model_fields)
"""The fields that describe the effect of a request fault. A request fault needs at least one of them."""


class WebhookMatch(Body):
    """The deliveries to which a fault applies. All given fields must match."""

    event: Text | None = None
    """Only deliveries of events of this type."""
    endpoint_id: Text | None = None
    """Only deliveries to this endpoint."""


class Deliver(BodyMutations, Effects):
    """The effects of a fault on a webhook delivery."""

    delay: Text | float | None = None
    """The delay before the delivery is sent, in simulated time: a duration such as `2s`, or a number of seconds."""
    hold: Literal["terminal"] | Annotated[int, Field(ge=1, le=1000)] | None = None
    """The number of other first attempts to the endpoint that must be completed before the delivery is sent.

    `reorder` is the same as 1. With `terminal`, the delivery is held until the endpoint has acknowledged the final
    event of the object (completed, failed, expired). Final events are not held, and neither are events of objects that
    have no final event. When the fault ends, held deliveries are sent.
    """
    unknown_type: Chosen | None = None
    """The event type to send instead. The type must not be in the catalogue. `true` selects a new type.

    The changed body is signed. The event itself does not change.
    """
    slow: Text | float | None = None
    """The delay before the request is sent, in wall-clock time. At most one minute."""


DESCRIBED = frozenset((*EFFECTS, "after_commit", *Deliver.model_fields))
"""The fields that describe an effect, for both kinds of faults."""
OF_NEW_NAMES = ("unknown_enum", "extra_field", "unknown_type")
"""Fields that add an unknown name to a body."""


class WebhookFault(Body):
    """A fault in webhook deliveries. While it is active, it applies to first attempts, retries and resends."""

    webhook: WebhookMatch
    """The deliveries to which the fault applies. All given fields must match."""
    deliver: Deliver
    """The effect on these deliveries."""
    skip: Annotated[int, Field(ge=0)] | None = None
    """The number of matching attempts to let through first. With 2, the fault applies from the third attempt on."""
    times: Annotated[int, Field(ge=1)] | None = None
    """The number of attempts to which the fault applies. There is no limit by default."""
    probability: Annotated[float, Field(ge=0, le=1)] | None = None
    """The probability that the fault applies to a matching attempt, from 0 to 1.

    The decision is generated from the world's seed.
    """


Fault: TypeAlias = InterfaceFault | WebhookFault


def check_fault(raw: JsonObject, vocabulary: Vocabulary | None) -> Fault:
    """Return a valid fault. Raise `ApiError` 400 with a dotted `param` if the fault is malformed or, with a
    `vocabulary`, if no request or event can match it.
    """
    model: type[Fault] = WebhookFault if "webhook" in raw or "deliver" in raw else InterfaceFault
    if not raw.keys() & {"match", "webhook", "deliver"}:  # The typo may be in the name of the container.
        refuse_names(raw, dict.fromkeys((*members(InterfaceFault), *members(WebhookFault))))
    refuse_unknown(model, raw)
    fault = parse(model, raw, code="invalid_parameter")
    found = list(wrongs_of_fault(fault, vocabulary))
    if found:
        raise refusal_of(found)
    return fault


def wrong_event(event: str | None, known: Iterable[str]) -> Iterator[Wrong]:
    """Yield a problem if a delivery fault names an unknown event. None means all events."""
    if event is not None and event not in known:
        yield wrong("webhook.event", f"unknown event type {event!r}{did_you_mean(event, known)}")


def wrongs_of_fault(fault: Fault, vocabulary: Vocabulary | None) -> Iterator[Wrong]:
    """Yield the problems of a fault that checks of single fields do not find. With a `vocabulary`, a fault that no
    request can match is a problem. A fault without an effect is reported at `respond` or `deliver`.
    """
    if isinstance(fault, WebhookFault):
        yield from _wrong_webhook_fault(fault, vocabulary)
        return
    given = {name: value for name in ("delay", "answer_delay") if (value := getattr(fault, name)) is not None}
    wrong_delay = [one for name, value in given.items() for one in _wrong_delay(value, name, LONGEST_DELAY_MS)]
    wrong_delay += _wrong_latency(fault.latency)
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
        why = f"it cannot be combined with {', '.join(asked)}: these change the real response, which is not sent"
        yield wrong("drop" if fault.respond is None else "respond", why)
    if vocabulary is None:
        return
    known = vocabulary.actions.of_world
    if fault.act is not None and fault.act.action not in known:
        name = fault.act.action
        yield wrong("act.action", f"unknown action {name!r} without a target{did_you_mean(name, known)}")
    unmet = list(_wrong_match(fault.match, vocabulary.operations))
    yield from unmet
    if not unmet:
        yield from _wrong_for(vocabulary, fault, list(_met(fault.match, vocabulary.operations)))


def _wrong_latency(latency: Latency | None) -> list[Wrong]:
    if latency is None:
        return []
    given = {"latency.median": latency.median, "latency.p99": latency.p99}
    found = [one for name, value in given.items() for one in _wrong_delay(value, name, LONGEST_DELAY_MS)]
    if not found and parse_duration(latency.median) <= 0:
        found.append(wrong("latency.median", "it must be more than zero"))
    if not found and parse_duration(latency.p99) < parse_duration(latency.median):
        found.append(wrong("latency.p99", "it must be at least the median"))
    return found


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
        yield wrong("deliver.hold", f"the object of {event} has no later final state")


def _wrong_for(vocabulary: Vocabulary, fault: InterfaceFault, operations: list[Operation]) -> Iterator[Wrong]:
    """Yield a problem for each effect of a fault that cannot occur in any of these operations."""
    answers = [row.answer() for row in operations if row.answer is not None]
    yield from _wrong_mutation(vocabulary, fault, (mutations.places_of(vocabulary, one) for one in answers))
    for name in ("first_per_key", "key_forgotten"):
        if getattr(fault, name) and not any(row.takes_key for row in operations):
            yield wrong(name, "no matching call accepts an Idempotency-Key")


def _wrong_mutation(
    vocabulary: Vocabulary, given: BodyMutations, bodies: Iterable[mutations.Places], within: str = ""
) -> Iterator[Wrong]:
    mutation = mutations.Mutation.of(given)
    if mutation is None:
        return
    if mutation.unknown_type in vocabulary.events:
        yield wrong(f"{within}unknown_type", f"{mutation.unknown_type} is a known event type; choose an unknown one")
    for name, why in mutations.impossible(bodies, mutation):
        yield wrong(within + name, why)


def _met(match: Match, operations: Iterable[Operation]) -> Iterator[Operation]:
    """Yield the operations that can be called by a request that matches `match`."""
    method = None if match.method is None else match.method.upper().replace("HEAD", "GET")
    for row in operations:
        if method in (None, row.method) and (match.path is None or can_match(match.path, row.path)):
            yield row


def _wrong_delivery(deliver: Deliver) -> Iterator[Wrong]:
    """Yield the problems with a fault's effects on a delivery: invalid durations, conflicting fields, or no effect."""
    durations = list(_wrong_delay(deliver.delay, "deliver.delay"))
    durations += _wrong_delay(deliver.slow, "deliver.slow", LONGEST_SLOWNESS_MS)
    yield from durations
    acting = [name for name in Deliver.model_fields if getattr(deliver, name) not in (None, False)]
    if not durations and all(_is_idle(deliver, name) for name in acting):
        yield wrong("deliver", f"a delivery fault needs at least one of {', '.join(Deliver.model_fields)}")
    for one, others in APART.items():
        both = [name for name in others if one in acting and name in acting]
        if both:
            yield wrong(f"deliver.{both[0]}", f"it cannot be combined with {one}")


def _is_idle(deliver: Deliver, name: str) -> bool:
    value = getattr(deliver, name)
    return value == IDLE.get(name) or (name in ("delay", "slow") and parse_duration(value) == 0)


def _wrong_match(match: Match, operations: Iterable[Operation]) -> Iterator[Wrong]:
    """Yield a problem if no operation has the path in `match`, or if no operation with this path has the method."""
    rows = list(operations)
    if match.path is not None:
        known = [row.path for row in rows]
        if (glob := glob_of(match.path)) != match.path:
            yield wrong("match.path", f"{match.path!r} is not a glob; use {glob}")
            return
        rows = [row for row in rows if can_match(match.path, row.path)]
        if not rows:
            meant = meant_path(match.path, known)
            hint = f"; did you mean {meant}?" if meant else ""
            yield wrong("match.path", f"no operation below the base path /v1 matches {match.path!r}{hint}")
            return
    methods = dict.fromkeys(method for row in rows for method in (row.method, *(("HEAD",) * (row.method == "GET"))))
    if match.method is not None and match.method.upper() not in methods:
        where = "" if match.path is None else f" at {match.path}"
        yield wrong("match.method", f"{match.method} is not possible{where}; use {', '.join(sorted(methods))}")


def _wrong_delay(delay: str | float | None, param: str, longest_ms: int | None = None) -> Iterator[Wrong]:
    if delay is None:
        return
    try:
        span_ms = parse_duration(delay)
    except ValueError as error:
        yield wrong(param, str(error))
        return
    if longest_ms is not None and span_ms > longest_ms:
        yield wrong(param, f"it is wall-clock time and must be at most {format_duration(longest_ms)}")
