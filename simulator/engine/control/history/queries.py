"""Requests, events and e-mails of a world, and calls that wait for one."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from typing import Any, Literal, NotRequired, TypeVar

from typing_extensions import TypedDict

from simulator.engine.control.call import ENVIRONMENT_HEADER, ControlCall
from simulator.engine.control.operation import (
    LIMIT,
    SECONDS,
    WAIT,
    WHOLE,
    Query,
    Raw,
    any_text,
    calls_under,
    environment_name,
    event_name,
    known_event,
)
from simulator.engine.control.refusals import invalid_parameter, not_found
from simulator.engine.control.shapes import Envelope, EnvelopeList, Environment, describe_dropped, embedded
from simulator.engine.records.conditions import Condition, having, newest_of, oldest_of
from simulator.engine.records.dropped_rows import rows_dropped
from simulator.engine.records.requests import JournalEntry, requests_of
from simulator.engine.rows.bases import split_base
from simulator.engine.rows.error import ControlError
from simulator.engine.server.running.chunks import first_of, json_list
from simulator.engine.server.runtime import Watcher
from simulator.engine.text.json import dumps, loads
from simulator.engine.text.shapes import Count, Timestamp
from simulator.engine.webhooks import EMAILS, EmailEntry, emails
from simulator.kernel.clock import format_timestamp
from simulator.kernel.journal import EVENTS, Event, newest
from simulator.kernel.world import World

operation = calls_under("Seeing")

Found = TypeVar("Found")

_EVENTS: Query = {
    "type": event_name("Only events of this type."),
    "object_id": any_text("Only events about the resource with this id."),
    "environment": environment_name("Only events of this environment."),
}

_REQUESTS: Query = {
    "method": any_text("Only requests with this method."),
    "path": any_text("Only requests whose path matches this glob, either in full or below the base path."),
    "status": {**WHOLE, "description": "Only requests with this response status."},
    "text": any_text("Only requests with this string in their path, body or response. Case is ignored."),
    **LIMIT,
}

_SECONDS = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?", re.ASCII)
LONGEST_WAIT_SECONDS = 600.0
DEFAULT_WAIT_SECONDS = 30.0


class JournalEntryShape(TypedDict):
    id: str
    """The request id, as in the response header."""
    at: Timestamp
    """The simulated time of the request."""
    environment: Environment
    """The environment of the request."""
    public_key: str | None
    """The key pair that the token belongs to; null without a valid token."""
    operation: str | None
    """The operation; null for an unknown path."""
    method: str
    """The HTTP method."""
    path: str
    """The full path."""
    query: str
    """The query string."""
    headers: dict[str, str]
    """The headers, with secrets masked."""
    body: Any
    """The body, with secrets masked."""
    status: Count
    """The response status; 0 if a fault cut the connection."""
    response: Any
    """The response body, with secrets masked."""
    duration_ms: float
    """How long the response took, in milliseconds of real time."""
    advice: list[str]
    """The kinds of advice that this request gives rise to."""
    unknown_fields: list[str]
    """Fields and query parameters that the operation does not know."""
    fault_id: str | None
    """The fault that affected the request; null if there was none."""


class JournalList(TypedDict):
    data: list[JournalEntryShape]
    """The requests, oldest first."""
    dropped: Count
    """The number of older requests that the journal has dropped."""
    truncated: NotRequired[Literal[True]]
    """Present if the journal has dropped older requests."""


class DeliveryCount(TypedDict):
    deliveries: Count
    """The number of delivery attempts that were made or finished during the call."""


class EmailList(TypedDict):
    data: list[EmailEntry]
    """The e-mails, oldest first."""
    dropped: NotRequired[Count]
    """The number of e-mails that could not be read and were dropped; left out if there are none."""
    truncated: NotRequired[Literal[True]]
    """Present if e-mails were dropped."""


@operation("GET /requests", "List the API requests", query=_REQUESTS)
async def requests(call: ControlCall) -> Raw[JournalList]:
    """List your API requests and their responses, filtered by method, path, status or text. Secrets are masked.

    Use it to see what your code sent. The journal has a bounded size: `dropped` counts the older requests it lost.
    """
    method, path, status = call.given("method"), call.given("path"), call.whole("status")
    text = call.query.get("text", "").lower().encode()
    environments = call.simulator.provider.environments
    log = requests_of(call.world)
    dropped, rows = log.dropped, list(reversed(log.entries))

    def wanted(row: JournalEntry) -> bool:
        return (
            (method is None or row.method == method.upper())
            and (path is None or _matches_path(environments, row.path.partition("?")[0], path))
            and (status is None or row.status == status)
            and (not text or any(text in part.lower() for part in (row.path.encode(), row.body, row.response)))
        )

    found = await first_of(rows, wanted, call.limit())
    more = {"dropped": 0, **describe_dropped(dropped)}
    return Raw(await json_list(reversed(found), lambda row: dumps(show_entry(row)), **more))


def _matches_path(environments: Mapping[str, str], path: str, wanted: str) -> bool:
    """Whether a path, or its part below the base path of the environment, matches a glob."""
    if fnmatchcase(path, wanted):
        return True
    environment, below = split_base(environments, path)
    return environment != "" and below != "" and fnmatchcase(below, wanted)


def show_entry(row: JournalEntry) -> JournalEntryShape:
    """Render a request. JSON bodies are shown as JSON, others as strings."""
    return {
        "id": row.id,
        "at": format_timestamp(row.at_ms),
        "environment": row.environment,
        "public_key": row.public_key,
        "operation": row.operation or None,
        "method": row.method,
        "path": row.path.partition("?")[0],
        "query": row.path.partition("?")[2],
        "headers": dict(row.headers),
        "body": _show_body(row.body),
        "status": row.status,
        "response": _show_body(row.response),
        "duration_ms": row.duration_ms,
        "advice": ["unknown_field"] if row.unknown_fields else [],
        "unknown_fields": list(row.unknown_fields),
        "fault_id": row.fault or None,
    }


def _show_body(raw: bytes) -> Any:
    if not raw:
        return None
    try:
        loads(raw)
    except ValueError:
        return raw.decode("utf-8", "replace")
    return embedded(raw)


class _EventFilter:
    """The filters of a query for events. 400 for an unknown environment or event type."""

    def __init__(self, call: ControlCall) -> None:
        environment = call.given("environment") or call.headers.get(ENVIRONMENT_HEADER)
        known = call.simulator.wiring.environments
        if environment is not None and environment not in known:
            raise invalid_parameter("environment", f"it must be {' or '.join(known)}")
        event_type = call.given("type")
        if event_type:
            known_event(call.world, "type", event_type)
        filters = {"environment": environment, "type": event_type}
        self._conditions: list[Condition[Event]] = [having(name, value) for name, value in filters.items() if value]
        self._object_id = call.given("object_id")
        self._call = call

    def newest(self, limit: int | None) -> list[Event]:
        """Return the newest matching events, oldest first."""
        if self._object_id is not None:
            return newest(self._about_object(self._object_id), limit)
        return newest_of(self._call.world.store[EVENTS], self._conditions, limit)

    def oldest(self) -> Event | None:
        """Return the first matching event, or None."""
        if self._object_id is not None:
            return next(iter(self._about_object(self._object_id)), None)
        return oldest_of(self._call.world.store[EVENTS], self._conditions)

    def _about_object(self, object_id: str) -> list[Event]:
        events = self._call.lookups.events(self._call.world, object_id)
        return [event for event in events if all(condition.holds(event) for condition in self._conditions)]


@operation("GET /events", "List the emitted events", query={**_EVENTS, **LIMIT}, by_environment=True)
async def events(call: ControlCall) -> Raw[EnvelopeList]:
    """List the envelopes of the emitted events, exactly as webhooks deliver them.

    Events are listed even if no endpoint is subscribed to them. Without a filter, both environments are included.
    """
    found = _EventFilter(call).newest(call.limit())
    return Raw(await json_list(found, lambda event: event.raw))


@operation(
    "GET /events/wait",
    "Wait for an event",
    query={**_EVENTS, "timeout": {**SECONDS, "description": "The number of real seconds to wait."}},
    by_environment=True,
)
async def wait_for_event(call: ControlCall) -> Raw[Envelope]:
    """Wait until an event matches, and return its envelope. An event that was emitted earlier counts.

    Use it in tests that run against a real or scaled clock. 408 after `timeout` seconds of real time.
    """
    timeout = wait_seconds(call)
    waker = Waker(call.world_id)
    call.runtime.watch(waker)
    try:
        found = await wait_until(call, _EventFilter(call).oldest, waker.woken, timeout)
    finally:
        call.runtime.unwatch(waker)
    if found is None:
        raise ControlError(408, "timeout", f"No such event within {timeout:g} s.")
    return Raw(found.raw)


def wait_seconds(call: ControlCall) -> float:
    """Return the query parameter `timeout`, in real seconds. 400 if it is not a number of seconds."""
    text = call.given("timeout")
    if text is None:
        return DEFAULT_WAIT_SECONDS
    if not (_SECONDS.fullmatch(text) and float(text) <= LONGEST_WAIT_SECONDS):
        raise invalid_parameter("timeout", f"it must be a number of seconds from 0 to {LONGEST_WAIT_SECONDS:g}")
    return float(text)


class Waker(Watcher):
    """Sets `woken` after every change in a world."""

    def __init__(self, world_id: str) -> None:
        self._world_id = world_id
        self.woken = asyncio.Event()

    def changed(self, world: World) -> None:
        if world.id == self._world_id:
            self.woken.set()


async def wait_until(
    call: ControlCall, find: Callable[[], Found | None], changed: asyncio.Event, timeout_seconds: float
) -> Found | None:
    """Call `find` after each `changed` until it finds something. Return that, or None after the timeout.

    ClientDisconnect if the client leaves first.
    """

    async def wait() -> Found:
        while (found := find()) is None:
            changed.clear()
            await changed.wait()
        return found

    if (found := find()) is not None:
        return found  # even with a timeout of 0
    try:
        return await call.while_connected(wait(), timeout_seconds)
    except TimeoutError:
        return find()


def event_of(call: ControlCall) -> Event:
    """Return the event of the path. 404 if it does not exist."""
    event = call.world.journal.event(call.path["id"])
    if event is None:
        raise not_found("event", call.path["id"])
    return event


@operation("GET /events/{id}", "Get an event")
async def get_event(call: ControlCall) -> Raw[Envelope]:
    """Return the envelope of an event, exactly as webhooks deliver it. 404 for an unknown id."""
    return Raw(event_of(call).raw)


@operation("GET /emails", "List the e-mails of the service", query=LIMIT)
async def list_emails(call: ControlCall) -> EmailList:
    """List the e-mails that the real service would have sent. The simulator never sends any."""
    return {"data": call.newest(emails(call.world)), **describe_dropped(rows_dropped(call.world, EMAILS))}


@operation("POST /settle", "Wait for pending deliveries", query=WAIT)
async def settle(call: ControlCall) -> DeliveryCount:
    """Wait until no webhook attempt of the world is in flight.

    Use it before you assert what your receiver got. Retries that are planned for later do not count as in flight.
    """
    world = call.world
    call.runtime.changed(world)
    return {"deliveries": await call.settle(world)}
