"""Events and e-mails of a world, and control calls that wait for events or deliveries."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Literal, NotRequired, TypeVar

from typing_extensions import TypedDict

from simulator.engine.control.call import ENVIRONMENT_HEADER, ControlCall
from simulator.engine.control.history.lookups import lookups_of
from simulator.engine.control.operation import LIMIT, SECONDS, WAIT, Raw, any_text, calls_under, event_name
from simulator.engine.control.refusals import invalid_parameter, not_found
from simulator.engine.control.shapes import Envelope, EnvelopeList, describe_dropped
from simulator.engine.records.conditions import Condition, field_in, newest_of, oldest_of
from simulator.engine.records.dropped_rows import rows_dropped
from simulator.engine.rows.error import ControlError
from simulator.engine.server.running.chunks import indexed, json_list
from simulator.engine.server.runtime import Watcher
from simulator.engine.text.shapes import ENVIRONMENT, Count, listed
from simulator.engine.webhooks import EMAILS, EmailEntry, emails
from simulator.kernel.journal import EVENTS, Event, newest
from simulator.kernel.world import World

operation = calls_under("Seeing")

Found = TypeVar("Found")

_EVENTS = {
    "type": event_name("Only events of this type."),
    "object_id": any_text("Only events about the resource with this id."),
    "environment": {"type": "string", **listed(ENVIRONMENT), "description": "Only events of this environment."},
}

_SECONDS = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?", re.ASCII)
LONGEST_WAIT_SECONDS = 600.0
DEFAULT_WAIT_SECONDS = 30.0


class DeliveryCount(TypedDict):
    deliveries: Count
    """The number of delivery attempts that were started or finished during the call."""


class EmailList(TypedDict):
    data: list[EmailEntry]
    """The e-mails, oldest first."""
    dropped: NotRequired[Count]
    """The number of e-mails that could not be read and were dropped; omitted if there are none."""
    truncated: NotRequired[Literal[True]]
    """Present if e-mails were dropped."""


class _EventFilter:
    """The filters in the query of an event list. Raises `ControlError` 400 for an unknown environment or event type."""

    def __init__(self, call: ControlCall) -> None:
        environment = call.given("environment") or call.headers.get(ENVIRONMENT_HEADER)
        known = call.simulator.wiring.environments
        if environment is not None and environment not in known:
            raise invalid_parameter("environment", f"it must be {' or '.join(known)}")
        event_type = call.given("type")
        if event_type:
            call.require_event("type", event_type)
        filters = {"environment": environment, "type": event_type}
        self._conditions: list[Condition[Event]] = [field_in(name, value) for name, value in filters.items() if value]
        self._object_id = call.given("object_id")
        self._call = call

    async def newest(self, limit: int | None) -> list[Event]:
        """Return the newest matching events, oldest first. Other requests are handled while an index is built."""
        if self._object_id is not None:
            return newest(self._about_object(self._object_id), limit)
        call, conditions = self._call, self._conditions
        return await indexed(lambda: newest_of(call.world.store[EVENTS], conditions, limit, defers=True))

    def oldest(self) -> Event | None:
        if self._object_id is not None:
            return next(iter(self._about_object(self._object_id)), None)
        return oldest_of(self._call.world.store[EVENTS], self._conditions)

    def _about_object(self, object_id: str) -> list[Event]:
        events = lookups_of(self._call.world).events.rows_about(object_id)
        return [event for event in events if all(condition.holds(event) for condition in self._conditions)]


@operation("GET /events", "List the emitted events", query={**_EVENTS, **LIMIT}, by_environment=True)
async def events(call: ControlCall) -> Raw[EnvelopeList]:
    """List the envelopes of the emitted events, exactly as webhooks deliver them. The list includes events that no
    endpoint is subscribed to. Without a filter, it covers both environments.
    """
    found = await _EventFilter(call).newest(call.limit())
    return Raw(await json_list(found, lambda event: event.raw))


@operation(
    "GET /events/wait",
    "Wait for an event",
    query={**_EVENTS, "timeout": {**SECONDS, "description": "The number of real seconds to wait."}},
    by_environment=True,
)
async def wait_for_event(call: ControlCall) -> Raw[Envelope]:
    """Wait until an event matches the filters, and return its envelope. Events emitted before the call also match. Use
    this call in tests that run against a real or scaled clock. Fails with 408 after `timeout` seconds of real time.
    """
    timeout = wait_seconds(call)
    waker = Waker(call.world_id)
    call.runtime.watch(waker)
    try:
        found = await wait_until(call, _EventFilter(call).oldest, waker.woken, timeout)
    finally:
        call.runtime.unwatch(waker)
    if found is None:
        raise ControlError(408, "timeout", f"No matching event occurred within {timeout:g} s.")
    return Raw(found.raw)


def wait_seconds(call: ControlCall) -> float:
    """Return the query parameter `timeout` in real seconds. Raise `ControlError` 400 if it is not valid."""
    text = call.given("timeout")
    if text is None:
        return DEFAULT_WAIT_SECONDS
    if not (_SECONDS.fullmatch(text) and float(text) <= LONGEST_WAIT_SECONDS):
        raise invalid_parameter("timeout", f"it must be a number of seconds from 0 to {LONGEST_WAIT_SECONDS:g}")
    return float(text)


class Waker(Watcher):
    """Sets its `asyncio.Event` `woken` after every transaction in a world."""

    def __init__(self, world_id: str) -> None:
        self._world_id = world_id
        self.woken = asyncio.Event()

    def changed(self, world: World) -> None:
        if world.id == self._world_id:
            self.woken.set()


async def wait_until(
    call: ControlCall, find: Callable[[], Found | None], changed: asyncio.Event, timeout_seconds: float
) -> Found | None:
    """Return the result of `find`, called at once and each time `changed` is set, or None after the timeout."""

    async def wait() -> Found:
        while (found := find()) is None:
            changed.clear()
            await changed.wait()
        return found

    if (found := find()) is not None:
        return found  # check once, even if the timeout is 0
    try:
        return await call.while_connected(wait(), timeout_seconds)
    except TimeoutError:
        return find()


def event_of(call: ControlCall) -> Event:
    """Return the event identified in the path. Raise `ControlError` 404 if it does not exist."""
    event = call.world.journal.event(call.path["id"])
    if event is None:
        raise not_found("event", call.path["id"], "/events")
    return event


@operation("GET /events/{id}", "Get an event")
async def get_event(call: ControlCall) -> Raw[Envelope]:
    """Return the envelope of an event, exactly as webhooks deliver it. Fails with 404 for an unknown id."""
    return Raw(event_of(call).raw)


@operation("GET /emails", "List the e-mails of the service", query=LIMIT)
async def list_emails(call: ControlCall) -> EmailList:
    """List the e-mails that the real service would have sent. The simulator never sends any."""
    return {"data": call.newest(emails(call.world)), **describe_dropped(rows_dropped(call.world, EMAILS))}


@operation("POST /settle", "Wait for pending deliveries", query=WAIT)
async def settle(call: ControlCall) -> DeliveryCount:
    """Wait until no webhook attempt of the world is in flight. Use this call before you check which webhooks your
    receiver got. Retries planned for later do not count as in flight.
    """
    world = call.world
    call.runtime.changed(world)
    return {"deliveries": await call.settle(world)}
