"""A world's history as one list. Each request and control call precedes its effects."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import islice, takewhile
from typing import Annotated, TypeAlias
from urllib.parse import urlsplit

from typing_extensions import TypedDict

from simulator.engine.control.call import ControlCall
from simulator.engine.control.history.journal import CALLS, JournalledCall, began_ms, id_of, merged_journals
from simulator.engine.control.objects.inspection import show_cause
from simulator.engine.control.operation import LIMIT, calls_under
from simulator.engine.records.dropped_rows import rows_dropped
from simulator.engine.records.records import find_moved, kind_of
from simulator.engine.records.requests import JournalEntry, requests_of
from simulator.engine.rows.kind import Record
from simulator.engine.text.json import dumps, object_in
from simulator.engine.text.shapes import Count, OneOf, Timestamp
from simulator.engine.webhooks import Delivery, all_deliveries
from simulator.engine.worlds.simulator import Simulator, WorldState
from simulator.kernel.clock import format_timestamp
from simulator.kernel.journal import Cause, Event, HistoryEntry, newest
from simulator.kernel.world import World

operation = calls_under("Seeing")

WHAT = {
    "call": "An API request and its response.",
    "control": "A control call that changed something.",
    "move": "A transition of a resource, with the events it emitted.",
    "event": "An event that no transition emitted.",
    "delivery": "A delivery attempt.",
}
_LONGEST = 160


class TimelineEntry(TypedDict):
    at: Timestamp
    """The simulated time."""
    what: Annotated[str, OneOf(WHAT)]
    """The type of entry. Requests and control calls precede their effects."""
    id: str
    """The id of the request, control call, resource, event or delivery."""
    text: str
    """A one-line description, without secrets."""


class Timeline(TypedDict):
    data: list[TimelineEntry]
    """The entries, oldest first."""
    earlier: Count
    """The number of earlier entries that `limit` excluded or that were dropped from the journals."""


@operation("GET /timeline", "List everything that happened", query=LIMIT)
async def timeline(call: ControlCall) -> Timeline:
    """List requests, control calls, transitions, events and delivery attempts in the order in which they happened. Use
    the timeline to find causes and effects. Entries with the same simulated time are in the order of cause and effect.
    """
    simulator, limit = call.simulator, call.limit()
    # This runs in a thread and reads a copy of the state, because the journals may be long.
    return await asyncio.to_thread(_timeline, simulator, simulator.state_of(call.world), limit)


def _timeline(simulator: Simulator, state: WorldState, limit: int | None) -> Timeline:
    world = simulator.from_state(state, state.world_id)
    entries = [entry for _, entry in sorted(_Collector(world).rows(), key=lambda row: row[0])]
    dropped = requests_of(world).dropped + rows_dropped(world, CALLS)
    shown = newest(entries, limit)
    return {"data": shown, "earlier": dropped + len(entries) - len(shown)}


_Row: TypeAlias = tuple[tuple[int, int, int, int], TimelineEntry]
"""A sort key and a timeline entry. The key contains the number of the call that caused the entry, the time, the
sequence number of its event, and its rank among entries with that event.
"""

_Numbered: TypeAlias = tuple[int, Event]


class _Collector:
    """Assigns each transition, event and delivery to the call that caused it. If a request or an action caused an event
    or transition, the `cause` contains the id of the call. A change made by a timer or a scenario is assigned to the
    last call that began before it, because that call may have advanced the clock. A call that began at the same time as
    the change counts only if the preceding event or transition is assigned to that call.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        # A call that advances the clock begins before the requests that receivers make meanwhile, but ends after
        # them.
        self._calls = sorted(merged_journals(world), key=began_ms)
        self._begun_ms = [began_ms(row) for row in self._calls]
        self._numbers: dict[str, int] = {}
        for number, row in enumerate(self._calls):
            self._numbers.setdefault(id_of(row), number)

    def rows(self) -> Iterator[_Row]:
        for number, call in enumerate(self._calls):
            yield (number, -1, -1, 0), _show_call(call)
        events = self._events()
        remaining = dict(events)
        about: dict[str, list[str]] = {}
        for identifier, (_, event) in events.items():
            about.setdefault(event.object_id, []).append(identifier)
        for resource_id, steps in self._world.journal.histories():
            record = find_moved(self._world, resource_id)
            object_id = resource_id if record is None else record.object_id
            own = [events[identifier] for identifier in about.get(object_id, ())]
            yield from self._moves(resource_id, steps, _Emitted(self._world, record, own, remaining))
        for number, event in remaining.values():
            at, text = format_timestamp(event.at_ms), f"{event.type} about {event.object_id}"
            shown: TimelineEntry = {"at": at, "what": "event", "id": event.id, "text": text}
            yield (number, event.at_ms, event.sequence, 1), shown
        for delivery in all_deliveries(self._world):
            yield self._delivery(delivery, events.get(delivery.event_id))

    def _number(self, cause: Cause, at_ms: int, least: int) -> int:
        """Return the number of the call that caused a change at `at_ms`, or -1 if there is none. `least` is the number
        returned for the previous change. If the cause is not a call, the result is at least this number.
        """
        known = self._numbers.get(cause.reference) if cause.kind in ("request", "action") else None
        return known if known is not None else max(least, bisect_left(self._begun_ms, at_ms) - 1)

    def _events(self) -> dict[str, _Numbered]:
        found: dict[str, _Numbered] = {}
        last = -1
        for event in self._world.journal.events():
            last = self._number(event.cause, event.at_ms, last)
            found[event.id] = last, event
        return found

    def _moves(self, resource_id: str, steps: Iterable[HistoryEntry], emitted: _Emitted) -> Iterator[_Row]:
        before, number = "", -1
        for step in steps:
            if step.cause.kind != "start":
                events = emitted.by(before, step)
                number = events[0][0] if events else self._number(step.cause, step.at_ms, number)
                sequence = events[0][1].sequence if events else -1
                types = list(dict.fromkeys(event.type for _, event in events))
                yield (number, step.at_ms, sequence, 0), self._show_move(resource_id, before, step, types)
            before = step.state

    def _show_move(self, resource_id: str, before: str, step: HistoryEntry, events: list[str]) -> TimelineEntry:
        emits = f", emits {' and '.join(events)}" if events else ""
        why = f" ({show_cause(self._world, step.cause)['text']})" if step.cause.kind in ("law", "rule") else ""
        return {
            "at": format_timestamp(step.at_ms),
            "what": "move",
            "id": resource_id,
            "text": f"{resource_id} {before or '(new)'} → {step.state}{emits}{why}",
        }

    def _delivery(self, delivery: Delivery, numbered: _Numbered | None) -> _Row:
        at_ms, number, sequence = delivery.created_at_ms, -1, -1
        if numbered is not None:
            number, sequence = numbered[0], numbered[1].sequence
        if numbered is None or numbered[1].at_ms != at_ms:
            number = max(number, bisect_left(self._begun_ms, at_ms) - 1)
        return (number, at_ms, sequence, 2), _show_delivery(delivery)


class _Emitted:
    """Assigns the events about a resource to its transitions by cause, time and the events in the state table."""

    def __init__(
        self, world: World, record: Record | None, events: list[_Numbered], remaining: dict[str, _Numbered]
    ) -> None:
        """`events` are the events about one resource, oldest first. `remaining` are the unassigned events by id."""
        self._machine = None if record is None else kind_of(world, record).machine
        self._environments = (record.environment,) if record is not None and record.environment else world.environments
        self._events = events
        self._remaining = remaining
        self._first = 0

    def by(self, before: str, step: HistoryEntry) -> list[_Numbered]:
        """Return the events that a transition emitted. `before` is the state before it, or "" at creation."""
        while self._first < len(self._events) and self._events[self._first][1].at_ms < step.at_ms:
            self._first += 1
        now = takewhile(lambda row: row[1].at_ms == step.at_ms, islice(self._events, self._first, None))
        waiting = [row for row in now if row[1].cause == step.cause and row[1].id in self._remaining]
        for wanted in self._declared(before, step) if waiting else ():
            found = [row for row in waiting if (row[1].environment, row[1].type) in wanted][: len(wanted)]
            if [(event.environment, event.type) for _, event in found] == wanted:
                for _, event in found:
                    del self._remaining[event.id]
                return found
        return []

    def _declared(self, before: str, step: HistoryEntry) -> Iterator[list[tuple[str, str]]]:
        """Yield the events that each matching transition rule declares, as pairs of environment and event type."""
        if self._machine is not None:
            row = self._machine.rows.get(before, ()) if before else self._machine.initial
            for cell in row:
                if cell.on == step.on and cell.target == step.state and cell.events:
                    yield [(environment, type) for environment in self._environments for type in cell.events]


def _show_call(row: JournalEntry | JournalledCall) -> TimelineEntry:
    what, text = ("call", _request_text(row)) if isinstance(row, JournalEntry) else ("control", _control_text(row))
    return {"at": format_timestamp(began_ms(row)), "what": what, "id": id_of(row), "text": _short(text)}


def _request_text(row: JournalEntry) -> str:
    """Return text such as `POST /v1/quotes → 201 qt_… active` or `GET /v1/profile → 503 service_unavailable`."""
    if not row.status:
        return f"{row.method} {row.path} → the connection was cut by a fault"
    answer = object_in(row.response)
    error = answer.get("error")
    if isinstance(error, dict):
        words = [error.get("code"), error.get("param")]
    else:
        words = [answer.get("id"), answer.get("status")]
    replayed = ["(replayed)"] if "Idempotent-Replayed" in dict(row.answer_headers) else []
    shown = [word for word in words if isinstance(word, str) and word not in row.path]
    return " ".join([row.method, row.path, "→", str(row.status), *shown, *replayed])


def _control_text(row: JournalledCall) -> str:
    """Return text such as `payment_arrives txn_…` for an action, or `advance by 2d → …` for another call."""
    body = dict(row["body"]) if isinstance(row["body"], dict) else {}
    made = (row["answer"] or {}).get("id")
    named = row["path"].rpartition("/")[2]
    if row["name"] == "perform":
        words = [named, body.pop("target", None)]
    else:
        words = [row["name"].replace("_", " "), made or (named if "_" in named else None)]
    text = " ".join(word for word in (*words, _in_words(body)) if isinstance(word, str) and word)
    return text if row["ended_ms"] == row["at_ms"] else f"{text} → {format_timestamp(row['ended_ms'])}"


def _in_words(value: object) -> str:
    """Return JSON text without quotes and outer brackets."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {_part(part)}" for name, part in value.items())
    if isinstance(value, list):
        return ", ".join(_part(part) for part in value) or "none"
    return value if isinstance(value, str) else dumps(value).decode()


def _part(value: object) -> str:
    return f"({_in_words(value)})" if isinstance(value, dict) else _in_words(value)


def _show_delivery(delivery: Delivery) -> TimelineEntry:
    # Omit the query and the user info of the URL, because they may contain secrets.
    came = str(delivery.response_status) if delivery.response_status is not None else f"failed: {delivery.error}"
    again = delivery.next_attempt_at_ms
    later = f", again at {format_timestamp(again)}" if again is not None else ""
    nth = f", attempt {delivery.attempt}" if delivery.attempt > 1 else ""
    url = urlsplit(delivery.url)
    place = f"{url.scheme}://{url.netloc.rpartition('@')[2]}{url.path}"
    return {
        "at": format_timestamp(delivery.created_at_ms),
        "what": "delivery",
        "id": delivery.id,
        "text": _short(f"{delivery.event_type} to {place}{nth} → {came}{later}"),
    }


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
