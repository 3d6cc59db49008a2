"""Queues of first attempts, retries and resends (decisions W5, W6, W9 and W11).

The courier takes the attempts that may start (`take`), sends them, and reports each result (`report`). It makes no
decisions. Waiting attempts are table rows in the store, so transactions, snapshots and restores include them.

Three rules determine the design of this module:

- The first attempts to one endpoint are sent one after another, in the order of the events. Nothing else delays an
  attempt (W6). Therefore each endpoint has a queue, and retries, copies and resends bypass it.
- The response times of receivers are the only input that differs between runs. Therefore everything visible (the order
  of deliveries and timers, and the attempt numbers) depends on events and endpoints, never on which receiver responded
  first.
- The cost of an event must not depend on the number of earlier events. Therefore waiting events are rows in a table,
  by position. A tuple in the queue's row would grow, and would be written again for each event.
"""

from __future__ import annotations

from simulator.engine.faults import in_force
from simulator.engine.faults.in_force import DeliveryPlan
from simulator.engine.records.records import move
from simulator.engine.rows.service import signing_of
from simulator.engine.text.json import Shown
from simulator.engine.webhooks import records
from simulator.engine.webhooks.delivery import attempts, faults
from simulator.engine.webhooks.delivery.deliveries import endpoint_of, endpoints
from simulator.engine.webhooks.emails import record_disabled_email
from simulator.engine.webhooks.records import Attempt, Delivery, EndpointQueue, Outcome, PendingAttempt, Webhook
from simulator.kernel.agenda import Timer
from simulator.kernel.clock import LAST_MS
from simulator.kernel.dataclass import replace
from simulator.kernel.journal import Event
from simulator.kernel.world import World

RETRY = "webhook.retry"
DELAYED = "webhook.delayed"

_EMPTY = EndpointQueue()
"""The queue of an endpoint that has not been sent anything yet. It has no table row."""


# --- causes of an attempt ---------------------------------------------------------------------------------------


def on_event(world: World, event: Event, _subject: Shown) -> None:
    """Queue the first attempt for each recipient of an event, in the transaction that emitted it."""
    for endpoint in recipients(world, event):
        early = faults.early_plan(world, event, endpoint)
        # The attempt bypasses the queue, because the request that caused the event waits for the receiver.
        if early is not None:
            _route_alone(world, event, endpoint, PendingAttempt(event.id, endpoint.id, plan=early))
            continue
        queues, waiting = world.store[records.QUEUES], world.store[records.WAITING]
        queue = queues.get(endpoint.id) or _EMPTY
        place = f"{endpoint.id}:{queue.waiting_to}"
        waiting.put(place, event.id)
        faults.save_plan(world, place, faults.deliver_plan(world, event, endpoint))
        queues.put(endpoint.id, _started(world, endpoint, replace(queue, waiting_to=queue.waiting_to + 1)))


def recipients(world: World, event: Event) -> list[Webhook]:
    """Return the enabled endpoints that subscribe to an event, or the tested one for a test event (decision W10)."""
    table = endpoints(world, event.environment)
    if not table.rows:
        return []
    tested = world.store[records.TESTED].get(event.id)
    if tested is not None:
        endpoint = table.get(tested)
        return [endpoint] if endpoint is not None and endpoint.status == "enabled" else []
    return [endpoint for endpoint in table.values() if endpoint.status == "enabled" and endpoint.wants(event.type)]


def resend(world: World, event_id: str, endpoint_id: str | None = None, plan: DeliveryPlan | None = None) -> int:
    """Send an event again to all its current recipients, or to one of them (decision W11).

    `plan` replaces the active faults. Return the number of attempts. Raise `LookupError` if the event does not exist.
    Call this inside a transaction.
    """
    event = world.journal.event(event_id)
    if event is None:
        raise LookupError(f"there is no event with the id {event_id!r}")
    chosen = [endpoint for endpoint in recipients(world, event) if endpoint_id in (None, endpoint.id)]
    place = _place_now(world)
    for endpoint in chosen:
        pending = PendingAttempt(event.id, endpoint.id, stage=None, plan=plan, place=place, cause="resend")
        _route_alone(world, event, endpoint, pending)
    return len(chosen)


def _place_now(world: World) -> tuple[int, int, int]:
    """Return the position of an attempt that starts now, after all events so far (see `PendingAttempt.place`)."""
    # Resends and timers originate inside the world, so their numbers are the same in every run. A number assigned
    # when an attempt starts would differ, because a queue continues only when its receiver has responded.
    newest = next(iter(world.journal.events_newest_first()), None)
    return (0 if newest is None else newest.sequence, world.next_sequence("webhook_place"), 0)


def on_timer(world: World, timer: Timer) -> None:
    """Start a retry or a delayed attempt that is due."""
    planned = world.store[records.PLANNED.of(owner=timer.target)]
    row = planned[timer.arguments["row"]]
    planned.delete(timer.arguments["row"])
    event, endpoint = world.journal.event(row.pending.event_id), endpoint_of(world, timer.target)
    if event is not None and endpoint is not None:
        _route_alone(world, event, endpoint, replace(row.pending, place=_place_now(world)))


# --- until an attempt may start ---------------------------------------------------------------------


def _started(world: World, endpoint: Webhook, queue: EndpointQueue) -> EndpointQueue:
    """If an endpoint's queue is idle, make the first attempt for the next event ready. Return the updated queue."""
    while not queue.active:
        if queue.ahead:
            pending = queue.ahead[0]
            queue = replace(queue, ahead=queue.ahead[1:])
        elif queue.waiting_from < queue.waiting_to:
            waiting, place = world.store[records.WAITING], f"{endpoint.id}:{queue.waiting_from}"
            pending = PendingAttempt(waiting[place], endpoint.id, plan=faults.take_plan(world, place))
            waiting.delete(place)
            queue = replace(queue, waiting_from=queue.waiting_from + 1)
        else:
            break
        # An attempt that a fault delays, holds or drops leaves the queue idle. The next attempt may then start
        # immediately, so this is a loop, not an `if`.
        event = world.journal.event(pending.event_id)
        if event is not None:
            queue = _route(world, event, endpoint, queue, pending, queued=True)
    return queue


def _route_alone(world: World, event: Event, endpoint: Webhook, pending: PendingAttempt) -> None:
    """Start, delay, hold or drop an attempt that is not part of a queue."""
    if pending.plan is None:
        # The plan is saved with the attempt. A delayed attempt is routed a second time, and must not use up another
        # fault.
        pending = replace(pending, plan=faults.deliver_plan(world, event, endpoint))
    queue = world.store[records.QUEUES].get(endpoint.id) or _EMPTY
    changed = _route(world, event, endpoint, queue, pending, queued=False)
    if changed is not queue:
        world.store[records.QUEUES].put(endpoint.id, changed)


def _route(
    world: World, event: Event, endpoint: Webhook, queue: EndpointQueue, pending: PendingAttempt, *, queued: bool
) -> EndpointQueue:
    """Make an attempt ready, or delay, hold or drop it, depending on the fault that applies to it. Return the queue,
    which the caller saves. `queued` is True if the queue waits for the response to this attempt.
    """
    plan = pending.plan or records.NO_FAULT
    if plan.delay_ms:
        if endpoint.status == "deleted":
            # The queue of a deleted endpoint continues, but its delayed attempts are cancelled. The result must not
            # depend on whether the queue reached this attempt before or after the deletion.
            return queue
        # The plan contains only the remaining effects: when the timer fires, the attempt must not be delayed again.
        delayed = replace(pending, plan=replace(plan, delay_ms=0), delayed_after=queue.answered)
        due_at_ms = min(world.now_ms + plan.delay_ms, max(LAST_MS, world.now_ms))
        _plan_timer(world, DELAYED, due_at_ms, delayed, event, endpoint)
        return queue
    if (waiting := faults.held(world, event, endpoint, queue, pending, plan)) is not None:
        return replace(queue, held=(*queue.held, waiting))
    if plan.drop:
        dropped = attempts.numbered(world, "", pending, event, endpoint)
        attempts.record(world, dropped, event, Outcome(None, f"dropped by {plan.named}"), None)
        return queue
    # Copies have no position in the retry schedule. They use the same plan, but without further copies.
    extra = (plan.copies or 1) - 1
    pending = replace(pending, plan=replace(plan, copies=None)) if extra else pending
    copies = extra * (replace(pending, stage=None, cause="copy"),) if extra else ()
    pending, beside = faults.together(pending, plan)
    key = _make_ready(world, pending)
    if beside is not None:
        _make_ready(world, beside)
    if queued:
        # In a queue, a copy is sent like every other attempt: when the previous attempt was answered.
        return replace(queue, active=key, ahead=(*copies, *queue.ahead))
    for copy in copies:
        _make_ready(world, copy)
    return queue


def _make_ready(world: World, pending: PendingAttempt) -> str:
    key = str(world.next_sequence("webhook_attempt"))
    world.store[records.READY].put(key, pending)
    return key


def _plan_timer(
    world: World,
    kind: str,
    due_at_ms: int,
    pending: PendingAttempt,
    event: Event,
    endpoint: Webhook,
    announced_by: str | None = None,
) -> None:
    """Plan a retry or a delayed attempt. `announced_by` is the id of the delivery with its time."""
    row = str(world.next_sequence("webhook_planned"))
    # Timers that are due at the same time fire in the order in which they were planned. Here, this is the order of
    # the responses. A rank derived from event and endpoint replaces it, so that the order is the same in every run.
    # (No world has 2**30 endpoints.)
    rank = event.sequence << 30 | endpoint.sequence
    timer = world.agenda.plan_another(due_at_ms, kind, pending.endpoint_id, rank=rank, row=row)
    world.store[records.PLANNED.of(owner=pending.endpoint_id)].put(row, records.Planned(pending, timer, announced_by))


# --- called by the courier ---------------------------------------------------------------------------------------


def report(world: World, attempt: Attempt, outcome: Outcome) -> Delivery | None:
    """Record an attempt, plan its retry or give up, and start the next attempt in the queue.

    Call this inside a transaction. Return None if the attempt no longer exists because the world was restored or reset.
    """
    event, flying = world.journal.event(attempt.event_id), world.store[records.IN_FLIGHT]
    endpoint = endpoint_of(world, attempt.endpoint_id)
    if attempt.id not in flying or event is None or endpoint is None:
        return None
    flying.delete(attempt.id)
    retry_at_ms = None
    pending = attempt.pending
    outcome = faults.heard(pending.plan or records.NO_FAULT, outcome)
    if not outcome.succeeded and pending.stage is not None and endpoint.status == "enabled":
        signing = signing_of(world)
        delays_ms = signing.retry_delays_ms(world)
        if pending.stage < len(delays_ms):
            retry_at_ms = world.now_ms + delays_ms[pending.stage]
            retry = PendingAttempt(
                pending.event_id, pending.endpoint_id, pending.stage + 1, attempt.number, cause="retry"
            )
            _plan_timer(world, RETRY, retry_at_ms, retry, event, endpoint, attempt.id)
        elif signing.disables(world):
            endpoint = _give_up(world, endpoint)
    delivery = attempts.record(world, attempt, event, outcome, retry_at_ms)
    _release(world, attempt, event, endpoint, acknowledged=outcome.succeeded)
    return delivery


def _release(world: World, attempt: Attempt, event: Event, endpoint: Webhook, *, acknowledged: bool) -> None:
    """Continue the queue if it was waiting for this attempt, and start the held attempts that may start now."""
    queues = world.store[records.QUEUES]
    queue = queues.get(endpoint.id)
    if queue is None:
        return
    active = "" if queue.active == attempt.key else queue.active
    queue = replace(queue, active=active, answered=queue.answered + attempt.pending.is_first)
    if queue.held:
        # Held attempts follow the attempt that overtook them, even in the list of deliveries. They get the position of
        # that attempt, with the last number increased by one.
        newest, number, step = attempt.place
        going = faults.freed(world, queue, attempt, event, acknowledged=acknowledged)
        queue = _ahead(queue, going, (newest, number, step + 1))
    # The queue of a deleted endpoint continues (see `cancel_planned`). A disabled endpoint gets nothing more.
    queues.put(endpoint.id, queue if endpoint.status == "disabled" else _started(world, endpoint, queue))


def _ahead(queue: EndpointQueue, going: tuple[PendingAttempt, ...], place: tuple[int, int, int]) -> EndpointQueue:
    """Return the queue after moving the held attempts `going` to its front, where they get the position `place`."""
    moved = (replace(pending, place=place, held_for=0) for pending in going)
    held = tuple(pending for pending in queue.held if pending not in going)
    return replace(queue, ahead=(*queue.ahead, *moved), held=held)


def end_fault(world: World, fault_id: str) -> None:
    """End a fault of any kind, inside a transaction, and start the attempts that it holds for living endpoints."""
    in_force.end(world, fault_id)
    for endpoint_id, queue in list(world.store[records.QUEUES].items()):
        going = tuple(one for one in queue.held if one.plan is not None and one.plan.fault_id == fault_id)
        endpoint = endpoint_of(world, endpoint_id)
        if going and endpoint is not None and endpoint.status != "deleted":
            queue = _ahead(queue, going, _place_now(world))
            world.store[records.QUEUES].put(endpoint_id, _started(world, endpoint, queue))


def _give_up(world: World, endpoint: Webhook) -> Webhook:
    """Disable an endpoint after an event's last attempt failed, and record an e-mail (decision W5)."""
    endpoint = move(world, endpoint, "repeated_failures")
    attempts.discard_pending(world, endpoint.id)
    record_disabled_email(world, endpoint)
    return endpoint
