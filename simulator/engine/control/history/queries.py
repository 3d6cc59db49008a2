"""Reading what happened: calls, events, deliveries, e-mails, and waiting for something to be there."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from typing import Any, Literal, NotRequired

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
from simulator.engine.control.refusals import wrong
from simulator.engine.control.shapes import Envelope, EnvelopeList, Environment, embedded
from simulator.engine.records.conditions import Condition, field_in, newest_of, oldest_of
from simulator.engine.records.dropped_rows import rows_dropped
from simulator.engine.records.requests import JournalEntry, requests_of
from simulator.engine.rows.bases import split_base
from simulator.engine.rows.error import ControlError
from simulator.engine.server.running.chunks import first_of, indexed, json_list
from simulator.engine.server.runtime import Watcher
from simulator.engine.text.json import dumps, loads
from simulator.engine.text.shapes import Count, Timestamp
from simulator.engine.webhooks import EMAILS, EmailEntry, emails
from simulator.kernel.clock import format_timestamp
from simulator.kernel.journal import EVENTS, Event, newest
from simulator.kernel.world import World

operation = calls_under("Seeing")

_EVENTS: Query = {
    "type": event_name("Only events of this type."),
    "object_id": any_text("Only events about the resource of this id."),
    "environment": environment_name("Only events of this environment."),
}

_REQUESTS: Query = {
    "method": any_text("Only calls by this method."),
    "path": any_text("Only calls to paths that fit this glob, in full or below the base."),
    "status": {**WHOLE, "description": "Only calls that were answered with this status."},
    "text": any_text("Only calls whose path, body or answer has this text; capitals make no difference."),
    **LIMIT,
}

_SECONDS = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?", re.ASCII)
LONGEST_WAIT_SECONDS = 600.0
DEFAULT_WAIT_SECONDS = 30.0


class JournalEntryShape(TypedDict):
    id: str
    """The request id, which the answer carried too."""
    at: Timestamp
    """When it came, in simulated time."""
    environment: Environment
    """The environment that it called."""
    public_key: str | None
    """The key pair behind its token; null without one."""
    operation: str | None
    """The operation that it called; null for a path that none has."""
    method: str
    """Its method."""
    path: str
    """Its full path."""
    query: str
    """Its query string."""
    headers: dict[str, str]
    """Its headers, secrets masked."""
    body: Any
    """Its body, secrets masked."""
    status: Count
    """The status it was answered with."""
    response: Any
    """The answer, secrets masked."""
    duration_ms: float
    """How long the answer took, in milliseconds of the wall clock."""
    advice: list[str]
    """The kinds of advice that it shows."""
    unknown_fields: list[str]
    """The fields and query parameters that the operation does not know."""
    fault_id: str | None
    """The fault that acted on it; null where none did."""


class JournalList(TypedDict):
    data: list[JournalEntryShape]
    """The calls, oldest first."""
    dropped: Count
    """How many older ones the journal has dropped."""
    truncated: NotRequired[Literal[True]]
    """Present where the journal has dropped older ones."""


class DeliveryCount(TypedDict):
    deliveries: Count
    """How many attempts were made meanwhile."""


class EmailList(TypedDict):
    data: list[EmailEntry]
    """The e-mails, oldest first."""
    dropped: NotRequired[Count]
    """How many e-mails could not be read and were dropped; left out when there are none."""
    truncated: NotRequired[Literal[True]]
    """Present when e-mails were dropped."""


@operation("GET /requests", "The journal of interface calls", query=_REQUESTS)
async def requests(call: ControlCall) -> Raw[JournalList]:
    """The journal of interface calls by method, path (a glob), status and text; the newest `limit`, oldest first."""
    method, path = (call.query.get(name) or None for name in ("method", "path"))
    text = call.query.get("text", "").lower().encode()
    status = call.whole("status")
    environments = call.simulator.provider.environments
    kept = requests_of(call.world)
    dropped, rows = kept.dropped, list(reversed(kept.entries))

    def wanted(row: JournalEntry) -> bool:
        return (
            (method is None or row.method == method.upper())
            and (path is None or _is_at(environments, row.path.partition("?")[0], path))
            and (status is None or row.status == status)
            and (not text or any(text in part.lower() for part in (row.path.encode(), row.body, row.response)))
        )

    found = await first_of(rows, wanted, call.limit())
    lost = {"dropped": dropped, "truncated": True} if dropped else {"dropped": 0}
    return Raw(await json_list(reversed(found), lambda row: dumps(show_entry(row)), **lost))


def _is_at(environments: Mapping[str, str], path: str, wanted: str) -> bool:
    """Whether a full path matches a glob, given in full or below its base path."""
    if fnmatchcase(path, wanted):
        return True
    environment, below = split_base(environments, path)
    return environment != "" and below != "" and fnmatchcase(below, wanted)


def show_entry(row: JournalEntry) -> JournalEntryShape:
    """A call as the journal shows it; bodies as JSON where they are JSON."""
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
        "body": readable(row.body),
        "status": row.status,
        "response": readable(row.response),
        "duration_ms": row.duration_ms,
        "advice": ["unknown_field"] if row.unknown_fields else [],
        "unknown_fields": list(row.unknown_fields),
        "fault_id": row.fault or None,
    }


def readable(raw: bytes) -> Any:
    """Parsed JSON where it is JSON, else the text, null when empty."""
    if not raw:
        return None
    try:
        loads(raw)
    except ValueError:
        return raw.decode("utf-8", "replace")
    return embedded(raw)


def _wanted(call: ControlCall) -> list[Condition[Event]]:
    """What an event must be, but for its object; 400 for an environment or an event type that there is not."""
    environment = call.query.get("environment") or call.headers.get(ENVIRONMENT_HEADER)
    known = call.simulator.wiring.environments
    if environment is not None and environment not in known:
        raise wrong("environment", f"it is {' or '.join(known)}")
    wanted = {"environment": environment, "type": call.query.get("type")}
    if wanted["type"]:
        known_event(call.world, "type", wanted["type"])
    return [field_in(name, value) for name, value in wanted.items() if value]


def _about(call: ControlCall, object_id: str, wanted: list[Condition[Event]]) -> list[Event]:
    """The events about an object that are wanted, oldest first."""
    about = call.lookups.events(call.world, object_id)
    return [event for event in about if all(condition.holds(event) for condition in wanted)]


@operation("GET /events", "Every event emitted", query={**_EVENTS, **LIMIT}, by_environment=True)
async def events(call: ControlCall) -> Raw[EnvelopeList]:
    """The envelopes of all events that match, byte for byte; the newest `limit`, oldest first."""
    wanted, object_id, limit = _wanted(call), call.query.get("object_id"), call.limit()
    if object_id:
        found = newest(_about(call, object_id, wanted), limit)
    else:
        found = await indexed(lambda: newest_of(call.world.store[EVENTS], wanted, limit, defers=True))
    return Raw(await json_list(found, lambda event: event.raw))


@operation(
    "GET /events/wait",
    "Wait for an event",
    query={**_EVENTS, "timeout": {**SECONDS, "description": "How many real seconds to wait."}},
    by_environment=True,
)
async def wait_for_event(call: ControlCall) -> Raw[Envelope]:
    """The first matching envelope, one already emitted counts; 408 when the real time passes."""
    timeout = wait_seconds(call)
    wanted, object_id = _wanted(call), call.query.get("object_id")

    def find() -> Event | None:
        if object_id:
            return next(iter(_about(call, object_id, wanted)), None)
        return oldest_of(call.world.store[EVENTS], wanted)

    found = await wait_until(call, find, timeout)
    if found is None:
        raise ControlError(408, "timeout", f"No such event within {timeout:g} s.")
    return Raw(found.raw)


def wait_seconds(call: ControlCall) -> float:
    """The query parameter `timeout`: real seconds."""
    text = call.query.get("timeout")
    if not text:
        return DEFAULT_WAIT_SECONDS
    if not (_SECONDS.fullmatch(text) and float(text) <= LONGEST_WAIT_SECONDS):
        raise wrong("timeout", f"it is a number of seconds from 0 to {LONGEST_WAIT_SECONDS:g}")
    return float(text)


class Waker(Watcher):
    """Wakes the calls that wait whenever something may have happened in a world."""

    def __init__(self, world_id: str) -> None:
        self._world_id = world_id
        self.woken = asyncio.Event()

    def changed(self, world: World) -> None:
        if world.id == self._world_id:
            self.woken.set()


async def wait_until(call: ControlCall, find: Callable[[], Any], timeout_seconds: float) -> Any:
    """Wait, without polling, until `find` returns something else than None; None when the time is over.

    ClientDisconnect when the client leaves first.
    """
    waker = Waker(call.world_id)

    async def wait() -> Any:
        while (found := find()) is None:
            waker.woken.clear()
            await waker.woken.wait()
        return found

    if (found := find()) is not None:
        return found  # whatever time there is to wait
    call.runtime.watch(waker)
    try:
        return await call.while_here(wait(), timeout_seconds)
    except TimeoutError:
        return find()
    finally:
        call.runtime.unwatch(waker)


def event_of(call: ControlCall) -> Event:
    """The event of the path; 404 for an id that there is not."""
    event = call.world.journal.event(call.path["id"])
    if event is None:
        raise ControlError(404, "not_found", f"There is no event with the id {call.path['id']!r}.")
    return event


@operation("GET /events/{id}", "One event's envelope")
async def get_event(call: ControlCall) -> Raw[Envelope]:
    """The envelope of an event, byte for byte as it is sent; 404 for an id that there is not."""
    return Raw(event_of(call).raw)


@operation("GET /emails", "E-mails the service would have sent", query=LIMIT)
async def list_emails(call: ControlCall) -> EmailList:
    """Every e-mail that the service would have sent; none is ever sent."""
    found: EmailList = {"data": newest(emails(call.world), call.limit())}
    dropped = rows_dropped(call.world, EMAILS)
    return {**found, "dropped": dropped, "truncated": True} if dropped else found


@operation("POST /settle", "Wait until no webhook attempt is in flight", query=WAIT)
async def settle(call: ControlCall) -> DeliveryCount:
    """Wait until no webhook attempt of the world is in flight; how many were finished meanwhile."""
    world = call.world
    call.runtime.changed(world)
    return {"deliveries": await call.settle(world)}
