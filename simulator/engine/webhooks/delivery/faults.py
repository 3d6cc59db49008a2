"""Webhook faults: what happens to a delivery because somebody asked for it (control interface, chapter "Faults")."""

from __future__ import annotations

from collections.abc import Iterator

from simulator.engine.faults import models as faults
from simulator.engine.faults import mutations
from simulator.engine.faults.in_force import FAULTS, DeliveryPlan, first_hit
from simulator.engine.records.conditions import field_in, newest_of
from simulator.engine.rows.vocabulary import vocabulary_of
from simulator.engine.webhooks.records import (
    DELIVERIES,
    IN_FLIGHT,
    NO_FAULT,
    WAITING_PLANS,
    Attempt,
    Delivery,
    EndpointQueue,
    Outcome,
    PendingAttempt,
    SignedRequest,
    Webhook,
    delivery_id,
)
from simulator.kernel.clock import MINUTE_MS
from simulator.kernel.copying import replace
from simulator.kernel.journal import EVENTS, Event
from simulator.kernel.table import Table
from simulator.kernel.texts import NOTHING, Text
from simulator.kernel.world import World

_STALE_MS = 10 * MINUTE_MS
_FLIPPED = str.maketrans("0123456789abcdef", "fedcba9876543210")


def deliver_plan(world: World, event: Event, endpoint: Webhook) -> DeliveryPlan:
    """What the first matching fault makes of the next attempt of this event here; the fault counts it as a hit.

    Inside a change. `NO_FAULT` when no fault matches.
    """

    def fits(_: str, fault: faults.WebhookFault) -> bool:
        return not fault.deliver.before_answer and _fits(world, event, endpoint, fault)

    hit = first_hit(world, "webhook", lambda: faults.WebhookFault, fits, "faults.webhooks")
    return NO_FAULT if hit is None else DeliveryPlan.of(hit[0], hit[1].deliver)


def early_plan(world: World, event: Event, endpoint: Webhook) -> DeliveryPlan | None:
    """What becomes of the first attempt of an event that is to be answered before the call that causes it; else None.

    Inside a change. The fault counts it as a hit; it is passed over where an earlier fault matches, which acts when
    the queue comes to the event.
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

    hit = first_hit(world, "webhook", lambda: faults.WebhookFault, fits, "faults.webhooks")
    return None if hit is None else DeliveryPlan.of(hit[0], hit[1].deliver)


def keep_plan(world: World, place: str, plan: DeliveryPlan) -> None:
    """Keep what faults make of the first attempt that waits at this place; inside a change.

    They are asked when the event happens: when its queue comes to it depends on how quickly its receiver answers.
    """
    if plan is not NO_FAULT:
        world.store[WAITING_PLANS].put(place, plan)


def kept_plan(world: World, place: str) -> DeliveryPlan | None:
    """What was kept of this place, which is free then; None where no fault met the event. Inside a change."""
    plans = world.store[WAITING_PLANS]
    plan = plans.get(place)
    if plan is not None:
        plans.delete(place)
    return plan


def awaited(world: World, request_id: str) -> list[str]:
    """The attempts on their way that have to be answered before the answer of this call goes out."""
    found = []
    for attempt in world.store[IN_FLIGHT].values():
        if attempt.pending.plan is not None and attempt.pending.plan.before_answer:
            event = world.journal.event(attempt.event_id)
            if event is not None and event.cause.reference == request_id:
                found.append(attempt.id)
    return found


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
    """The attempt as it is held, where a fault holds it; None where it may go.

    What happened during a delay of its own counts: others that went, the end of its object, and that of the fault.
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
    world: World, queue: EndpointQueue, attempt: Attempt, event: Event, *, acknowledged: bool
) -> tuple[PendingAttempt, ...]:
    """What is held and may go now that an attempt was answered; `queue` counts it already."""

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
    """Whether the endpoint is to get a later event that tells of the end of the same object, and has not yet."""
    last = _ends_after(world, event)
    if not any(map(endpoint.wants, last)):
        return False
    told = newest_of(
        world.store[EVENTS], (field_in("object_id", event.object_id), field_in("type", *sorted(last))), None
    )
    made = world.store[DELIVERIES.of(owner=endpoint.id)]
    return not any(delivery.status == "succeeded" for one in told for delivery in _attempts(made, one, endpoint))


def _attempts(made: Table[Delivery], event: Event, endpoint: Webhook) -> Iterator[Delivery]:
    number = 1
    while (delivery := made.get(delivery_id(event.id, endpoint.id, number))) is not None:
        yield delivery
        number += 1


# --- what is sent, and what came back ------------------------------------------------------------------------------


def heard(plan: DeliveryPlan, outcome: Outcome) -> Outcome:
    """What the service hears of an answer: nothing, where a fault loses an acknowledgement."""
    if not plan.acknowledgement_lost or not outcome.succeeded:
        return outcome
    return replace(outcome, error=f"{plan.named} lost the acknowledgement {outcome.status}")


def together(pending: PendingAttempt, plan: DeliveryPlan) -> tuple[PendingAttempt, PendingAttempt | None]:
    """An attempt and the one that goes at the same time, None where none does."""
    if not plan.two_at_once:
        return pending, None
    pending = replace(pending, plan=replace(plan, two_at_once=False))
    return pending, replace(pending, stage=None, cause="copy")


def body_of(world: World, event: Event, plan: DeliveryPlan) -> bytes:
    """What is sent and signed: the event's own bytes, but where a fault puts something unexpected into them."""
    mutation = plan.surprise
    return (mutation and _mutated(world, event, mutation)) or event.raw


def _mutated(world: World, event: Event, mutation: mutations.Mutation) -> bytes | None:
    places = mutations.places_of_event(vocabulary_of(world), event.type)
    return mutations.mutated(event.raw, places, mutation)


def staleness_ms(plan: DeliveryPlan) -> int:
    """How much older than its sending the timestamp of an attempt is."""
    return _STALE_MS if plan.stale_timestamp else 0


def falsified(plan: DeliveryPlan, request: SignedRequest, signature_header: str) -> SignedRequest:
    """A signed request with what makes it a forgery, where that was asked for."""
    headers, body = request.headers, request.body
    if plan.corrupt_signature:
        headers = tuple(
            (name, value.translate(_FLIPPED) if name == signature_header else value) for name, value in headers
        )
    return SignedRequest(request.url, headers, altered(body) if plan.alter_body else body)


def altered(raw: bytes) -> bytes:
    """A body that the signature does not fit any more but that is still the same JSON: one blank more at its end."""
    return raw + b" "


def marked(world: World, delivery: Delivery, event: Event, plan: DeliveryPlan) -> Delivery:
    """A delivery that says how it was falsified, and what was sent in place of the event's own bytes."""
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
    "corrupt_signature": "Its X-Signature was made wrong.",
    "stale_timestamp": "Its X-Timestamp was 10 minutes old when it was sent, and it was signed like that.",
    "alter_body": "Its body differs from what was signed.",
    "surprise": "Its body has something that that of the event has not: an unknown type, word or member.",
    "acknowledgement_lost": "The receiver's 2xx was lost.",
}
"""What a fault did to a delivery, so that nobody looks for that in the receiver."""


def what_happened_to(delivery: Delivery) -> list[str]:
    """The names of FALSIFIED that hold of a delivery."""
    happened = {
        "drop": delivery.was_dropped,
        "corrupt_signature": delivery.corrupted,
        "stale_timestamp": delivery.stale,
        "alter_body": delivery.altered,
        "surprise": bool(delivery.sent.read()),
        "acknowledgement_lost": delivery.unheard,
    }
    return [name for name in FALSIFIED if happened[name]]
