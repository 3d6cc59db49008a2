"""What happened in a world, in one list and in its order: calls, and what each of them led to."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import islice, takewhile
from typing import Annotated, TypeAlias
from urllib.parse import urlsplit

from typing_extensions import TypedDict

from simulator.engine.control.call import ControlCall
from simulator.engine.control.history.journal import KeptCall, began_ms, both_in_order, calls_dropped, id_of
from simulator.engine.control.objects.inspection import show_cause
from simulator.engine.control.operation import LIMIT, calls_under
from simulator.engine.records.records import find_moved, kind_of
from simulator.engine.records.requests import JournalEntry, requests_of
from simulator.engine.rows.kind import Record
from simulator.engine.text.json import dumps, object_in
from simulator.engine.text.shapes import Count, OneOf, Timestamp
from simulator.engine.webhooks import Delivery, all_deliveries
from simulator.engine.worlds.simulator import Simulator, WorldState
from simulator.kernel.clock import format_timestamp
from simulator.kernel.dataclass import dataclass
from simulator.kernel.journal import Cause, Event, HistoryEntry, newest
from simulator.kernel.world import World

operation = calls_under("Seeing")

WHAT = {
    "call": "A call of the interface, and how it was answered.",
    "control": "A control call that changed something.",
    "move": "A resource came into another state, with the events that told of it.",
    "event": "An event that no move belongs to.",
    "delivery": "An attempt to deliver an event.",
}
_LONGEST = 160


class TimelineEntry(TypedDict):
    at: Timestamp
    """When, in simulated time."""
    what: Annotated[str, OneOf(WHAT)]
    """What sort of thing it is; calls and control calls lead to what stands after them."""
    id: str
    """The request, control call, resource, event or delivery, by its id."""
    text: str
    """What happened, in a line without secrets."""


class Timeline(TypedDict):
    data: list[TimelineEntry]
    """What happened, in its order."""
    earlier: Count
    """How many entries stand before these: left out by `limit`, or dropped by the journals."""


@operation("GET /timeline", "What happened, in its order", query=LIMIT)
async def timeline(call: ControlCall) -> Timeline:
    """Calls, control calls, moves with their causes, events and delivery attempts, in the order in which they happened.

    The newest `limit`, oldest first. At one simulated instant the order is that of cause and effect.
    """
    simulator, limit = call.simulator, call.limit()
    # Put together beside the loop from the world as it is now: the journals may be long.
    return await asyncio.to_thread(_timeline, simulator, simulator.state_of(call.world), limit)


def _timeline(simulator: Simulator, state: WorldState, limit: int | None) -> Timeline:
    world = simulator.from_state(state, state.world_id)
    entries = [row.entry for row in sorted(_Collector(world).rows(), key=lambda row: row.place)]
    dropped = requests_of(world).dropped + calls_dropped(world)
    shown = newest(entries, limit)
    return {"data": shown, "earlier": dropped + len(entries) - len(shown)}


@dataclass(frozen=True)
class _Row:
    """An entry and its place: the number of the call that led to it, the moment, its event, what stands at that."""

    place: tuple[int, int, int, int]
    entry: TimelineEntry


_Numbered: TypeAlias = tuple[int, Event]
"""An event and the number of the call that led to it."""


class _Collector:
    """Finds of everything which call led to it.

    What a request or an action caused says so. What a timer or a scenario did belongs to the last call before its
    moment, which may be the one that moved the clock there; at one moment the order of the events decides.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        # A call that moves the clock ends after those that receivers made meanwhile, but began before them.
        self._calls = sorted(both_in_order(world), key=began_ms)
        self._begun_ms = [began_ms(row) for row in self._calls]
        self._numbers: dict[str, int] = {}
        for number, row in enumerate(self._calls):
            self._numbers.setdefault(id_of(row), number)

    def rows(self) -> Iterator[_Row]:
        for number, call in enumerate(self._calls):
            yield _Row((number, -1, -1, 0), _show_call(call))
        events = self._events()
        untold = dict(events)
        about: dict[str, list[str]] = {}
        for identifier, (_, event) in events.items():
            about.setdefault(event.object_id, []).append(identifier)
        for resource_id, steps in self._world.journal.histories():
            record = find_moved(self._world, resource_id)
            object_id = resource_id if record is None else record.object_id
            own = [events[identifier] for identifier in about.get(object_id, ())]
            yield from self._moves(resource_id, steps, _Emitted(self._world, record, own, untold))
        for number, event in untold.values():
            at, text = format_timestamp(event.at_ms), f"{event.type} about {event.object_id}"
            shown: TimelineEntry = {"at": at, "what": "event", "id": event.id, "text": text}
            yield _Row((number, event.at_ms, event.sequence, 1), shown)
        for delivery in all_deliveries(self._world):
            yield self._delivery(delivery, events.get(delivery.event_id))

    def _number(self, cause: Cause, at_ms: int, least: int) -> int:
        """The number of the call that something belongs to; -1 before the first. `least`: what came before it."""
        known = self._numbers.get(cause.reference) if cause.kind in ("request", "action") else None
        return known if known is not None else max(least, bisect_left(self._begun_ms, at_ms) - 1)

    def _events(self) -> dict[str, _Numbered]:
        """Every event with the number of its call, by its id."""
        found: dict[str, _Numbered] = {}
        last = -1
        for event in self._world.journal.events():
            last = self._number(event.cause, event.at_ms, last)
            found[event.id] = last, event
        return found

    def _moves(self, resource_id: str, steps: Iterable[HistoryEntry], emitted: _Emitted) -> Iterator[_Row]:
        """The moves of a resource, each with the events that it emitted."""
        before, number = "", -1
        for step in steps:
            if step.cause.kind != "start":
                told = emitted.by(before, step)
                number = told[0][0] if told else self._number(step.cause, step.at_ms, number)
                sequence = told[0][1].sequence if told else -1
                types = list(dict.fromkeys(event.type for _, event in told))
                yield _Row((number, step.at_ms, sequence, 0), self._show_move(resource_id, before, step, types))
            before = step.state

    def _show_move(self, resource_id: str, before: str, step: HistoryEntry, told: list[str]) -> TimelineEntry:
        tells = f", tells {' and '.join(told)}" if told else ""
        why = f" ({show_cause(self._world, step.cause)['text']})" if step.cause.kind in ("law", "rule") else ""
        return {
            "at": format_timestamp(step.at_ms),
            "what": "move",
            "id": resource_id,
            "text": f"{resource_id} {before or '(new)'} → {step.state}{tells}{why}",
        }

    def _delivery(self, delivery: Delivery, told: _Numbered | None) -> _Row:
        at_ms, number, sequence = delivery.created_at_ms, -1, -1
        if told is not None:
            number, sequence = told[0], told[1].sequence
        if told is None or told[1].at_ms != at_ms:
            number = max(number, bisect_left(self._begun_ms, at_ms) - 1)
        return _Row((number, at_ms, sequence, 2), _show_delivery(delivery))


class _Emitted:
    """The events about a resource, oldest first, each with the number of its call: which of its moves emitted which.

    Moves of one cause at one moment are told apart by the events of their cells in the state table. What is taken is
    no longer `untold`.
    """

    def __init__(
        self, world: World, record: Record | None, events: list[_Numbered], untold: dict[str, _Numbered]
    ) -> None:
        self._machine = None if record is None else kind_of(world, record).machine
        self._environments = (record.environment,) if record is not None and record.environment else world.environments
        self._events = events
        self._untold = untold
        self._first = 0

    def by(self, before: str, step: HistoryEntry) -> list[_Numbered]:
        """What a move emitted; `before` is the state that it left, "" for the move that made the resource."""
        while self._first < len(self._events) and self._events[self._first][1].at_ms < step.at_ms:
            self._first += 1
        now = takewhile(lambda row: row[1].at_ms == step.at_ms, islice(self._events, self._first, None))
        waiting = [row for row in now if row[1].cause == step.cause and row[1].id in self._untold]
        for wanted in self._announcements(before, step) if waiting else ():
            found = [row for row in waiting if (row[1].environment, row[1].type) in wanted][: len(wanted)]
            if [(event.environment, event.type) for _, event in found] == wanted:
                for _, event in found:
                    del self._untold[event.id]
                return found
        return []

    def _announcements(self, before: str, step: HistoryEntry) -> Iterator[list[tuple[str, str]]]:
        """What the cells that the move may have gone through emit: environments and types, in their order."""
        if self._machine is not None:
            row = self._machine.rows.get(before, ()) if before else self._machine.initial
            for cell in row:
                if cell.on == step.on and cell.target == step.state and cell.events:
                    yield [(environment, type) for environment in self._environments for type in cell.events]


def _show_call(row: JournalEntry | KeptCall) -> TimelineEntry:
    text = _request_text(row) if isinstance(row, JournalEntry) else _control_text(row)
    what = "call" if isinstance(row, JournalEntry) else "control"
    return {"at": format_timestamp(began_ms(row)), "what": what, "id": id_of(row), "text": _short(text)}


def _request_text(row: JournalEntry) -> str:
    """`POST /v1/quotes → 201 qt_… active`, `GET /v1/profile → 503 service_unavailable`."""
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


def _control_text(row: KeptCall) -> str:
    """`payment_arrives txn_…` for an action, `advance by 2d → …`; anything else by its name and what it was given."""
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
    """JSON as a person reads it, without its quotes."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {_part(part)}" for name, part in value.items())
    if isinstance(value, list):
        return ", ".join(_part(part) for part in value) or "none"
    return value if isinstance(value, str) else dumps(value).decode()


def _part(value: object) -> str:
    return f"({_in_words(value)})" if isinstance(value, dict) else _in_words(value)


def _show_delivery(delivery: Delivery) -> TimelineEntry:
    """Where to, what came back, and what comes next; of the URL not what may be secret."""
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
