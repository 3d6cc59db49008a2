"""Integration coverage: what of the contract the traffic of a world has exercised, counted against its own tables.

The denominators are the operation, error, event and state tables themselves, so nothing can be missing from them: an
operation, code, event type or transition that is added is uncovered until traffic reaches it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import field
from typing import NamedTuple, TypeAlias, TypeVar

from simulator.engine.insight import tally
from simulator.engine.records.listing import Listing
from simulator.engine.records.records import find_moved, kind_of
from simulator.engine.rows.operation import Operation
from simulator.engine.rows.vocabulary import Vocabulary, vocabulary_of
from simulator.engine.text.json import JsonObject
from simulator.engine.webhooks import Delivery, all_deliveries
from simulator.kernel.dataclass import dataclass
from simulator.kernel.world import World

EVERY_WORLD = "*"
ANY_OPERATION = "*"

PRACTICES = {
    "idempotent_replay": "a POST was repeated under its Idempotency-Key and got the stored answer",
    "event_retry_survived": "an event failed at an endpoint and was acknowledged later",
    "duplicate_event_acknowledged": "an endpoint acknowledged the same event more than once",
    "forged_webhook_refused": "a webhook with a wrong signature was refused",
    "stale_webhook_refused": "a webhook with an old X-Timestamp was refused",
}
"""What a robust integration does beyond calling operations, as far as it can be seen from here."""

TITLES = {
    "operations": "Operations that succeeded",
    "errors": "Error codes seen",
    "states": "Statuses reached",
    "transitions": "Transitions taken",
    "events": "Event types acknowledged",
    "lists": "Lists read beyond their first page",
    "practices": "Robust conduct seen",
}


@dataclass
class Count:
    """How often one item was hit, by what is counted of it; where it was seen first (world, id of the evidence)."""

    numbers: dict[str, int] = field(default_factory=dict)
    first: tuple[str, str] | None = None

    def add(self, number: str, hits: int, world_id: str, evidence: str) -> None:
        self.numbers[number] = self.numbers.get(number, 0) + hits
        if self.first is None:
            self.first = (world_id, evidence)


Key: TypeAlias = tuple[str, ...]
"""What an item is within its dimension: (operation,), (operation, code), (kind, state), the parts of a `Cell`, …"""

Hit = TypeVar("Hit", bound=Hashable)

Counts: TypeAlias = dict[tuple[str, Key], Count]
"""Counts by dimension and item."""


@dataclass(frozen=True)
class Item:
    """One thing that can be covered, what to show of it, and its numbers, of which the last makes it covered."""

    key: Key
    shown: Mapping[str, str]
    numbers: tuple[str, ...] = ("hits",)

    @property
    def name(self) -> str:
        return " ".join(self.key)

    @property
    def decisive(self) -> str:
        return self.numbers[-1]


# --- counting -----------------------------------------------------------------------------------------------------


def count_world(world: World) -> Counts:
    """Everything that the traffic of a world has hit."""
    counts: Counts = {}
    errors = vocabulary_of(world).errors

    def hit(dimension: str, key: Key, number: str, hits: int, evidence: str) -> None:
        counts.setdefault((dimension, key), Count()).add(number, hits, world.id, evidence)

    for what, row in tally.tallied(world):
        operation = (what.operation,)
        if what.sort == tally.ANSWER:
            hit("operations", operation, "called", row.hits, row.first)
            if what.which == tally.SUCCESS:
                hit("operations", operation, "succeeded", row.hits, row.first)
            elif what.which in errors:
                hit("errors", (what.operation, what.which), "hits", row.hits, row.first)
                if errors[what.which].anywhere:
                    hit("errors", (ANY_OPERATION, what.which), "hits", row.hits, row.first)
        elif what.sort == tally.PAGE:
            hit("lists", operation, "pages", row.hits, row.first)
            if what.which == tally.FURTHER:
                hit("lists", operation, "further_pages", row.hits, row.first)
        else:
            hit("practices", ("idempotent_replay",), "hits", row.hits, row.first)
    for cell, hits, first in _added_up(moves_of(world)):
        hit("states", (cell.kind, cell.target), "hits", hits, first)
        hit("transitions", cell, "hits", hits, first)
    for event_type, hits, first in _added_up((event.id, event.type) for event in world.journal.events()):
        hit("events", (event_type,), "emitted", hits, first)
    deliveries = [delivery for delivery in all_deliveries(world) if not delivery.was_dropped]
    for delivery in deliveries:
        hit("events", (delivery.event_type,), "delivered", 1, delivery.event_id)
        if delivery.status == "succeeded":
            hit("events", (delivery.event_type,), "acknowledged", 1, delivery.event_id)
    for practice, evidence in _webhook_practices(deliveries):
        hit("practices", (practice,), "hits", 1, evidence)
    return counts


def _added_up(hits: Iterable[tuple[str, Hit]]) -> list[tuple[Hit, int, str]]:
    """How often each item was hit, and the evidence of the first hit, of hits as (evidence, item).

    A large world has a hundred thousand hits of a few dozen items: added up first they take half of the time.
    """
    numbers: dict[Hit, int] = {}
    first: dict[Hit, str] = {}
    for evidence, item in hits:
        if item in numbers:
            numbers[item] += 1
        else:
            numbers[item], first[item] = 1, evidence
    return [(item, number, first[item]) for item, number in numbers.items()]


def _webhook_practices(deliveries: Iterable[Delivery]) -> Iterator[tuple[str, str]]:
    failed: set[tuple[str, str]] = set()
    acknowledged: set[tuple[str, str]] = set()
    for delivery in deliveries:
        place, succeeded = (delivery.endpoint_id, delivery.event_id), delivery.status == "succeeded"
        refused = delivery.response_status is not None and not succeeded and not delivery.unheard
        if refused and (delivery.altered or delivery.corrupted):
            yield "forged_webhook_refused", delivery.id
        if refused and delivery.stale:
            yield "stale_webhook_refused", delivery.id
        if succeeded and place in acknowledged:
            yield "duplicate_event_acknowledged", delivery.id
        elif succeeded and place in failed:
            yield "event_retry_survived", delivery.id
        (acknowledged if succeeded else failed).add(place)


def merged(parts: Iterable[Counts]) -> Counts:
    """The sum of counts; the first evidence is that of the first part that has any."""
    total: Counts = {}
    for counts in parts:
        for key, count in counts.items():
            into = total.setdefault(key, Count())
            for number, hits in count.numbers.items():
                into.numbers[number] = into.numbers.get(number, 0) + hits
            into.first = into.first or count.first
    return total


# --- reporting ----------------------------------------------------------------------------------------------------


def catalogue(
    operations: Iterable[Operation], table_cells: Iterable[Cell], vocabulary: Vocabulary
) -> dict[str, list[Item]]:
    """Everything that can be covered, by dimension, in the order of the tables."""
    operations, table_cells = tuple(operations), tuple(table_cells)
    codes = [
        Item((row.name, code), {"operation": row.name, "code": code})
        for row in operations
        for code in dict.fromkeys(row.errors)
    ]
    common = [
        Item((ANY_OPERATION, code), {"operation": ANY_OPERATION, "code": code})
        for code, row in vocabulary.errors.items()
        if row.anywhere
    ]
    states = dict.fromkeys((cell.kind, cell.target) for cell in table_cells)
    return {
        "operations": [
            Item((row.name,), {"method": row.method, "path": row.path}, ("called", "succeeded")) for row in operations
        ],
        "errors": [*common, *codes],
        "states": [Item(key, {"kind": key[0], "state": key[1]}) for key in states],
        "transitions": [
            Item(cell, {"kind": cell.kind, "from": cell.source, "trigger": cell.on, "to": cell.target})
            for cell in dict.fromkeys(table_cells)
        ],
        "events": [Item((name,), {}, ("emitted", "delivered", "acknowledged")) for name in vocabulary.events],
        "lists": [
            Item((row.name,), {"path": row.path}, ("pages", "further_pages"))
            for row in operations
            if isinstance(row.query, Listing)
        ],
        "practices": [Item((name,), {"meaning": meaning}) for name, meaning in PRACTICES.items()],
    }


def coverage_of(counts: Counts, operations: Iterable[Operation], world: World, name: str) -> JsonObject:
    """The report: {world, covered, total, percent, dimensions, undeclared}, where dimensions is {name: {title, covered,
    total, percent, items}}.

    An item is {item, …what it is, covered, …numbers, first: {world, id} or null}. `undeclared` lists error codes that
    were answered (by a fault or a scenario) though the operation does not declare them; they count nowhere.
    """
    dimensions: JsonObject = {}
    known: set[tuple[str, Key]] = set()
    vocabulary = vocabulary_of(world)
    for dimension, items in catalogue(operations, cells(world), vocabulary).items():
        shown = [_show(item, counts.get((dimension, item.key), Count())) for item in items]
        known.update((dimension, item.key) for item in items)
        dimensions[dimension] = {
            "title": TITLES[dimension],
            **_totals(sum(row["covered"] for row in shown), len(shown)),
            "items": shown,
        }
    covered, total = (sum(part[key] for part in dimensions.values()) for key in ("covered", "total"))
    undeclared = [
        {"item": " ".join(key), "hits": count.numbers["hits"]}
        for (dimension, key), count in counts.items()
        if dimension == "errors" and (dimension, key) not in known and not vocabulary.errors[key[1]].anywhere
    ]
    return {"world": name, **_totals(covered, total), "dimensions": dimensions, "undeclared": undeclared}


def _show(item: Item, count: Count) -> JsonObject:
    numbers = {name: count.numbers.get(name, 0) for name in item.numbers}
    first = None if count.first is None else {"world": count.first[0], "id": count.first[1]}
    return {"item": item.name, **item.shown, "covered": numbers[item.decisive] > 0, **numbers, "first": first}


def _totals(covered: int, total: int) -> JsonObject:
    """`percent` has one decimal and is rounded down, so that 100 means everything."""
    return {"covered": covered, "total": total, "percent": covered * 1000 // total / 10 if total else 100.0}


NOTHING = "(none)"
"""The state before a resource comes into being."""

OF_THE_START = ("start", "publish", "open")
"""Initial moves of what every world has from its start; nobody causes them, so nobody can cover them."""


class Cell(NamedTuple):
    """One cell of a state table; cells that differ only in their condition and lead to one state count as one."""

    kind: str
    source: str
    on: str
    target: str


def cells(world: World) -> Iterator[Cell]:
    """Every cell that can be gone through, in the order of the tables."""
    for name, kind in world.wiring.kinds.items():
        machine = kind.machine
        for move in machine.initial:
            if move.on not in OF_THE_START:
                yield Cell(name, NOTHING, move.on, move.target)
        for state, row in machine.rows.items():
            for move in row:
                yield Cell(name, state, move.on, move.target)


def moves_of(world: World) -> Iterator[tuple[str, Cell]]:
    """Every move of the account's resources, with the resource's id; moves made with the world itself are left out."""
    for resource_id, steps in world.journal.histories():
        record = find_moved(world, resource_id)
        if record is None or record.owner:
            continue
        machine, state = kind_of(world, record).machine, NOTHING
        if not any(move.on == steps[0].on for move in machine.initial):
            state = machine.initial[0].target
        for step in steps:
            if step.cause.kind != "start":
                yield resource_id, Cell(record.kind, state, step.on, step.state)
            state = step.state
