"""Integration coverage: the operations, errors, states, events and good practices that the traffic exercised."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from simulator.engine.insight.counting import ANY_OPERATION, NOTHING, Cell, Count, Counts, Key
from simulator.engine.records.listing import Listing
from simulator.engine.rows.operation import Operation
from simulator.engine.text.json import JsonObject
from simulator.engine.vocabulary.vocabulary import Vocabulary, vocabulary_of
from simulator.kernel.dataclass import dataclass
from simulator.kernel.world import World

EVERY_WORLD = "*"

PRACTICES = {
    "idempotent_replay": "a POST was repeated under its Idempotency-Key and returned the stored response",
    "event_retry_survived": "an event failed at an endpoint and was acknowledged later",
    "duplicate_event_acknowledged": "an endpoint acknowledged the same event more than once",
    "forged_webhook_refused": "a webhook with a wrong signature was refused",
    "stale_webhook_refused": "a webhook with an old X-Timestamp was refused",
}
"""Good practices of a robust integration, other than calling operations, that a server can observe."""

TITLES = {
    "operations": "Operations that succeeded",
    "errors": "Error codes seen",
    "states": "Statuses reached",
    "transitions": "Transitions taken",
    "events": "Event types acknowledged",
    "lists": "Lists read beyond the first page",
    "practices": "Robust behaviour seen",
}


@dataclass(frozen=True)
class Item:
    """One row of the coverage report: something that traffic can exercise, such as an operation or an event."""

    key: Key
    shown: Mapping[str, str]
    """The fields that describe the item in the report."""
    numbers: tuple[str, ...] = ("hits",)
    """The names of its counters. The item is covered if the last counter is not 0."""

    @property
    def name(self) -> str:
        return " ".join(self.key)


def catalogue(
    operations: Iterable[Operation], table_cells: Iterable[Cell], vocabulary: Vocabulary
) -> dict[str, list[Item]]:
    """Return all items that can be covered, by dimension, in table order."""
    operations, table_cells = tuple(operations), tuple(table_cells)
    errors = [(ANY_OPERATION, code) for code, row in vocabulary.errors.items() if row.anywhere]
    errors += [(row.name, code) for row in operations for code in dict.fromkeys(row.errors)]
    states = dict.fromkeys((cell.kind, cell.target) for cell in table_cells)
    return {
        "operations": [
            Item((row.name,), {"method": row.method, "path": row.path}, ("called", "succeeded")) for row in operations
        ],
        "errors": [Item(key, {"operation": key[0], "code": key[1]}) for key in errors],
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
    """Return a `CoverageReport`. Its field `undeclared` contains error codes that a fault or a scenario returned
    although the operation does not declare them. These codes are not part of any total.
    """
    dimensions: JsonObject = {}
    known: set[tuple[str, Key]] = set()
    vocabulary = vocabulary_of(world)
    for dimension, items in catalogue(operations, cells(world), vocabulary).items():
        shown = [_show(item, counts.get((dimension, item.key), Count())) for item in items]
        known.update((dimension, item.key) for item in items)
        totals = _totals(sum(row["covered"] for row in shown), len(shown))
        dimensions[dimension] = {"title": TITLES[dimension], **totals, "items": shown}
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
    return {"item": item.name, **item.shown, "covered": numbers[item.numbers[-1]] > 0, **numbers, "first": first}


def _totals(covered: int, total: int) -> JsonObject:
    """Return the totals. `percent` is rounded down to one decimal, so 100 means that everything is covered."""
    return {"covered": covered, "total": total, "percent": covered * 1000 // total / 10 if total else 100.0}


OF_THE_START = ("start", "publish", "open")
"""Triggers that create the resources of every new world. No traffic causes such transitions."""


def cells(world: World) -> Iterator[Cell]:
    """Yield the transition rules that traffic can exercise, in the order of the state tables."""
    for name, kind in world.wiring.kinds.items():
        machine = kind.machine
        for move in machine.initial:
            if move.on not in OF_THE_START:
                yield Cell(name, NOTHING, move.on, move.target)
        for state, row in machine.rows.items():
            for move in row:
                yield Cell(name, state, move.on, move.target)
