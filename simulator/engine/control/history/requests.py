"""The journal of API requests, and the details of one request with its effects."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from simulator.engine.control.call import ControlCall
from simulator.engine.control.history.lookups import lookups_of
from simulator.engine.control.operation import LIMIT, WHOLE, Query, Raw, any_text, calls_under
from simulator.engine.control.refusals import invalid_parameter
from simulator.engine.control.shapes import Environment, describe_dropped, embedded
from simulator.engine.records.records import find_moved
from simulator.engine.records.requests import JournalEntry, requests_of
from simulator.engine.rows.error import ControlError
from simulator.engine.rows.provider import split_base
from simulator.engine.server.running.chunks import first_of, json_list
from simulator.engine.text.json import dumps, loads
from simulator.engine.text.shapes import Count, Timestamp
from simulator.kernel.clock import format_timestamp, parse_timestamp
from simulator.kernel.journal import EVENTS, Cause

operation = calls_under("Seeing")

_REQUESTS: Query = {
    "method": any_text("Only requests with this method."),
    "path": any_text("Only requests whose path matches this glob, either in full or below the base path."),
    "status": {**WHOLE, "description": "Only requests with this response status."},
    "operation": any_text("Only requests of this operation, such as `create_token`."),
    "since": any_text("Only requests at or after this simulated time, such as `2026-01-05T08:00:00Z`."),
    "until": any_text("Only requests at or before this simulated time."),
    "text": any_text("Only requests with this string in their path, body or response. Case is ignored."),
    **LIMIT,
}


class JournalEntryShape(TypedDict):
    id: str
    """The request id, as in the response header."""
    at: Timestamp
    """The simulated time of the request."""
    environment: Environment
    """The environment of the request."""
    public_key: str | None
    """The public key of the pair that the token belongs to; null without a valid token."""
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
    """The kinds of advice that this request triggers."""
    unknown_fields: list[str]
    """Fields and query parameters of the request that the operation does not define."""
    fault_id: str | None
    """The fault that affected the request; null if there was none."""


class JournalList(TypedDict):
    data: list[JournalEntryShape]
    """The requests, oldest first."""
    dropped: Count
    """The number of older requests that the journal has dropped."""
    truncated: NotRequired[Literal[True]]
    """Present if the journal has dropped older requests."""


class CallMove(TypedDict):
    id: str
    """The id of the resource."""
    kind: str
    """The kind of the resource; "" if it no longer exists."""
    state: str
    """The new state."""
    is_new: bool
    """Whether the request created the resource."""
    at: Timestamp
    """The simulated time of the transition."""


class CallEvent(TypedDict):
    id: str
    """The event's id."""
    type: str
    """The event type."""
    object_id: str
    """The id of the resource that the event is about."""


class CallStory(TypedDict):
    request: JournalEntryShape
    """The original request. Its replays have the same id."""
    answer_headers: dict[str, str]
    """The response headers."""
    calls: Count
    """The number of requests with this id. The number exceeds 1 if the request was replayed with its idempotency key.
    """
    moves: list[CallMove]
    """The transitions that the request caused, oldest first."""
    events: list[CallEvent]
    """The events that the request emitted, oldest first."""


@operation("GET /requests", "List the API requests", query=_REQUESTS)
async def requests(call: ControlCall) -> Raw[JournalList]:
    """List your API requests and their responses. Secrets are masked. Use this list to see what your code sent. Filter
    by operation, method, path, status, time or text. The journal has a limited size. `dropped` is the number of older
    requests that were removed.
    """
    method, path, status = call.given("method"), call.given("path"), call.whole("status")
    operation_name, since_ms, until_ms = call.given("operation"), _moment(call, "since"), _moment(call, "until")
    text = call.query.get("text", "").lower().encode()
    environments = call.simulator.provider.environments
    log = requests_of(call.world)
    dropped, rows = log.dropped, list(reversed(log.entries))

    def wanted(row: JournalEntry) -> bool:
        return (
            (method is None or row.method == method.upper())
            and (path is None or _matches_path(environments, row.path.partition("?")[0], path))
            and (status is None or row.status == status)
            and (operation_name is None or row.operation == operation_name)
            and (since_ms is None or row.at_ms >= since_ms)
            and (until_ms is None or row.at_ms <= until_ms)
            and (not text or any(text in part.lower() for part in (row.path.encode(), row.body, row.response)))
        )

    found = await first_of(rows, wanted, call.limit())
    more = {"dropped": 0, **describe_dropped(dropped)}
    return Raw(await json_list(reversed(found), lambda row: dumps(show_entry(row)), **more))


def _moment(call: ControlCall, name: str) -> int | None:
    """Return a query parameter in milliseconds or None. Raise `ControlError` 400 if it is not a timestamp."""
    value = call.given(name)
    try:
        return None if value is None else parse_timestamp(value)
    except ValueError as error:
        raise invalid_parameter(name, "it must be a timestamp such as 2026-01-05T08:00:00Z") from error


def _matches_path(environments: Mapping[str, str], path: str, wanted: str) -> bool:
    """Return True if the glob `wanted` matches the path, with or without the base path of its environment."""
    if fnmatchcase(path, wanted):
        return True
    environment, below = split_base(environments, path)
    return environment != "" and below != "" and fnmatchcase(below, wanted)


def show_entry(row: JournalEntry) -> JournalEntryShape:
    """Render a request. A JSON body is rendered as JSON, any other body as a string."""
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


@operation("GET /requests/{id}", "Get an API request and its consequences")
async def get_request(call: ControlCall) -> CallStory:
    """Return an API request by the id in its response header. The response includes the resources that the request
    changed and the events that it emitted. Fails with 404 if the journal does not contain the request. Old requests are
    dropped. List the remaining requests with GET /_simulator/requests.
    """
    world, wanted = call.world, call.path["id"]
    row = lookups_of(world).requests.oldest(requests_of(world), wanted)
    if row is None:
        why = f"The journal has no request with the id {wanted[:100]!r}. Old requests are dropped."
        raise ControlError(404, "not_found", f"{why} List the others with GET /_simulator/requests.")

    def is_caused(cause: Cause) -> bool:
        return cause.reference == wanted and cause.kind == "request"

    moves: list[CallMove] = []
    histories = list(world.journal.histories())
    affected = await first_of(histories, lambda row: any(is_caused(step.cause) for step in row[1]), None)
    for resource_id, steps in affected:
        record = find_moved(world, resource_id)
        moves += [
            {
                "id": resource_id,
                "kind": "" if record is None else record.kind,
                "state": step.state,
                "is_new": index == 0,
                "at": format_timestamp(step.at_ms),
            }
            for index, step in enumerate(steps)
            if is_caused(step.cause)
        ]
    emitted = [event for event in list(world.store[EVENTS].rows.values()) if event.cause.reference == wanted]
    return {
        "request": show_entry(row),
        "answer_headers": dict(row.answer_headers),
        "calls": sum(other.id == wanted for other in list(requests_of(world).entries)),
        "moves": sorted(moves, key=lambda move: move["at"]),
        "events": [{"id": event.id, "type": event.type, "object_id": event.object_id} for event in emitted],
    }
