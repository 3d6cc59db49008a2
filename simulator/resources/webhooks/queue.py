"""Who gets what, and when: lines of first attempts, retries, resends (decisions W5, W6, W9 and W11).

All of it is rows of the store, so it is part of every change, snapshot and restore. The courier takes what may go now
(`take`) and reports what came back (`report`). Per event the work depends on the endpoints alone, never on how much
was delivered before.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from operator import attrgetter
from typing import Any

from simulator.kernel.agenda import Timer
from simulator.kernel.clock import HOUR_MS, LAST_MS, MINUTE_MS
from simulator.kernel.journal import Event
from simulator.kernel.store import Table
from simulator.kernel.world import ENVIRONMENTS, World
from simulator.resources.webhooks.emails import tell_owner_disabled
from simulator.resources.webhooks.faults import deliver_plan
from simulator.resources.webhooks.records import (
    TABLE,
    UNDISTURBED,
    Attempt,
    Delivery,
    Due,
    Line,
    Outcome,
    Planned,
    Webhook,
    delivery_id,
    served,
)
from simulator.wire.records import find, move, rows

RETRY_DELAYS_MS = (MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 6 * HOUR_MS, *(5 * (12 * HOUR_MS,)))
"""The delay after each failed attempt; after the last one the endpoint is disabled (decision W5: 11 attempts)."""

RETRY = "webhook.retry"
DELAYED = "webhook.delayed"

_NEW_LINE = Line()


def endpoints(world: World, environment: str) -> Table[Webhook]:
    """The registered endpoints of one environment, oldest first."""
    return rows(world, environment, TABLE)


def _lines(world: World) -> Table[Line]:
    return world.store.table("webhook_lines")


def _waiting(world: World) -> Table[str]:
    """Ids of events whose first attempt waits, by `<endpoint>:<place in line>`."""
    return world.store.table("webhook_waiting")


def _ready(world: World) -> Table[Due]:
    """What may start now, in that order."""
    return world.store.table("webhook_ready")


def _in_flight(world: World) -> Table[Attempt]:
    return world.store.table("webhook_in_flight")


def _planned(world: World, endpoint_id: str) -> Table[Planned]:
    return world.store.table(f"webhook_planned@{endpoint_id}")


def deliveries_of(world: World, endpoint_id: str) -> Table[Delivery]:
    """The deliveries of one endpoint, in the order of their answers."""
    return world.store.table(f"deliveries@{endpoint_id}")


# --- what starts an attempt ---------------------------------------------------------------------------------------


def on_event(world: World, event: Event, _subject: Any) -> None:
    """Queue the first attempt of an event for everyone who is to get it; inside the change that emitted it."""
    for endpoint in recipients(world, event):
        line = _lines(world).get(endpoint.id) or _NEW_LINE
        _waiting(world).put(f"{endpoint.id}:{line.tail}", event.id)
        _lines(world).put(endpoint.id, replace(line, tail=line.tail + 1))
        if not line.busy:
            _go_on(world, endpoint)


def recipients(world: World, event: Event) -> list[Webhook]:
    """Every enabled and subscribed endpoint; a test call's event goes to its endpoint alone (decision W10)."""
    table = endpoints(world, event.environment)
    tested: str | None = world.store.table("webhook_tests").get(event.id)
    if tested is not None:
        endpoint = table.get(tested)
        return [endpoint] if endpoint is not None and endpoint.status == "enabled" else []
    return [endpoint for endpoint in table.values() if endpoint.status == "enabled" and endpoint.wants(event.type)]


def resend(world: World, event_id: str) -> int:
    """Send an event again to everyone who would get it now (decision W11); answers how many attempts that starts.

    Inside a change; LookupError when there is no such event.
    """
    event = world.journal.event(event_id)
    if event is None:
        raise LookupError(f"there is no event with the id {event_id!r}")
    chosen = recipients(world, event)
    place = _place_now(world)
    for endpoint in chosen:
        _route(world, event, endpoint, Due(event.id, endpoint.id, stage=None, place=place))
    return len(chosen)


def _place_now(world: World) -> tuple[int, int, int]:
    """The place of an attempt that goes now, after the events that are there (see `Due.place`)."""
    newest = next(iter(world.journal.events_newest_first()), None)
    return (0 if newest is None else newest.sequence, world.next_sequence("webhook_place"), 0)


def on_timer(world: World, timer: Timer) -> None:
    """A retry or a delayed attempt falls due."""
    planned = _planned(world, timer.target)
    row = planned[timer.arguments["row"]]
    planned.delete(timer.arguments["row"])
    event, endpoint = world.journal.event(row.due.event_id), find(world, timer.target)
    if event is not None and endpoint is not None:
        _route(world, event, endpoint, replace(row.due, place=_place_now(world)))


# --- the way of an attempt until it may start ---------------------------------------------------------------------


def _go_on(world: World, endpoint: Webhook) -> None:
    """Let the next first attempt of an idle line go; those that a fault holds or drops step aside."""
    while True:
        line = _lines(world).get(endpoint.id) or _NEW_LINE
        if line.busy:
            return
        if line.front:
            due = line.front[0]
            _lines(world).put(endpoint.id, replace(line, front=line.front[1:]))
        elif line.head < line.tail:
            place = f"{endpoint.id}:{line.head}"
            due = Due(_waiting(world)[place], endpoint.id)
            _waiting(world).delete(place)
            _lines(world).put(endpoint.id, replace(line, head=line.head + 1))
        else:
            return
        event = world.journal.event(due.event_id)
        if event is not None:
            _route(world, event, endpoint, due, in_line=True)


def _route(world: World, event: Event, endpoint: Webhook, due: Due, *, in_line: bool = False) -> None:
    """Bring one attempt on its way, or aside when a fault says so. `in_line`: its line waits for the answer."""
    plan = due.plan
    if plan is None:
        plan = deliver_plan(world, event, endpoint)
        due = replace(due, plan=None if plan is UNDISTURBED else plan)
    if plan.delay_ms and endpoint.status == "deleted":
        return  # it would have been cancelled had the line come to it before the endpoint was deleted
    line = _lines(world).get(endpoint.id) or _NEW_LINE
    if plan.delay_ms:
        due = replace(due, since=line.gone if plan.reorder else None)
        due_at_ms = min(world.now_ms + plan.delay_ms, max(LAST_MS, world.now_ms))  # at the end of time at the latest
        _plan_timer(world, DELAYED, due_at_ms, served(due, delay_ms=0), event, endpoint)
        return
    if plan.reorder and (due.since is None or line.gone == due.since):
        _lines(world).put(endpoint.id, replace(line, held=(*line.held, served(due, reorder=False))))
        return
    if plan.drop:
        _record_drop(world, event, endpoint, due)
        return
    extra = plan.copies - 1
    due = served(due, copies=1) if extra else due
    copies = extra * (replace(due, stage=None),)
    key = _make_ready(world, due)
    if in_line:
        line = _lines(world).get(endpoint.id) or _NEW_LINE
        _lines(world).put(endpoint.id, replace(line, busy=key, front=(*copies, *line.front)))
        return
    for copy in copies:
        _make_ready(world, copy)


def _make_ready(world: World, due: Due) -> str:
    key = str(world.next_sequence("webhook_attempt"))
    _ready(world).put(key, due)
    return key


def _plan_timer(
    world: World, kind: str, due_at_ms: int, due: Due, event: Event, endpoint: Webhook, announced_by: str | None = None
) -> None:
    """A timer of its own rank, so that the order of timers never tells which receiver answered first."""
    row = str(world.next_sequence("webhook_planned"))
    rank = event.sequence << 30 | endpoint.sequence
    timer = world.agenda.plan_another(due_at_ms, kind, due.endpoint_id, rank=rank, row=row)
    _planned(world, due.endpoint_id).put(row, Planned(due, timer, announced_by))


def _record_drop(world: World, event: Event, endpoint: Webhook, due: Due) -> None:
    attempt = _numbered(world, "", due, event, endpoint)
    fault = due.plan.fault_id if due.plan else ""
    _record(world, attempt, event, Outcome(None, f"dropped by the fault {fault}"), None)


# --- what the courier calls ---------------------------------------------------------------------------------------


def take(world: World) -> list[Attempt]:
    """The attempts that may start now; they count as in flight until reported. Inside a change."""
    ready = _ready(world)
    if not ready.rows:
        return []
    attempts = []
    for key, due in list(ready.items()):
        ready.delete(key)
        event, endpoint = world.journal.event(due.event_id), find(world, due.endpoint_id)
        if event is None or endpoint is None:
            continue
        attempt = _numbered(world, key, due, event, endpoint)
        _in_flight(world).put(attempt.id, attempt)
        attempts.append(attempt)
    return attempts


def may_take(world: World) -> bool:
    """Whether `take` would answer any attempt."""
    return bool(_ready(world).rows)


def in_flight(world: World) -> Table[Attempt]:
    """The attempts that were taken and not yet reported, by their ids."""
    return _in_flight(world)


def put_back(world: World, attempt: Attempt) -> None:
    """An attempt that was taken but never sent may start again; inside a change."""
    if attempt.id in _in_flight(world):
        _in_flight(world).delete(attempt.id)
        _ready(world).put(attempt.key, attempt.due)


def _numbered(world: World, key: str, due: Due, event: Event, endpoint: Webhook) -> Attempt:
    made, flying = deliveries_of(world, endpoint.id), _in_flight(world)
    number = due.after + 1
    while (identifier := delivery_id(event.id, endpoint.id, number)) in made or identifier in flying:
        number += 1
    return Attempt(
        identifier, key, due, number, endpoint.url, event.sequence, endpoint.sequence, started_at_ms=world.now_ms
    )


def report(world: World, attempt: Attempt, outcome: Outcome) -> Delivery | None:
    """What came back from an attempt: record it, plan the retry or give up, let the next of the line go.

    Inside a change. None for an attempt the world knows nothing of (it was restored or reset meanwhile).
    """
    event = world.journal.event(attempt.event_id)
    endpoint: Webhook | None = find(world, attempt.endpoint_id)
    if attempt.id not in _in_flight(world) or event is None or endpoint is None:
        return None
    _in_flight(world).delete(attempt.id)
    retry_at_ms = None
    due = attempt.due
    if not outcome.succeeded and due.stage is not None and endpoint.status == "enabled":
        if due.stage < len(RETRY_DELAYS_MS):
            retry_at_ms = world.now_ms + RETRY_DELAYS_MS[due.stage]
            retry = Due(due.event_id, due.endpoint_id, due.stage + 1, attempt.number)
            _plan_timer(world, RETRY, retry_at_ms, retry, event, endpoint, attempt.id)
        else:
            _give_up(world, endpoint)
    delivery = _record(world, attempt, event, outcome, retry_at_ms)
    _leave_line(world, attempt)
    return delivery


def _leave_line(world: World, attempt: Attempt) -> None:
    line = _lines(world).get(attempt.endpoint_id)
    if line is None:
        return
    if line.busy == attempt.key:
        line = replace(line, busy="")
    if attempt.due.is_first:
        line = replace(line, gone=line.gone + 1)
    if attempt.due.is_first and line.held:
        newest, number, step = attempt.place
        held = (replace(due, place=(newest, number, step + 1)) for due in line.held)
        line = replace(line, front=(*line.front, *held), held=())
    _lines(world).put(attempt.endpoint_id, line)
    endpoint: Webhook | None = find(world, attempt.endpoint_id)
    if endpoint is not None and endpoint.status != "disabled":
        _go_on(world, endpoint)


def _record(world: World, attempt: Attempt, event: Event, outcome: Outcome, next_attempt_at_ms: int | None) -> Delivery:
    error = outcome.error
    if error is None and not outcome.succeeded:
        error = f"the receiver answered {outcome.status} instead of 2xx"
    plan = attempt.due.plan or UNDISTURBED
    delivery = Delivery(
        id=attempt.id,
        sequence=(
            attempt.started_at_ms,
            *attempt.place,
            attempt.event_sequence,
            attempt.endpoint_sequence,
            attempt.number,
        ),
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
        request_headers=outcome.request_headers,
        response_headers=outcome.response_headers,
        response_body=outcome.response_body,
        altered=plan.alter_body,
        corrupted=plan.corrupt_signature,
        stale=plan.stale_timestamp,
    )
    deliveries_of(world, attempt.endpoint_id).put(delivery.id, delivery)
    return delivery


def _give_up(world: World, endpoint: Webhook) -> None:
    """The last attempt of one event failed: disable the endpoint and tell its owner (decision W5)."""
    endpoint = move(world, endpoint, "repeated_failures")
    silence(world, endpoint.id)
    tell_owner_disabled(world, endpoint)


def silence(world: World, endpoint_id: str) -> None:
    """Drop everything that a disabled endpoint was still to get (W9); attempts on their way end by themselves."""
    lines, waiting, ready = _lines(world), _waiting(world), _ready(world)
    line = lines.get(endpoint_id)
    if line is not None:
        for place in range(line.head, line.tail):
            waiting.delete(f"{endpoint_id}:{place}")
        started = any(attempt.key == line.busy for attempt in _in_flight(world).values())
        lines.put(endpoint_id, Line(busy=line.busy if started else "", gone=line.gone))
    for key, due in list(ready.items()):
        if due.endpoint_id == endpoint_id:
            ready.delete(key)
    cancel_planned(world, endpoint_id)


def cancel_planned(world: World, endpoint_id: str) -> None:
    """Drop the retries and delayed attempts of an endpoint that lie ahead.

    For one that is deleted this is all: the first attempts of what had happened before still go out one after another,
    so that how many it gets does not depend on how quickly it answered.
    """
    planned, made = _planned(world, endpoint_id), deliveries_of(world, endpoint_id)
    for row, plan in list(planned.items()):
        world.agenda.cancel_key(plan.timer)
        planned.delete(row)
        announcing = made.get(plan.delivery_id) if plan.delivery_id else None
        if announcing is not None:
            made.put(announcing.id, replace(announcing, next_attempt_at_ms=None))


# --- reading ------------------------------------------------------------------------------------------------------


def all_deliveries(
    world: World, *, event_id: str | None = None, endpoint_id: str | None = None, status: str | None = None
) -> list[Delivery]:
    """Every delivery of the world that fits, oldest first; deleted endpoints included."""
    ids = [endpoint_id] if endpoint_id is not None else _every_endpoint_id(world)
    found = [
        delivery
        for one in ids
        for delivery in deliveries_of(world, one).values()
        if event_id in (None, delivery.event_id) and status in (None, delivery.status)
    ]
    return sorted(found, key=attrgetter("sequence"))


def deliveries_about(world: World, environment: str, event_ids: Iterable[str]) -> list[Delivery]:
    """The deliveries of these events of one environment, oldest first; they are looked up, not searched for."""
    ids, found = _every_endpoint_id(world, (environment,)), []
    for event_id in event_ids:
        for endpoint_id in ids:
            made, number = deliveries_of(world, endpoint_id), 1
            while (delivery := made.get(delivery_id(event_id, endpoint_id, number))) is not None:
                found.append(delivery)
                number += 1
    return sorted(found, key=attrgetter("sequence"))


def _every_endpoint_id(world: World, environments: Iterable[str] = ENVIRONMENTS) -> list[str]:
    tables = [rows(world, environment, name) for environment in environments for name in (TABLE, f"{TABLE}:deleted")]
    return [endpoint.id for table in tables for endpoint in table.values()]
