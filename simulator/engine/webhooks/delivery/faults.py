"""Faults that apply to deliveries (control interface, section "Faults")."""

from __future__ import annotations

from simulator.engine.faults import models as faults
from simulator.engine.faults import mutations
from simulator.engine.faults.in_force import FAULTS, DeliveryPlan, first_hit
from simulator.engine.records.conditions import field_in, newest_of
from simulator.engine.vocabulary.vocabulary import vocabulary_of
from simulator.engine.webhooks import records
from simulator.engine.webhooks.delivery.deliveries import attempts_of
from simulator.engine.webhooks.records import Delivery, EndpointQueue, Outcome, PendingAttempt, SignedRequest, Webhook
from simulator.kernel.clock import MINUTE_MS
from simulator.kernel.dataclass import replace
from simulator.kernel.journal import EVENTS, Event
from simulator.kernel.texts import NOTHING, Text
from simulator.kernel.world import World

_STALE_MS = 10 * MINUTE_MS
_FLIPPED = str.maketrans("0123456789abcdef", "fedcba9876543210")


def deliver_plan(world: World, event: Event, endpoint: Webhook) -> DeliveryPlan:
    """Return the effects of the first fault that matches a delivery, or `NO_FAULT`, and count its hit."""

    def fits(_: str, fault: faults.WebhookFault) -> bool:
        return not fault.deliver.before_answer and _fits(world, event, endpoint, fault)

    hit = first_hit(world, "webhook", fits)
    return records.NO_FAULT if hit is None else DeliveryPlan.of(hit[0], hit[1].deliver)


def early_plan(world: World, event: Event, endpoint: Webhook) -> DeliveryPlan | None:
    """Return the effects of a fault that delivers an event before the API request that caused the event gets a
    response.

    Return None if there is no such fault, or if an earlier fault in the list matches. The earlier fault applies when
    the queue reaches the event. Call this inside a transaction, because a hit of the returned fault is counted.
    """
    if event.cause.kind != "request" or not world.store[FAULTS].rows:
        return None
    overtaken = False

    def fits(_: str, fault: faults.WebhookFault) -> bool:
        nonlocal overtaken
        if overtaken or not _fits(world, event, endpoint, fault):
            return False
        overtaken = not fault.deliver.before_answer
        return not overtaken

    hit = first_hit(world, "webhook", fits)
    return None if hit is None else DeliveryPlan.of(hit[0], hit[1].deliver)


def save_plan(world: World, place: str, plan: DeliveryPlan) -> None:
    """Save the effects of a fault on the queued event at `place`, inside a transaction. Faults are matched when the
    event happens, because the time at which the queue reaches the event depends on the receiver.
    """
    if plan is not records.NO_FAULT:
        world.store[records.WAITING_PLANS].put(place, plan)


def take_plan(world: World, place: str) -> DeliveryPlan | None:
    """Remove and return the saved effects of a fault on the queued event at `place`, or None."""
    plans = world.store[records.WAITING_PLANS]
    plan = plans.get(place)
    if plan is not None:
        plans.delete(place)
    return plan


def awaited(world: World, request_id: str) -> list[str]:
    """Return the ids of the attempts in flight whose receiver must respond before the API request gets its response."""
    found = []
    for attempt in world.store[records.IN_FLIGHT].values():
        if attempt.pending.plan is not None and attempt.pending.plan.before_answer:
            event = world.journal.event(attempt.event_id)
            if event is not None and event.cause.reference == request_id:
                found.append(attempt.id)
    return found


def must_follow(world: World, event: Event, pending: PendingAttempt) -> bool:
    """Return True if an attempt waits for another attempt in flight to the same endpoint: if a fault delivers several
    events before their request gets its response, an endpoint receives them one after another.
    """
    if pending.plan is None or not pending.plan.before_answer:
        return False
    for other in world.store[records.IN_FLIGHT].values():
        plan = other.pending.plan
        if plan is None or not plan.before_answer or other.endpoint_id != pending.endpoint_id:
            continue
        earlier = world.journal.event(other.event_id)
        if earlier is not None and earlier.id != event.id and earlier.cause == event.cause:
            return True
    return False


def _fits(world: World, event: Event, endpoint: Webhook, fault: faults.WebhookFault) -> bool:
    match = fault.webhook
    return (
        match.event in (None, event.type)
        and match.endpoint_id in (None, endpoint.id)
        and (fault.deliver.hold != "terminal" or _awaits_end(world, event, endpoint))
        and ((mutation := mutations.Mutation.of(fault.deliver)) is None or _mutated(world, event, mutation) is not None)
    )


# --- holding an attempt back ---------------------------------------------------------------------------------------


def held(
    world: World, event: Event, endpoint: Webhook, queue: EndpointQueue, pending: PendingAttempt, plan: DeliveryPlan
) -> PendingAttempt | None:
    """Return a copy of the attempt that a fault holds back, or None if the attempt may start.

    A fault can hold an attempt until other first attempts to the endpoint have ended, counted from the time of the
    event, or until the endpoint has received the object's final event. The attempt may also start if the fault has
    ended.
    """
    if not (plan.until_end or plan.hold or plan.reorder) or plan.fault_id not in world.store[FAULTS]:
        return None
    if plan.until_end:
        if not _awaits_end(world, event, endpoint):
            return None
        return replace(pending, plan=replace(plan, until_end=False), held_for=None)
    count = plan.hold or int(plan.reorder)
    since = queue.answered if pending.delayed_after is None else pending.delayed_after
    if queue.answered >= since + count:
        return None
    return replace(pending, plan=replace(plan, reorder=False, hold=0), held_for=since + count)


def freed(
    world: World, queue: EndpointQueue, attempt: records.Attempt, event: Event, *, acknowledged: bool
) -> tuple[PendingAttempt, ...]:
    """Return the held attempts that may start now that `attempt` has ended. `queue` already counts it."""

    def may_go(pending: PendingAttempt) -> bool:
        if pending.held_for is not None:
            return attempt.pending.is_first and queue.answered >= pending.held_for
        late = world.journal.event(pending.event_id)
        if late is None:
            return True
        return acknowledged and late.object_id == event.object_id and event.type in _ends_after(world, late)

    return tuple(filter(may_go, queue.held))


def _ends_after(world: World, event: Event) -> frozenset[str]:
    return vocabulary_of(world).ends_after(event.type)


def _awaits_end(world: World, event: Event, endpoint: Webhook) -> bool:
    """Return True if the endpoint subscribes to the final event of the same object and has not received it yet."""
    last = _ends_after(world, event)
    if not any(map(endpoint.wants, last)):
        return False
    wanted = field_in("object_id", event.object_id), field_in("type", *sorted(last))
    final = newest_of(world.store[EVENTS], wanted, None)
    return not any(made.status == "succeeded" for one in final for made in attempts_of(world, one.id, endpoint.id))


# --- request and response ------------------------------------------------------------------------------


def heard(plan: DeliveryPlan, outcome: Outcome) -> Outcome:
    """Return an attempt's result as the service sees it: without the response if a fault loses the acknowledgement."""
    if not plan.acknowledgement_lost or not outcome.succeeded:
        return outcome
    return replace(outcome, error=f"{plan.named} lost the acknowledgement {outcome.status}")


def together(pending: PendingAttempt, plan: DeliveryPlan) -> tuple[PendingAttempt, PendingAttempt | None]:
    """Return an attempt, and the copy that a fault sends at the same time, if any."""
    if not plan.two_at_once:
        return pending, None
    pending = replace(pending, plan=replace(plan, two_at_once=False))
    return pending, replace(pending, stage=None, cause="copy")


def body_of(world: World, event: Event, plan: DeliveryPlan) -> bytes:
    """Return the bytes to sign: the event's bytes, unless a fault adds unexpected data."""
    mutation = plan.surprise
    return (mutation and _mutated(world, event, mutation)) or event.raw


def _mutated(world: World, event: Event, mutation: mutations.Mutation) -> bytes | None:
    places = mutations.places_of_event(vocabulary_of(world), event.type)
    return mutations.mutated(event.raw, places, mutation)


def staleness_ms(plan: DeliveryPlan) -> int:
    """Return the age of an attempt's timestamp at the time of sending, in milliseconds."""
    return _STALE_MS if plan.stale_timestamp else 0


def falsified(plan: DeliveryPlan, request: SignedRequest, signature_header: str) -> SignedRequest:
    """Return a signed request, with a wrong signature or an altered body if a fault requires it."""
    headers, body = request.headers, request.body
    if plan.corrupt_signature:
        headers = tuple(
            (name, value.translate(_FLIPPED) if name == signature_header else value) for name, value in headers
        )
    return SignedRequest(request.url, headers, altered(body) if plan.alter_body else body)


def altered(raw: bytes) -> bytes:
    """Return the JSON text with a space appended, so that the signature does not match the body."""
    return raw + b" "


def marked(world: World, delivery: Delivery, event: Event, plan: DeliveryPlan) -> Delivery:
    """Return a copy of a delivery record that also states what the fault changed in the delivery."""
    return replace(
        delivery,
        altered=plan.alter_body,
        corrupted=plan.corrupt_signature,
        stale=plan.stale_timestamp,
        unheard=delivery.error is not None and delivery.response_status in range(200, 300),
        fault=plan.fault_id,
        sent=NOTHING if plan.surprise is None else Text(body_of(world, event, plan)),
    )


FALSIFIED = {
    "drop": "It was never sent.",
    "corrupt_signature": "Its X-Signature is wrong.",
    "stale_timestamp": "Its X-Timestamp was 10 minutes old when it was sent. The signature matches it.",
    "alter_body": "Its body differs from the signed one.",
    "surprise": "Its body contains a value that is not in the event: an unknown type, enum value or field.",
    "acknowledgement_lost": "The receiver's 2xx was lost.",
}
"""The effects of faults on a delivery. They are reported, so that users do not search their receiver for the cause."""


def what_happened_to(delivery: Delivery) -> list[str]:
    """Return the names (keys of `FALSIFIED`) of the fault effects that a delivery had."""
    happened = {
        "drop": delivery.was_dropped,
        "corrupt_signature": delivery.corrupted,
        "stale_timestamp": delivery.stale,
        "alter_body": delivery.altered,
        "surprise": bool(delivery.sent.read()),
        "acknowledgement_lost": delivery.unheard,
    }
    return [name for name in FALSIFIED if happened[name]]
