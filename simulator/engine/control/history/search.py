"""Searching a world by what a person has at hand: their own reference, an id, an amount, a phone number, an address."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from heapq import nsmallest
from itertools import islice
from typing import Annotated
from urllib.parse import quote

from typing_extensions import TypedDict

from simulator.engine.clients.address import CONTROL_BASE
from simulator.engine.control.call import ControlCall
from simulator.engine.control.operation import any_text, calls_under
from simulator.engine.control.refusals import absent, wrong
from simulator.engine.records.origins import origin_of
from simulator.engine.records.records import find, ids_newest_first, render
from simulator.engine.records.requests import requests_of
from simulator.engine.rows.kind import Record
from simulator.engine.scenario.play.activation import active
from simulator.engine.text.masking import Masker
from simulator.engine.text.shapes import Count, OneOf, Timestamp
from simulator.engine.text.texts import object_of
from simulator.engine.webhooks import all_deliveries, emails
from simulator.kernel.clock import format_timestamp, parse_timestamp
from simulator.kernel.dataclass import dataclass
from simulator.kernel.journal import EVENTS
from simulator.kernel.per_world import PerWorld
from simulator.kernel.world import World

operation = calls_under("Seeing")

SORTS = {
    "resource": "A resource of the world.",
    "request": "A call of the interface.",
    "event": "An event that was emitted.",
    "delivery": "An attempt to deliver an event.",
    "email": "An e-mail that the service would have sent.",
    "scenario": "A scenario of the world.",
}
MOST_LOOKED_AT = 20_000
"""So many of the newest of each sort are looked at; an answer that leaves older ones out says so."""
MOST_CHARACTERS = 200
_DEFAULT_LIMIT = 20
_AT_ONCE = 250
_AMOUNT = re.compile(r"[0-9]{1,15}(\.[0-9]{1,20})?", re.ASCII)
_BETWEEN_DIGITS = re.compile(r"[ ()./-]")
_NATIONAL = re.compile(r"0+[1-9][0-9]{7,14}", re.ASCII)
"""A telephone number as those write it who live there: 0712… is +254712…"""
_TITLES = ("reference", "name", "label", "url", "email", "description")


class Match(TypedDict):
    field: str
    """The member that has it, as a dotted path; `request.` before those of the request that made the resource."""
    value: str
    """What stands there."""


class Found(TypedDict):
    sort: Annotated[str, OneOf(SORTS)]
    """What sort of thing it is."""
    kind: str
    """The kind of the resource, the operation called, or the type of the event."""
    id: str
    """Its id; a scenario's name."""
    title: str
    """What a person knows it by: its reference or name where it has one, else its id."""
    status: str | None
    """The status of a resource or delivery, the HTTP status of a call; null for what has none."""
    at: Timestamp | None
    """When it last changed, or happened; null for a scenario."""
    matched: Match
    """Why it was found."""
    path: str
    """Where the control interface shows it."""


class SearchAnswer(TypedDict):
    data: list[Found]
    """What was found: what is exactly what was asked for first, then what begins with it, and the newest first."""
    looked_at: Count
    """How many things were looked at."""
    truncated: bool
    """Whether there are older ones that were not."""


Leaves = Iterable[tuple[str, str]]
"""Values with their dotted paths."""


@dataclass(frozen=True)
class _Thing:
    """Something that may be found: its values, each a line in small letters, and as they are; how it is shown."""

    text: str
    leaves: Callable[[], Leaves]
    show: Callable[[Match], Found]


class _Wanted:
    """What is searched for, in small letters, and the same without what people put between the digits of a number.

    How well a thing fits is seen from its lines alone: nearly everything may fit what is short.
    """

    def __init__(self, given: str) -> None:
        text = " ".join(given.lower().split())
        digits = _BETWEEN_DIGITS.sub("", text)
        self._texts = [text]
        zeros = ""
        if _AMOUNT.fullmatch(text):
            if "." in text:
                self._texts = [text.rstrip("0").rstrip(".")]
            zeros = "0*" if "." in self._texts[0] else r"(?:\.0+)?"
        elif digits.removeprefix("+").isdigit():
            self._texts.append(digits)
        if _NATIONAL.fullmatch(digits):
            self._texts.append(digits.lstrip("0"))
        self._whole = [re.compile(rf"\n{re.escape(one)}{zeros}\n") for one in self._texts]

    def grade(self, lines: str) -> int | None:
        """0 where a line is just that (or an amount as high), 1 where one begins or ends with it, 2 where one has it.

        None where none has. Lines begin and end with a line feed.
        """
        text, whole = next(
            (pair for pair in zip(self._texts, self._whole, strict=True) if pair[0] in lines), ("", None)
        )
        if whole is None:
            return None
        if f"\n{text}" not in lines and f"{text}\n" not in lines:
            return 2
        return 0 if whole.search(lines) else 1

    def match(self, leaves: Leaves) -> Match:
        """The value that fits best; of equals the first."""
        graded = ((self.grade(_lines([value])), path, value) for path, value in leaves)
        _, path, value = min(graded, key=lambda row: 3 if row[0] is None else row[0])
        return {"field": path, "value": value[:MOST_CHARACTERS]}


def _lines(values: Iterable[str]) -> str:
    return "\n" + "\n".join(" ".join(value.split()) for value in values).lower() + "\n"


@operation(
    "GET /search",
    "Find anything by what is known of it",
    query={
        "q": any_text("What to search for: a reference, an id, an amount, a number, an address, …"),
        "limit": {"type": "integer", "minimum": 0, "description": "How many at most, 20 without it; best first."},
    },
)
async def search(call: ControlCall) -> SearchAnswer:
    """Find by reference, id, amount, phone number, e-mail address, endpoint, event type, status or path.

    Resources, calls, events, deliveries, e-mails and scenarios are looked through, the newest first. Capitals make no
    difference, nor what stands between the digits of a number.
    """
    given, limit = call.query.get("q", ""), call.limit()
    if not given.strip():
        raise absent("q")
    if len(given) > MOST_CHARACTERS:
        raise wrong("q", f"it has more than {MOST_CHARACTERS} characters")
    world, wanted = call.world, _Wanted(given)
    hits: list[tuple[tuple[int, int, int], _Thing]] = []
    looked_at, truncated = 0, False
    for place, things in enumerate(
        (_resources(world), _requests(world), _events(world), _deliveries(world), _emails(world), _scenarios(call))
    ):
        for number, thing in enumerate(things):
            if number == MOST_LOOKED_AT:
                truncated = True
                break
            looked_at += 1
            if looked_at % _AT_ONCE == 0:
                await asyncio.sleep(0)  # other calls go on
            grade = wanted.grade(thing.text)
            if grade is not None:
                hits.append(((grade, place, number), thing))
    first = nsmallest(_DEFAULT_LIMIT if limit is None else limit, hits, key=lambda hit: hit[0])
    return {
        "data": [thing.show(wanted.match(thing.leaves())) for _, thing in first],
        "looked_at": looked_at,
        "truncated": truncated,
    }


@dataclass
class _Text:
    """The text of a resource, as long as its row is the same."""

    record: Record
    text: str


_TEXTS: PerWorld[dict[str, _Text]] = PerWorld(dict)
"""Of each world that was searched, the texts of its resources: they are rendered once, and when they have changed."""


def _resources(world: World) -> Iterator[_Thing]:
    texts = _TEXTS[world]
    tables = frozenset(kind.table.name for kind in world.wiring.kinds.values() if kind.listed)
    for resource_id in list(islice(ids_newest_first(world, tables), MOST_LOOKED_AT + 1)):  # others may come meanwhile
        record = find(world, resource_id)
        if record is None:
            continue
        known = texts.get(resource_id)
        if known is None or known.record is not record:
            known = texts[resource_id] = _Text(record, _lines(value for _, value in _leaves_of(world, record)))
        yield _Thing(known.text, partial(_leaves_of, world, record), partial(_show_resource, world, record))


def _leaves_of(world: World, record: Record) -> list[tuple[str, str]]:
    """What is searched of a resource: all it shows, and all that the request which made it had."""
    shown = render(world, record)
    came_with = Masker().value(object_of(origin_of(world, record.id).body))
    found = {"kind": record.kind, **shown, "request": came_with}
    return [(path, value) for path, value in _leaves(found, "") if not path.endswith("_at")]


def _leaves(value: object, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from _leaves(part, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list | tuple):
        for index, part in enumerate(value):
            yield from _leaves(part, f"{path}.{index}")
    elif value is not None and not isinstance(value, bool):
        yield path, str(value)


def _show_resource(world: World, record: Record, matched: Match) -> Found:
    shown, path = render(world, record), _path("resources", record.id)
    title = next((shown[name] for name in _TITLES if isinstance(shown.get(name), str) and shown[name]), record.id)
    names = (record.id, title)
    return _found(matched, names, "resource", record.kind, record.status or None, record.updated_at_ms, path)


def _found(
    matched: Match, names: tuple[str, str], sort: str, kind: str, status: str | None, at_ms: int | None, path: str
) -> Found:
    """Something as it is shown; `names` are its id and its title."""
    return {
        "sort": sort,
        "kind": kind,
        "id": names[0],
        "title": names[1][:MOST_CHARACTERS],
        "status": status,
        "at": None if at_ms is None else format_timestamp(at_ms),
        "matched": matched,
        "path": path,
    }


def _thing(
    leaves: list[tuple[str, str]], sort: str, kind: str, status: str | None, at_ms: int | None, path: str
) -> _Thing:
    """A thing whose values are few: the first of them is its id, the second its title."""

    names = (leaves[0][1], leaves[1][1])
    return _Thing(
        _lines(value for _, value in leaves),
        lambda: leaves,
        lambda matched: _found(matched, names, sort, kind, status, at_ms, path),
    )


def _requests(world: World) -> Iterator[_Thing]:
    for row in list(islice(reversed(requests_of(world).entries), MOST_LOOKED_AT + 1)):
        keys = [("idempotency_key", value) for name, value in row.headers if name.lower() == "idempotency-key"]
        leaves = [("id", row.id), ("path", f"{row.method} {row.path}"), ("operation", row.operation), *keys]
        yield _thing(leaves, "request", row.operation, str(row.status), row.at_ms, _path("requests", row.id))


def _events(world: World) -> Iterator[_Thing]:
    for event in list(islice(reversed(world.store[EVENTS].rows.values()), MOST_LOOKED_AT + 1)):
        leaves = [("id", event.id), ("type", event.type), ("object_id", event.object_id)]
        yield _thing(leaves, "event", event.type, None, event.at_ms, _path("events", event.id))


def _deliveries(world: World) -> Iterator[_Thing]:
    for row in reversed(all_deliveries(world, limit=MOST_LOOKED_AT + 1)):
        leaves = [("id", row.id), ("url", row.url), ("event_type", row.event_type), ("event_id", row.event_id)]
        path = f"{CONTROL_BASE}/deliveries?event_id={row.event_id}"
        yield _thing(leaves, "delivery", row.event_type, row.status, row.created_at_ms, path)


def _emails(world: World) -> Iterator[_Thing]:
    for row in reversed(emails(world)):
        leaves = [("id", row["id"]), ("subject", row["subject"]), ("to", row["to"]), ("body", row["body"])]
        yield _thing(leaves, "email", "email", None, parse_timestamp(row["at"]), f"{CONTROL_BASE}/emails")


def _scenarios(call: ControlCall) -> Iterator[_Thing]:
    engine, world = call.simulator.engine, call.world
    on = active(world)
    for name in engine.names(world):
        leaves = [("name", name), ("name", name)]
        yield _thing(leaves, "scenario", "scenario", "active" if name in on else None, None, _path("scenarios", name))


def _path(collection: str, name: str) -> str:
    return f"{CONTROL_BASE}/{collection}/{quote(name, safe='')}"
