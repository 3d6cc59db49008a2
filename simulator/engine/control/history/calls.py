"""One API request with its consequences."""

from __future__ import annotations

from typing_extensions import TypedDict

from simulator.engine.control.call import ControlCall
from simulator.engine.control.history.queries import JournalEntryShape, show_entry
from simulator.engine.control.operation import calls_under
from simulator.engine.records.records import find_moved
from simulator.engine.records.requests import requests_of
from simulator.engine.rows.error import ControlError
from simulator.engine.server.running.chunks import first_of
from simulator.engine.text.shapes import Count, Timestamp
from simulator.kernel.clock import format_timestamp
from simulator.kernel.journal import EVENTS, Cause

operation = calls_under("Seeing")


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
    """The request. Replays share the id of the first request, which is shown."""
    answer_headers: dict[str, str]
    """The response headers."""
    calls: Count
    """The number of requests with this id: more than one if it was replayed with its idempotency key."""
    moves: list[CallMove]
    """The transitions that the request caused, oldest first."""
    events: list[CallEvent]
    """The events that the request emitted, oldest first."""


@operation("GET /requests/{id}", "Get an API request and its consequences")
async def get_request(call: ControlCall) -> CallStory:
    """Return an API request by the id in its response header, with the resources it changed and the events it emitted.

    404 if the journal has no such request. Old requests are dropped.
    """
    world, wanted = call.world, call.path["id"]
    row = call.lookups.request(world, wanted)
    if row is None:
        message = f"The journal has no request with the id {wanted[:100]!r}. Old requests are dropped."
        raise ControlError(404, "not_found", message)

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
