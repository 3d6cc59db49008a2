"""The journal of control calls that changed something in a world, without secrets. Snapshots include it. Calls that
create, freeze or replace whole worlds are not in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, NotRequired
from weakref import WeakKeyDictionary

from pydantic import Field, with_config
from typing_extensions import TypedDict

from simulator.engine.control.call import ControlCall
from simulator.engine.control.operation import LIMIT, ControlAnswer, ControlOperation, calls_under
from simulator.engine.control.shapes import Environment, describe_dropped
from simulator.engine.records.codec import StateError, checker
from simulator.engine.records.dropped_rows import count_dropped, rows_dropped
from simulator.engine.records.requests import JournalEntry, requests_of
from simulator.engine.records.saved import STRICT, SavedMoment
from simulator.engine.text.json import JsonObject, dumps, json_text, object_of
from simulator.engine.text.shapes import Count, Timestamp
from simulator.engine.worlds.settings import journal_bytes, settings_of
from simulator.kernel.clock import format_timestamp
from simulator.kernel.journal import Cause
from simulator.kernel.store import TableKey
from simulator.kernel.texts import JsonText
from simulator.kernel.world import World

operation = calls_under("Actions")


@with_config(STRICT)
class JournalledCall(TypedDict):
    """A control call in the journal."""

    id: Annotated[str, Field(pattern=r"^ctl_[0-9]{6,18}$")]
    at_ms: SavedMoment
    ended_ms: SavedMoment
    after: Annotated[list[Any], Field(min_length=2, max_length=2)]
    """The id of the last API request before this call ended, and the number of requests with that id at that time."""
    name: str
    method: str
    path: str
    environment: str
    body: JsonObject | str
    status: Annotated[int, Field(ge=100, le=599)]
    answer: JsonObject | None


def _check_call(key: str, row: JournalledCall) -> None:
    request_id, count = row["after"]
    if not isinstance(request_id, str) or type(count) is not int or count < 0:
        raise StateError("after", "it must be a pair: the id of a request, and the number of requests with this id")
    if isinstance(row["body"], str) != (row["name"] == "upload_scenario"):
        raise StateError("body", "it must be an object (for upload_scenario: a string)")
    if row["name"] == "activate" and not (isinstance(row["body"], dict) and _NAMES(row["body"].get("names"))):
        raise StateError("body.names", "it must be a list of names")
    if row["id"] != key:
        raise StateError("id", "it must be the key of the row")


_NAMES = checker(list[str])

CALLS = TableKey("control.calls", JsonText, check=_check_call, around=True, shape=JournalledCall, journal=True)


class ControlCallEntry(TypedDict):
    id: str
    """The id of the control call."""
    at: Timestamp
    """The simulated time of the call."""
    ended_at: Timestamp
    """The simulated time of the response."""
    name: str
    """The name of the call."""
    method: str
    """The HTTP method."""
    path: str
    """The path below `/_simulator`."""
    environment: Environment
    """The environment named in its header."""
    body: Any
    """The body, with secrets masked."""
    status: Count
    """The response status."""


class ControlCallList(TypedDict):
    data: list[ControlCallEntry]
    """The calls, oldest first."""
    dropped: Count
    """The number of older calls that the journal has dropped."""
    truncated: NotRequired[Literal[True]]
    """Present if the journal has dropped older calls."""


class ControlJournal:
    """Assigns ids to the control calls of a server, and saves each call in the journal of its world."""

    def __init__(self) -> None:
        self._reserved: set[tuple[str, int]] = set()
        self._sizes: WeakKeyDictionary[World, int] = WeakKeyDictionary()

    def begin(self, world: World | None, operation: ControlOperation) -> str:
        """Reserve an id for a call, and return the id, or "" if the call is not journalled. `end` releases the id."""
        if world is None or operation.recorded_as is None:
            return ""
        reserved = (number for world_id, number in self._reserved if world_id == world.id)
        number = max(world.last_sequence(CALLS.name), *reserved, 0) + 1
        self._reserved.add((world.id, number))
        return f"ctl_{number:06d}"

    def end(self, world: World, call_id: str) -> None:
        """Release the reserved id of a call."""
        self._reserved.discard((world.id, number_of(call_id)))

    def keep(self, world: World, call: ControlCall, operation: ControlOperation, answer: ControlAnswer) -> None:
        """Add a successful call, and drop the oldest rows that exceed the journal's size limits."""
        number, masker = number_of(call.id), call.runtime.masker
        sent = call.raw.decode("utf-8", "replace") if isinstance(call.raw, bytes) else call.raw
        row: JournalledCall = {
            "id": call.id,
            "at_ms": call.began_ms,
            "ended_ms": world.now_ms,
            "after": _last_request(world),
            "name": operation.name,
            "method": operation.method,
            "path": masker.text(operation.path.format_map(call.path)),
            "environment": call.environment,
            "body": masker.value(sent),
            "status": operation.status if answer is not None else 204,
            "answer": masker.json(dumps(answer)) if operation.keeps_answer else None,
        }
        with world.change(Cause("action", operation.name, call.id)):
            table, text = world.store[CALLS], json_text(row)
            size = self._sizes.get(world)
            size = len(text) + (sum(map(len, table.values())) if size is None else size)
            world.set_sequence(CALLS.name, max(number, world.last_sequence(CALLS.name)))
            table.put(call.id, text)
            world.journal.passing.add(text)
            most, most_bytes = settings_of(world)["journal_limit"], journal_bytes(world)
            while len(table) > most or (size > most_bytes and len(table) > 1):
                oldest = next(iter(table.rows))
                size -= len(table.rows[oldest])
                table.delete(oldest)
                count_dropped(world, CALLS)
            self._sizes[world] = size


def number_of(call_id: str) -> int:
    """Return the number that is part of a control call's id."""
    return int(call_id.removeprefix("ctl_"))


def calls_of(world: World) -> list[JournalledCall]:
    """Return the journalled control calls of a world, in the order in which they ended."""
    return [_call(text) for text in world.store[CALLS].values()]


def merged_journals(world: World) -> Iterator[JournalEntry | JournalledCall]:
    """Yield the API requests and the control calls of a world in one sequence.

    A control call comes after the last API request that was made before the call ended. Timestamps are not enough to
    find this request, because many calls can arrive while a clock is paused. Ids are not enough either, because each
    journal numbers its own rows. The field `after` of a control call therefore contains the id of the request. A
    replayed request has the id of the original request, so the field also contains the number of requests with this id
    so far.
    """
    waiting = calls_of(world)
    seen: dict[str, int] = {}
    kept = {row.id for row in requests_of(world).entries}
    # The journal of requests has a size limit. These control calls follow requests that were dropped, so they come
    # first.
    while waiting and waiting[0]["after"][0] not in kept:
        yield waiting.pop(0)
    for row in requests_of(world).entries:
        yield row
        seen[row.id] = seen.get(row.id, 0) + 1
        while waiting and seen.get(waiting[0]["after"][0], 0) >= max(waiting[0]["after"][1], 1):
            yield waiting.pop(0)
    # The remaining control calls follow a replay of a dropped request, so `seen` did not reach their count.
    yield from waiting


def id_of(row: JournalEntry | JournalledCall) -> str:
    """Return the id of a row from either journal."""
    return row.id if isinstance(row, JournalEntry) else row["id"]


def began_ms(row: JournalEntry | JournalledCall) -> int:
    """Return the simulated time at which the call in a row of either journal began."""
    return row.at_ms if isinstance(row, JournalEntry) else row["at_ms"]


def _call(text: JsonText) -> JournalledCall:
    row: JournalledCall = object_of(text)  # type: ignore[assignment]  # `keep` or the document check ensures the type
    return row


def call_of(world: World, call_id: str) -> JournalledCall | None:
    """Return a control call's journal row, or None if the journal does not contain it."""
    text = world.store[CALLS].get(call_id)
    return None if text is None else _call(text)


def _last_request(world: World) -> list[Any]:
    """Return the id of the last API request, and how often it has occurred: a replay repeats the first id."""
    requests = requests_of(world).entries
    if not requests:
        return ["", 0]
    last = requests[-1].id
    is_replay = "Idempotent-Replayed" in dict(requests[-1].answer_headers)
    return [last, sum(row.id == last for row in requests) if is_replay else 1]


@operation("GET /controls", "List the control calls that changed the world", query=LIMIT)
async def control_calls(call: ControlCall) -> ControlCallList:
    """List the control calls that changed the world, oldest first. Calls that only read are not listed."""
    dropped, texts = rows_dropped(call.world, CALLS), list(call.world.store[CALLS].values())
    shown = [show_call(_call(text)) for text in call.newest(texts)]
    return {"data": shown, "dropped": dropped, **describe_dropped(dropped)}


def show_call(row: JournalledCall) -> ControlCallEntry:
    """Render a journal row for GET /controls."""
    return {
        "at": format_timestamp(row["at_ms"]),
        "ended_at": format_timestamp(row["ended_ms"]),
        "id": row["id"],
        "name": row["name"],
        "method": row["method"],
        "path": row["path"],
        "environment": row["environment"],
        "body": row["body"],
        "status": row["status"],
    }
