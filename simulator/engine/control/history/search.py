"""Search a world by reference, id, amount, phone number or address."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from heapq import nsmallest
from itertools import islice
from typing import Annotated, TypeAlias
from urllib.parse import quote

from typing_extensions import TypedDict

from simulator.engine.clients.address import CONTROL_BASE
from simulator.engine.control.call import ControlCall
from simulator.engine.control.operation import any_text, calls_under
from simulator.engine.control.refusals import invalid_parameter, missing_parameter
from simulator.engine.records.origins import origin_of
from simulator.engine.records.records import find, ids_newest_first, render
from simulator.engine.records.requests import requests_of
from simulator.engine.rows.kind import Record
from simulator.engine.scenario.play.activation import active
from simulator.engine.text.json import object_of
from simulator.engine.text.masking import Masker
from simulator.engine.text.shapes import Count, OneOf, Timestamp
from simulator.engine.webhooks import all_deliveries, emails
from simulator.kernel.clock import format_timestamp, parse_timestamp
from simulator.kernel.dataclass import dataclass
from simulator.kernel.journal import EVENTS
from simulator.kernel.world import PerWorld, World

operation = calls_under("Seeing")

SORTS = {
    "resource": "A resource of the world.",
    "request": "An API request.",
    "event": "An emitted event.",
    "delivery": "A delivery attempt.",
    "email": "An e-mail that the service would have sent.",
    "scenario": "A scenario of the world.",
}
MOST_LOOKED_AT = 20_000
"""The number of newest items of each type that are searched. The response states whether older items were skipped."""
MOST_CHARACTERS = 200
_DEFAULT_LIMIT = 20
_AT_ONCE = 250
_AMOUNT = re.compile(r"[0-9]{1,15}(\.[0-9]{1,20})?", re.ASCII)
_BETWEEN_DIGITS = re.compile(r"[ ()./-]")
_NATIONAL = re.compile(r"0+[1-9][0-9]{7,14}", re.ASCII)
"""A pattern for a phone number in national format, such as 0712… for +254712…."""
_TITLES = ("reference", "name", "label", "url", "email", "description")


class Match(TypedDict):
    field: str
    """The dotted path of the field. `request.` precedes fields of the request that created the resource."""
    value: str
    """The value of the field."""


class Found(TypedDict):
    sort: Annotated[str, OneOf(SORTS)]
    """The type of item."""
    kind: str
    """The kind of the resource, the operation of the request, or the event type."""
    id: str
    """The id of the item, or the name of the scenario."""
    title: str
    """The reference or name of the item, or the id of the item if it has neither."""
    status: str | None
    """The status of a resource or delivery, or the HTTP status of a request; null for other items."""
    at: Timestamp | None
    """The simulated time of the last change; null for a scenario."""
    matched: Match
    """The field that matched."""
    path: str
    """The path of the item in the control API."""


class SearchAnswer(TypedDict):
    data: list[Found]
    """The items found, sorted by how well they match. Exact matches come first, then values that start or end with the
    query, then other matches. Within each group, the newest item comes first.
    """
    looked_at: Count
    """The number of items that were searched."""
    truncated: bool
    """Whether there are older items that were not searched."""


Leaves: TypeAlias = list[tuple[str, str]]
"""Searchable values and their dotted paths."""


@dataclass(frozen=True)
class _Candidate:
    sort: str
    kind: str
    id: str
    status: str | None
    at_ms: int | None
    lines: str
    """The searchable values in the format of `_lines`."""
    leaves: Callable[[], Leaves]
    """The searchable values and their paths."""
    titles: tuple[str, ...]
    """The paths of values that can be the title. The title is the first value that is not empty, otherwise the id."""
    path: str = ""
    """The path below `/_simulator`; "" for the default path, which is built from the item's type and id."""

    def show(self, query: _Query) -> Found:
        leaves = self.leaves()
        field, value = min(leaves, key=lambda leaf: query.grade(_lines([leaf[1]])))
        path = self.path or f"{self.sort}s/{quote(self.id, safe='')}"
        title = next((value for name in self.titles for path, value in leaves if path == name and value), self.id)
        return {
            "sort": self.sort,
            "kind": self.kind,
            "id": self.id,
            "title": title[:MOST_CHARACTERS],
            "status": self.status,
            "at": None if self.at_ms is None else format_timestamp(self.at_ms),
            "matched": {"field": field, "value": value[:MOST_CHARACTERS]},
            "path": f"{CONTROL_BASE}/{path}",
        }


class _Query:
    """A search string in lower case. If it is a number, the query also matches other notations of the number. The query
    is compared with all searchable values of an object at once: one string, with a value on each line. This is fast
    even if nearly all objects match.
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

    def grade(self, lines: str) -> int:
        """Return 0 if a line equals the query or is the same amount, 1 if a line starts or ends with the query, 2 if a
        line contains it, or 3. `lines` starts and ends with a line feed.
        """
        pairs = zip(self._texts, self._whole, strict=True)
        text, whole = next((pair for pair in pairs if pair[0] in lines), ("", None))
        if whole is None:
            return 3
        if f"\n{text}" not in lines and f"{text}\n" not in lines:
            return 2
        return 0 if whole.search(lines) else 1


def _lines(values: Iterable[str]) -> str:
    return "\n" + "\n".join(" ".join(value.split()) for value in values).lower() + "\n"


@operation(
    "GET /search",
    "Search the world",
    query={
        "q": any_text("The search string: a reference, an id, an amount, a phone number, an address, …"),
        "limit": {
            "type": "integer",
            "minimum": 0,
            "description": "The maximum number of results, best first. The default is 20.",
        },
    },
)
async def search(call: ControlCall) -> SearchAnswer:
    """Find resources, requests, events, deliveries, e-mails and scenarios by a known value. The query can be your
    reference, an id, an amount, a phone number, an e-mail address, an endpoint, an event type or a path. Case is
    ignored, and so is punctuation between the digits of a number.
    """
    given, limit = call.query.get("q", ""), call.limit()
    if not given.strip():
        raise missing_parameter("q")
    if len(given) > MOST_CHARACTERS:
        raise invalid_parameter("q", f"it must have at most {MOST_CHARACTERS} characters")
    world, query = call.world, _Query(given)
    hits: list[tuple[tuple[int, int, int], _Candidate]] = []
    looked_at, truncated = 0, False
    for place, candidates in enumerate(
        (_resources(world), _requests(world), _events(world), _deliveries(world), _emails(world), _scenarios(call))
    ):
        for number, candidate in enumerate(candidates):
            if number == MOST_LOOKED_AT:
                truncated = True
                break
            looked_at += 1
            if looked_at % _AT_ONCE == 0:
                await asyncio.sleep(0)  # Let other requests run.
            grade = query.grade(candidate.lines)
            if grade < 3:
                hits.append(((grade, place, number), candidate))
    first = nsmallest(_DEFAULT_LIMIT if limit is None else limit, hits, key=lambda hit: hit[0])
    return {"data": [candidate.show(query) for _, candidate in first], "looked_at": looked_at, "truncated": truncated}


_LINES: PerWorld[dict[str, tuple[Record, str]]] = PerWorld(dict)
"""The searchable lines of each resource, with the record they come from. They are rebuilt after a transaction."""


def _resources(world: World) -> Iterator[_Candidate]:
    cache = _LINES[world]
    tables = frozenset(kind.table.name for kind in world.wiring.kinds.values() if kind.listed)
    # This is a copy, because the world may change during the iteration.
    for resource_id in list(islice(ids_newest_first(world, tables), MOST_LOOKED_AT + 1)):
        record = find(world, resource_id)
        if record is None:
            continue
        known = cache.get(resource_id)
        if known is None or known[0] is not record:
            known = cache[resource_id] = record, _lines(value for _, value in _leaves_of(world, record))
        status, leaves = record.status or None, partial(_leaves_of, world, record)
        yield _Candidate("resource", record.kind, record.id, status, record.updated_at_ms, known[1], leaves, _TITLES)


def _leaves_of(world: World, record: Record) -> Leaves:
    request = Masker().value(object_of(origin_of(world, record.id).body))
    found = {"kind": record.kind, **render(world, record), "request": request}
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


def _candidate(
    sort: str, kind: str, status: str | None, at_ms: int | None, leaves: Leaves, path: str = ""
) -> _Candidate:
    """Return a candidate. `leaves` are its searchable fields: first the id, then the title."""
    lines = _lines(value for _, value in leaves)
    return _Candidate(sort, kind, leaves[0][1], status, at_ms, lines, lambda: leaves, (leaves[1][0],), path)


def _requests(world: World) -> Iterator[_Candidate]:
    for row in list(islice(reversed(requests_of(world).entries), MOST_LOOKED_AT + 1)):
        keys = [("idempotency_key", value) for name, value in row.headers if name.lower() == "idempotency-key"]
        leaves = [("id", row.id), ("path", f"{row.method} {row.path}"), ("operation", row.operation), *keys]
        yield _candidate("request", row.operation, str(row.status), row.at_ms, leaves)


def _events(world: World) -> Iterator[_Candidate]:
    for event in list(islice(reversed(world.store[EVENTS].rows.values()), MOST_LOOKED_AT + 1)):
        leaves = [("id", event.id), ("type", event.type), ("object_id", event.object_id)]
        yield _candidate("event", event.type, None, event.at_ms, leaves)


def _deliveries(world: World) -> Iterator[_Candidate]:
    for row in reversed(all_deliveries(world, limit=MOST_LOOKED_AT + 1)):
        leaves = [("id", row.id), ("url", row.url), ("event_type", row.event_type), ("event_id", row.event_id)]
        path = f"deliveries?event_id={row.event_id}"
        yield _candidate("delivery", row.event_type, row.status, row.created_at_ms, leaves, path)


def _emails(world: World) -> Iterator[_Candidate]:
    for row in reversed(emails(world)):
        leaves = [("id", row["id"]), ("subject", row["subject"]), ("to", row["to"]), ("body", row["body"])]
        yield _candidate("email", "email", None, parse_timestamp(row["at"]), leaves, "emails")


def _scenarios(call: ControlCall) -> Iterator[_Candidate]:
    on = active(call.world)
    for name in call.simulator.engine.catalogue.names(call.world):
        leaves = [("name", name), ("name", name)]
        yield _candidate("scenario", "scenario", "active" if name in on else None, None, leaves)
