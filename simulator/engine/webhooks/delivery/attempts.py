"""Functions that take, record and drop delivery attempts."""

from __future__ import annotations

from simulator.engine.text.json import headers_text
from simulator.engine.webhooks import records
from simulator.engine.webhooks.delivery import faults
from simulator.engine.webhooks.delivery.deliveries import deliveries_of, endpoint_of
from simulator.engine.webhooks.records import Attempt, Delivery, EndpointQueue, Outcome, PendingAttempt, Webhook
from simulator.kernel.dataclass import replace
from simulator.kernel.journal import Event
from simulator.kernel.table import Table
from simulator.kernel.texts import Text
from simulator.kernel.world import World


def take(world: World) -> list[Attempt]:
    """Take the attempts that may start now, inside a transaction. They are in flight until they are reported."""
    ready = world.store[records.READY]
    if not ready.rows:
        return []
    attempts = []
    for key, pending in list(ready.items()):
        event, endpoint = world.journal.event(pending.event_id), endpoint_of(world, pending.endpoint_id)
        if event is not None and faults.must_follow(world, event, pending):
            continue  # The courier calls `take` again after each report.
        ready.delete(key)
        if event is None or endpoint is None:
            continue  # This happens only in a document that was edited by hand.
        attempt = numbered(world, key, pending, event, endpoint)
        world.store[records.IN_FLIGHT].put(attempt.id, attempt)
        attempts.append(attempt)
    return attempts


def may_take(world: World) -> bool:
    """Return True if `take` would return an attempt."""
    return bool(world.store[records.READY].rows)


def in_flight(world: World) -> Table[Attempt]:
    """Return the attempts that were taken for sending and have no reported result yet, by id."""
    return world.store[records.IN_FLIGHT]


def put_back(world: World, attempt: Attempt) -> None:
    """Make an attempt ready again that was taken but not sent. Call this inside a transaction."""
    if attempt.id in world.store[records.IN_FLIGHT]:
        world.store[records.IN_FLIGHT].delete(attempt.id)
        world.store[records.READY].put(attempt.key, attempt.pending)


def numbered(world: World, key: str, pending: PendingAttempt, event: Event, endpoint: Webhook) -> Attempt:
    """Return the attempt to send for a pending attempt, with its attempt number and delivery id."""
    # The number `pending.after + 1` may be in use: copies and resends of the same event also take numbers.
    made, flying = deliveries_of(world, endpoint.id), world.store[records.IN_FLIGHT]
    number = pending.after + 1
    while (identifier := records.delivery_id(event.id, endpoint.id, number)) in made or identifier in flying:
        number += 1
    return Attempt(
        identifier, key, pending, number, endpoint.url, event.sequence, endpoint.sequence, started_at_ms=world.now_ms
    )


def record(world: World, attempt: Attempt, event: Event, outcome: Outcome, next_attempt_at_ms: int | None) -> Delivery:
    """Save the delivery record of an attempt, and return the record."""
    error = outcome.error
    if error is None and not outcome.succeeded:
        error = f"the receiver answered {outcome.status} instead of 2xx"
    order = attempt.event_sequence, attempt.endpoint_sequence
    delivery = Delivery(
        id=attempt.id,
        sequence=(attempt.started_at_ms, *attempt.place, *order, attempt.number),
        created_at_ms=attempt.started_at_ms,
        updated_at_ms=world.now_ms,
        event_id=event.id,
        event_type=event.type,
        environment=event.environment,
        endpoint_id=attempt.endpoint_id,
        url=attempt.url,
        attempt=attempt.number,
        status="succeeded" if outcome.succeeded else "failed",
        response_status=outcome.status,
        error=error,
        duration_ms=outcome.duration_ms,
        next_attempt_at_ms=next_attempt_at_ms,
        request_headers=headers_text(outcome.request_headers),
        response_headers=headers_text(outcome.response_headers),
        response_body=Text(outcome.response_body),
        cause=attempt.pending.cause,
    )
    if attempt.pending.plan is not None:
        delivery = faults.marked(world, delivery, event, attempt.pending.plan)
    deliveries_of(world, attempt.endpoint_id).put(delivery.id, delivery)
    for text in (delivery.request_headers, delivery.sent, delivery.response_headers, delivery.response_body):
        world.journal.lasting.add(text)
    return delivery


def discard_pending(world: World, endpoint_id: str) -> None:
    """Drop all pending attempts to a disabled endpoint (W9). Attempts in flight are not cancelled."""
    queues, waiting, ready = world.store[records.QUEUES], world.store[records.WAITING], world.store[records.READY]
    queue = queues.get(endpoint_id)
    if queue is not None:
        for place in range(queue.waiting_from, queue.waiting_to):
            waiting.delete(f"{endpoint_id}:{place}")
            faults.take_plan(world, f"{endpoint_id}:{place}")
        # An attempt in flight keeps the queue busy. If the endpoint is enabled again, later events therefore cannot
        # overtake it. An attempt that was ready but not yet taken is dropped below.
        started = any(attempt.key == queue.active for attempt in world.store[records.IN_FLIGHT].values())
        queues.put(endpoint_id, EndpointQueue(active=queue.active if started else "", answered=queue.answered))
    for key, pending in list(ready.items()):
        if pending.endpoint_id == endpoint_id:
            ready.delete(key)
    cancel_planned(world, endpoint_id)


def cancel_planned(world: World, endpoint_id: str) -> None:
    """Drop the planned retries and delayed attempts to an endpoint. A deleted endpoint still gets the first attempts
    for earlier events. Otherwise, the number of deliveries would depend on how quickly it responded before.
    """
    planned, made = world.store[records.PLANNED.of(owner=endpoint_id)], deliveries_of(world, endpoint_id)
    for row, plan in list(planned.items()):
        world.agenda.cancel_key(plan.timer)
        planned.delete(row)
        # The delivery that announced the attempt must no longer announce it.
        announcing = made.get(plan.delivery_id) if plan.delivery_id else None
        if announcing is not None:
            made.put(announcing.id, replace(announcing, next_attempt_at_ms=None))
