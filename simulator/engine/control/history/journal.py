"""The journal of control calls: what was done by hand in a world, in its order, beside the journal of requests.

A row is the text of an object in the world's store, so it is part of snapshots. Only calls that changed something are
kept, the newest ones, within the bounds of the journal of requests; never what makes, freezes or replaces whole worlds,
and never a secret.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, NotRequired
from weakref import WeakKeyDictionary

from pydantic import Field, with_config
from typing_extensions import TypedDict

from simulator.engine.control.call import ControlCall
from simulator.engine.control.operation import LIMIT, ControlAnswer, ControlOperation, calls_under
from simulator.engine.control.shapes import Environment
from simulator.engine.records.codec import StateError, checker
from simulator.engine.records.dropped_rows import count_dropped, rows_dropped
from simulator.engine.records.requests import JournalEntry, requests_of
from simulator.engine.records.saved import STRICT, SavedMoment
from simulator.engine.text.json import JsonObject, dumps
from simulator.engine.text.shapes import Count, Timestamp
from simulator.engine.text.texts import json_text, object_of
from simulator.engine.worlds.settings import journal_bytes, settings_of
from simulator.kernel.clock import format_timestamp
from simulator.kernel.journal import Cause, newest
from simulator.kernel.store import TableKey
from simulator.kernel.texts import JsonText
from simulator.kernel.world import World

operation = calls_under("Actions")


@with_config(STRICT)
class KeptCall(TypedDict):
    """A row of the journal. `after`: the interface call that came last before, and how many there were with its id."""

    id: Annotated[str, Field(pattern=r"^ctl_[0-9]{6,18}$")]
    at_ms: SavedMoment
    ended_ms: SavedMoment
    after: Annotated[list[Any], Field(min_length=2, max_length=2)]
    name: str
    method: str
    path: str
    environment: str
    body: JsonObject | str
    status: Annotated[int, Field(ge=100, le=599)]
    answer: JsonObject | None


def _check_call(key: str, row: KeptCall) -> None:
    request_id, count = row["after"]
    if not isinstance(request_id, str) or type(count) is not int or count < 0:
        raise StateError("after", "it is the id of a request, and how many of it there were")
    if isinstance(row["body"], str) != (row["name"] == "upload_scenario"):
        raise StateError("body", "it is a text for upload_scenario, else an object")
    if row["name"] == "activate" and not (isinstance(row["body"], dict) and _NAMES(row["body"].get("names"))):
        raise StateError("body.names", "it must be a list of names")
    if row["id"] != key:
        raise StateError("id", "it is the key of the row")


_NAMES = checker(list[str])

CALLS = TableKey("control.calls", JsonText, check=_check_call, around=True, shape=KeptCall, journal=True)
"""The rows by the ids of the calls."""


class ControlCallEntry(TypedDict):
    id: str
    """The id of the control call."""
    at: Timestamp
    """The simulated time at which it came."""
    ended_at: Timestamp
    """The simulated time at which it was answered."""
    name: str
    """The name of the call."""
    method: str
    """Its method."""
    path: str
    """Its path with the query."""
    environment: Environment
    """The environment of its header."""
    body: Any
    """What it sent."""
    status: Count
    """The status it was answered with."""


class ControlCallList(TypedDict):
    data: list[ControlCallEntry]
    """The calls, oldest first."""
    dropped: Count
    """How many older ones the journal has dropped."""
    truncated: NotRequired[Literal[True]]
    """Present where the journal has dropped older ones."""


class ControlJournal:
    """Numbers the control calls of a server and keeps what they did."""

    def __init__(self) -> None:
        self._reserved: dict[str, set[int]] = {}
        self._sizes: WeakKeyDictionary[World, int] = WeakKeyDictionary()

    def begin(self, world: World | None, operation: ControlOperation) -> str:
        """The id of a call that begins, "" for one that is not kept; `end` gives it back."""
        if world is None or operation.recorded_as is None:
            return ""
        reserved = self._reserved.setdefault(world.id, set())
        last = world.last_sequence(CALLS.name)
        number = max(last, *reserved, 0) + 1
        reserved.add(number)
        return f"ctl_{number:06d}"

    def end(self, world: World, call_id: str) -> None:
        """The call is over."""
        reserved = self._reserved[world.id]
        reserved.discard(number_of(call_id))
        if not reserved:
            del self._reserved[world.id]

    def keep(self, world: World, call: ControlCall, operation: ControlOperation, answer: ControlAnswer) -> None:
        """Enter a call that was carried out; the oldest go when there are too many, or they take too much."""
        number, masker = number_of(call.id), call.runtime.masker
        sent = call.raw.decode("utf-8", "replace") if isinstance(call.raw, bytes) else call.raw
        row: KeptCall = {
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
    """The number in the id of a call."""
    return int(call_id.removeprefix("ctl_"))


def calls_of(world: World) -> list[KeptCall]:
    """The rows of a world, in the order in which the calls ended."""
    return [_call(text) for text in world.store[CALLS].values()]


def both_in_order(world: World) -> Iterator[JournalEntry | KeptCall]:
    """The journals of interface calls and of control calls as one: a control call comes after the request that was the
    last one when it ended.

    Neither the clock nor the ids give this order: a manual clock stands still while many calls are made, and the
    two journals number apart. So each control call says `after` which request it came: its id, and how many
    requests of that id there were by then, because a replay is journalled under the id of what it repeats.
    """
    waiting = calls_of(world)
    seen: dict[str, int] = {}
    kept = {row.id for row in requests_of(world).entries}
    # The journal of requests is bounded. What these calls came after is forgotten, so they come before the rest.
    while waiting and waiting[0]["after"][0] not in kept:
        yield waiting.pop(0)
    for row in requests_of(world).entries:
        yield row
        seen[row.id] = seen.get(row.id, 0) + 1
        while waiting and seen.get(waiting[0]["after"][0], 0) >= max(waiting[0]["after"][1], 1):
            yield waiting.pop(0)
    # What is left came after a replay of which the journal has forgotten an earlier one: the count is not reached.
    yield from waiting


def id_of(row: JournalEntry | KeptCall) -> str:
    """The id of a call of either journal."""
    return row.id if isinstance(row, JournalEntry) else row["id"]


def began_ms(row: JournalEntry | KeptCall) -> int:
    """The simulated time at which a call of either journal came."""
    return row.at_ms if isinstance(row, JournalEntry) else row["at_ms"]


def _call(text: JsonText) -> KeptCall:
    row: KeptCall = object_of(text)  # type: ignore[assignment]  # what `keep` or the check of documents has made
    return row


def call_of(world: World, call_id: str) -> KeptCall | None:
    """The row of a call; None for one that was never kept or is forgotten."""
    text = world.store[CALLS].get(call_id)
    return None if text is None else _call(text)


def _last_request(world: World) -> list[Any]:
    """Which interface call came last before: its id, and how many with that id (replays share it) there were."""
    requests = requests_of(world).entries
    if not requests:
        return ["", 0]
    last = requests[-1].id
    is_replay = "Idempotent-Replayed" in dict(requests[-1].answer_headers)
    return [last, sum(row.id == last for row in requests) if is_replay else 1]


@operation("GET /controls", "What was done by control calls", query=LIMIT)
async def control_calls(call: ControlCall) -> ControlCallList:
    """What was done to the world by control calls, the oldest first; what only reads is not kept."""
    dropped = calls_dropped(call.world)
    texts = newest(list(call.world.store[CALLS].values()), call.limit())
    found: ControlCallList = {"data": [show_call(_call(text)) for text in texts], "dropped": dropped}
    return {**found, "truncated": True} if dropped else found


def calls_dropped(world: World) -> int:
    """How many calls the journal has dropped."""
    return rows_dropped(world, CALLS)


def show_call(row: KeptCall) -> ControlCallEntry:
    """A call as GET /controls shows it."""
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
