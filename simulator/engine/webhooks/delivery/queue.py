"""Who gets what, and when: queues of first attempts, retries, resends (decisions W5, W6, W9 and W11).

The courier takes what may go now (`take`) and reports what came back (`report`); in between it decides nothing. All
that waits is rows of the store, so it is part of every change, snapshot and restore.

Three rules shape what follows. First attempts of one endpoint go out one after another in the order of the events, and
nothing else holds anything back (W6): so there is a queue per endpoint, and retries, copies and resends go past it. How
quickly receivers answer is the only thing here that differs from run to run: so whatever can be seen (the order of
deliveries and of timers, the numbers of attempts) is decided by events and endpoints, never by who answered first. And
an event costs the same however many came before: so what waits is a table by place and not a tuple in the row of its
queue, which would be written anew, ever longer, for each event.
"""

from __future__ import annotations

from simulator.engine.faults import in_force
from simulator.engine.faults.in_force import DeliveryPlan
from simulator.engine.records.records import move
from simulator.engine.rows.service import signing_of
from simulator.engine.text.json import Shown
from simulator.engine.webhooks.delivery import attempts, faults
from simulator.engine.webhooks.delivery.deliveries import endpoint_of, endpoints
from simulator.engine.webhooks.emails import tell_owner_disabled
from simulator.engine.webhooks.records import (
    IN_FLIGHT,
    NO_FAULT,
    PLANNED,
    QUEUES,
    READY,
    TESTED,
    WAITING,
    Attempt,
    Delivery,
    EndpointQueue,
    Outcome,
    PendingAttempt,
    Planned,
    Webhook,
)
from simulator.kernel.agenda import Timer
from simulator.kernel.clock import LAST_MS
from simulator.kernel.copying import replace
from simulator.kernel.journal import Event
from simulator.kernel.world import World

RETRY = "webhook.retry"
DELAYED = "webhook.delayed"

_EMPTY = EndpointQueue()
"""Of an endpoint that was never sent anything: no row is kept for it."""


# --- what starts an attempt ---------------------------------------------------------------------------------------


def on_event(world: World, event: Event, _subject: Shown) -> None:
    """Queue the first attempt of an event for everyone who is to get it; inside the change that emitted it."""
    for endpoint in recipients(world, event):
        early = faults.early_plan(world, event, endpoint)
        if early is not None:  # past the queue: the call that caused it waits for its answer
            _route_alone(world, event, endpoint, PendingAttempt(event.id, endpoint.id, plan=early))
            continue
        queues, waiting = world.store[QUEUES], world.store[WAITING]
        queue = queues.get(endpoint.id) or _EMPTY
        place = f"{endpoint.id}:{queue.waiting_to}"
        waiting.put(place, event.id)
        faults.keep_plan(world, place, faults.deliver_plan(world, event, endpoint))
        queues.put(endpoint.id, _started(world, endpoint, replace(queue, waiting_to=queue.waiting_to + 1)))


def recipients(world: World, event: Event) -> list[Webhook]:
    """Every enabled and subscribed endpoint; a test call's event goes to its endpoint alone (decision W10)."""
    table = endpoints(world, event.environment)
    if not table.rows:
        return []
    tested = world.store[TESTED].get(event.id)
    if tested is not None:
        endpoint = table.get(tested)
        return [endpoint] if endpoint is not None and endpoint.status == "enabled" else []
    return [endpoint for endpoint in table.values() if endpoint.status == "enabled" and endpoint.wants(event.type)]


def resend(world: World, event_id: str, endpoint_id: str | None = None, plan: DeliveryPlan | None = None) -> int:
    """Send an event again to everyone who would get it now (decision W11), or to one of them.

    `plan` is what is to go wrong with it, in place of what faults in force say. Returns how many attempts that starts.
    Inside a change; LookupError when there is no such event.
    """
    event = world.journal.event(event_id)
    if event is None:
        raise LookupError(f"there is no event with the id {event_id!r}")
    chosen = [endpoint for endpoint in recipients(world, event) if endpoint_id in (None, endpoint.id)]
    place = _place_now(world)
    for endpoint in chosen:
        _route_alone(world, event, endpoint, _resent(event, endpoint, plan, place))
    return len(chosen)


def _resent(event: Event, endpoint: Webhook, plan: DeliveryPlan | None, place: tuple[int, ...]) -> PendingAttempt:
    return PendingAttempt(event.id, endpoint.id, stage=None, plan=plan, place=place, cause="resend")


def _place_now(world: World) -> tuple[int, int, int]:
    """The place of an attempt that goes now, after the events that are there (see `PendingAttempt.place`)."""
    # Resends and timers come from inside the world, so their numbers are the same in every run; that of an attempt as
    # such would not be, because a queue goes on when its receiver has answered.
    newest = next(iter(world.journal.events_newest_first()), None)
    return (0 if newest is None else newest.sequence, world.next_sequence("webhook_place"), 0)


def on_timer(world: World, timer: Timer) -> None:
    """A retry or a delayed attempt falls due."""
    planned = world.store[PLANNED.of(owner=timer.target)]
    row = planned[timer.arguments["row"]]
    planned.delete(timer.arguments["row"])
    event, endpoint = world.journal.event(row.pending.event_id), endpoint_of(world, timer.target)
    if event is not None and endpoint is not None:
        _route_alone(world, event, endpoint, replace(row.pending, place=_place_now(world)))


# --- the way of an attempt until it may start ---------------------------------------------------------------------


def _started(world: World, endpoint: Webhook, queue: EndpointQueue) -> EndpointQueue:
    """The queue of an endpoint once it goes on, where it is idle: its next first attempt is about to start."""
    while not queue.active:
        if queue.ahead:
            pending = queue.ahead[0]
            queue = replace(queue, ahead=queue.ahead[1:])
        elif queue.waiting_from < queue.waiting_to:
            waiting, place = world.store[WAITING], f"{endpoint.id}:{queue.waiting_from}"
            pending = PendingAttempt(waiting[place], endpoint.id, plan=faults.kept_plan(world, place))
            waiting.delete(place)
            queue = replace(queue, waiting_from=queue.waiting_from + 1)
        else:
            break
        # An attempt that a fault puts aside leaves the queue idle, hence the loop: the next one may go at once.
        event = world.journal.event(pending.event_id)
        if event is not None:
            queue = _route(world, event, endpoint, queue, pending, queued=True)
    return queue


def _route_alone(world: World, event: Event, endpoint: Webhook, pending: PendingAttempt) -> None:
    """Bring an attempt on its way, or aside, that no queue waits for."""
    if pending.plan is None:
        # Kept: an attempt that was put aside comes by here again, and must not use up another fault.
        pending = replace(pending, plan=faults.deliver_plan(world, event, endpoint))
    queue = world.store[QUEUES].get(endpoint.id) or _EMPTY
    changed = _route(world, event, endpoint, queue, pending, queued=False)
    if changed is not queue:
        world.store[QUEUES].put(endpoint.id, changed)


def _route(
    world: World, event: Event, endpoint: Webhook, queue: EndpointQueue, pending: PendingAttempt, *, queued: bool
) -> EndpointQueue:
    """Bring one attempt on its way, or aside when a fault says so. `queued`: its queue waits for the answer.

    Returns the queue of its endpoint as it is after that; whoever calls this writes it.
    """
    plan = pending.plan or NO_FAULT
    if plan.delay_ms:
        if endpoint.status == "deleted":
            return queue  # it would have been cancelled had the queue come to it before the endpoint was deleted
        # Carried out, so cleared: what a fault still asks for is what stands in the plan.
        delayed = replace(pending, plan=replace(plan, delay_ms=0), delayed_after=queue.answered)
        due_at_ms = min(world.now_ms + plan.delay_ms, max(LAST_MS, world.now_ms))  # at the end of time at the latest
        _plan_timer(world, DELAYED, due_at_ms, delayed, event, endpoint)
        return queue
    if (waiting := faults.held(world, event, endpoint, queue, pending, plan)) is not None:
        return replace(queue, held=(*queue.held, waiting))
    if plan.drop:
        _record_drop(world, event, endpoint, pending, plan)
        return queue
    # Copies are attempts without a place in the retry schedule; they keep the plan, less what would copy them again.
    extra = plan.copies - 1
    pending = replace(pending, plan=replace(plan, copies=1)) if extra else pending
    copies = extra * (replace(pending, stage=None, cause="copy"),) if extra else ()
    pending, beside = faults.together(pending, plan)
    key = _make_ready(world, pending)
    if beside is not None:
        _make_ready(world, beside)
    if queued:
        # In the queue copies are sent like everything else there, one when the one before is answered.
        return replace(queue, active=key, ahead=(*copies, *queue.ahead))
    for copy in copies:
        _make_ready(world, copy)
    return queue


def _make_ready(world: World, pending: PendingAttempt) -> str:
    key = str(world.next_sequence("webhook_attempt"))
    world.store[READY].put(key, pending)
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
    """Plan a retry or a delayed attempt; `announced_by` is the delivery that says when."""
    row = str(world.next_sequence("webhook_planned"))
    # Timers of one moment fire in the order in which they were planned, and that is the order of the answers. A rank of
    # event and endpoint takes its place. (There are fewer than 2**30 endpoints.)
    rank = event.sequence << 30 | endpoint.sequence
    timer = world.agenda.plan_another(due_at_ms, kind, pending.endpoint_id, rank=rank, row=row)
    world.store[PLANNED.of(owner=pending.endpoint_id)].put(row, Planned(pending, timer, announced_by))


def _record_drop(world: World, event: Event, endpoint: Webhook, pending: PendingAttempt, plan: DeliveryPlan) -> None:
    attempt = attempts.numbered(world, "", pending, event, endpoint)
    attempts.record(world, attempt, event, Outcome(None, f"dropped by {plan.named}"), None)


# --- what the courier calls ---------------------------------------------------------------------------------------


def report(world: World, attempt: Attempt, outcome: Outcome) -> Delivery | None:
    """What came back from an attempt: record it, plan the retry or give up, start the next one queued.

    Inside a change. None for an attempt the world knows nothing of (it was restored or reset meanwhile).
    """
    event, flying = world.journal.event(attempt.event_id), world.store[IN_FLIGHT]
    endpoint = endpoint_of(world, attempt.endpoint_id)
    if attempt.id not in flying or event is None or endpoint is None:
        return None
    flying.delete(attempt.id)
    retry_at_ms = None
    pending = attempt.pending
    outcome = faults.heard(pending.plan or NO_FAULT, outcome)
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
    """Let the queue go on when it was waiting for this attempt, and let go what was held until it was answered."""
    queues = world.store[QUEUES]
    queue = queues.get(endpoint.id)
    if queue is None:
        return
    active = "" if queue.active == attempt.key else queue.active
    queue = replace(queue, active=active, answered=queue.answered + attempt.pending.is_first)
    if queue.held:
        # They go right after the one that overtook them, also in the list of deliveries: at its place, one step on.
        newest, number, step = attempt.place
        going = faults.freed(world, queue, attempt, event, acknowledged=acknowledged)
        queue = _ahead(queue, going, (newest, number, step + 1))
    # A deleted endpoint goes on (see `cancel_planned`), a disabled one gets nothing more.
    queues.put(endpoint.id, queue if endpoint.status == "disabled" else _started(world, endpoint, queue))


def _ahead(queue: EndpointQueue, going: tuple[PendingAttempt, ...], place: tuple[int, int, int]) -> EndpointQueue:
    """A queue in which some of those that are held go next."""
    moved = (replace(pending, place=place, held_for=0) for pending in going)
    held = tuple(pending for pending in queue.held if pending not in going)
    return replace(queue, ahead=(*queue.ahead, *moved), held=held)


def end_fault(world: World, fault_id: str) -> None:
    """End a fault of any sort; the attempts that it holds go at once, but not to an endpoint that is deleted.

    Inside a change.
    """
    in_force.end(world, fault_id)
    for endpoint_id, queue in list(world.store[QUEUES].items()):
        going = tuple(one for one in queue.held if one.plan is not None and one.plan.fault_id == fault_id)
        endpoint = endpoint_of(world, endpoint_id)
        if going and endpoint is not None and endpoint.status != "deleted":
            queue = _ahead(queue, going, _place_now(world))
            world.store[QUEUES].put(endpoint_id, _started(world, endpoint, queue))


def _give_up(world: World, endpoint: Webhook) -> Webhook:
    """The last attempt of one event failed: disable the endpoint and tell its owner (decision W5)."""
    endpoint = move(world, endpoint, "repeated_failures")
    attempts.discard_pending(world, endpoint.id)
    tell_owner_disabled(world, endpoint)
    return endpoint
