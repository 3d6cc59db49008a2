"""One call of the interface: what was asked and answered, and what followed from it."""

from __future__ import annotations

import asyncio

from typing_extensions import TypedDict

from simulator.engine.control.call import ControlCall
from simulator.engine.control.history.queries import JournalEntryShape, show_entry
from simulator.engine.control.operation import calls_under
from simulator.engine.records.records import find_moved
from simulator.engine.records.requests import requests_of
from simulator.engine.rows.error import ControlError
from simulator.engine.text.shapes import Count, Timestamp
from simulator.kernel.clock import format_timestamp
from simulator.kernel.journal import EVENTS

operation = calls_under("Seeing")

_AT_ONCE = 1_000


class CallMove(TypedDict):
    id: str
    """The resource that moved."""
    kind: str
    """Its kind; "" when it is not there any more."""
    state: str
    """The state that the call brought it into."""
    is_new: bool
    """Whether the call made it."""
    at: Timestamp
    """When."""


class CallEvent(TypedDict):
    id: str
    """The event's id."""
    type: str
    """What it tells."""
    object_id: str
    """What it is about."""


class CallStory(TypedDict):
    request: JournalEntryShape
    """The call as the journal has it; of calls with one id, which are replays, the first."""
    answer_headers: dict[str, str]
    """The headers of its answer."""
    calls: Count
    """How many calls of this id the journal has: more than one where it was repeated with its idempotency key."""
    moves: list[CallMove]
    """What it made and moved, oldest first."""
    events: list[CallEvent]
    """The events that it emitted, oldest first."""


@operation("GET /requests/{id}", "One call of the interface, and what followed")
async def get_request(call: ControlCall) -> CallStory:
    """A call of the interface by the id that its answer carried, with all that it changed; 404 when none is kept."""
    world, wanted = call.world, call.path["id"]
    row = call.lookups.request(world, wanted)
    if row is None:
        raise ControlError(
            404, "not_found", f"The journal has no call with the id {wanted[:100]!r}; old ones are dropped."
        )
    moves: list[CallMove] = []
    for number, (resource_id, steps) in enumerate(list(world.journal.histories())):
        if number % _AT_ONCE == 0:
            await asyncio.sleep(0)  # other calls go on
        for place, step in enumerate(steps):
            if step.cause.reference == wanted and step.cause.kind == "request":
                record = find_moved(world, resource_id)
                moves.append(
                    {
                        "id": resource_id,
                        "kind": "" if record is None else record.kind,
                        "state": step.state,
                        "is_new": place == 0,
                        "at": format_timestamp(step.at_ms),
                    }
                )
    told = [event for event in list(world.store[EVENTS].rows.values()) if event.cause.reference == wanted]
    return {
        "request": show_entry(row),
        "answer_headers": dict(row.answer_headers),
        "calls": sum(other.id == wanted for other in list(requests_of(world).entries)),
        "moves": sorted(moves, key=lambda move: move["at"]),
        "events": [{"id": event.id, "type": event.type, "object_id": event.object_id} for event in told],
    }
