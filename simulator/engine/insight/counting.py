"""Counters of the operations, transitions, events and good practices that a world's traffic has exercised. A report
counts the rows that were added since the last report, in chunks. Its cost therefore does not depend on the total number
of requests, and API requests cost nothing more.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from typing import Any, NamedTuple, TypeAlias

from simulator.engine.insight import tally
from simulator.engine.records.appended import AppendedRows
from simulator.engine.records.records import find_moved, kind_of
from simulator.engine.vocabulary.vocabulary import vocabulary_of
from simulator.engine.webhooks import Delivery, deliveries_of, delivery_id, every_endpoint_id
from simulator.kernel.dataclass import dataclass
from simulator.kernel.journal import EVENTS, HISTORIES, Event, HistoryEntry, resource_of
from simulator.kernel.table import ABSENT, Table
from simulator.kernel.world import PerWorld, World

SLICE = 1_000
"""The number of table rows counted in one chunk, which takes a few milliseconds."""

ANY_OPERATION = "*"

NOTHING = "(none)"
"""The state before a resource is created."""


class Cell(NamedTuple):
    """A transition rule of a state table. Rules that differ only in their condition count as one."""

    kind: str
    source: str
    on: str
    target: str


@dataclass
class Count:
    numbers: Counter[str] = field(default_factory=Counter)
    """Numbers of hits by counter name: `called`, `succeeded`, …"""
    first: tuple[str, str] | None = None
    """The world id and the id of the first evidence."""

    def add(self, number: str, hits: int, world_id: str, evidence: str) -> None:
        self.numbers[number] += hits
        self.first = self.first or (world_id, evidence)


Key: TypeAlias = tuple[str, ...]
"""The key of an item within its dimension: (operation,), (operation, code), (kind, state), the fields of a `Cell`, …"""

Counts: TypeAlias = dict[tuple[str, Key], Count]
"""Counters by dimension and item."""


@dataclass
class _Hits:
    hits: int = 0
    order: Any = None
    """The sort key of the first evidence, because rows are not always read in order."""
    first: str = ""

    def add(self, order: Any, evidence: str, hits: int = 1) -> None:
        if not self.hits or order < self.order:
            self.order, self.first = order, evidence
        self.hits += hits


class _Moves:
    """Counters of the transitions in the histories, and the rows with uncounted transitions. A history grows by
    replacing its row, so a counted row can contain new transitions.
    """

    def __init__(self, table: Table[tuple[HistoryEntry, ...]]) -> None:
        self._table = table
        self._unread = dict.fromkeys(table.rows, 0)
        """The rows to read, with the number of transitions already counted in each."""
        self._places = {row: place for place, row in enumerate(table.rows)}
        """The positions of the rows, because the first evidence of a transition is the oldest resource."""
        self.is_void = False
        """True if a row was deleted after its transitions were counted."""
        self.cells: dict[Cell, _Hits] = defaultdict(_Hits)

    def written(self, key: str, old: Any, new: Any) -> None:
        if new is not ABSENT:
            self._unread.setdefault(key, 0 if old is ABSENT else len(old))
            self._places.setdefault(key, len(self._places))
        elif self._unread.pop(key, None) != 0:
            self.is_void = True

    def read(self, world: World) -> bool:
        for _ in range(min(SLICE, len(self._unread))):
            row, counted = self._unread.popitem()
            place = self._places[resource_of(row)]
            for resource_id, cell in moves_of(world, row, counted):
                self.cells[cell].add(place, resource_id)
        return bool(self._unread)


def moves_of(world: World, row: str, counted: int = 0) -> Iterator[tuple[str, Cell]]:
    """Yield the transitions in a history row, each with the id of its resource. Skip the first `counted` transitions.
    Omit what no traffic causes: transitions of other platform users' resources, and at the start of a world.
    """
    steps = world.store[HISTORIES].get(row) or ()
    resource_id = resource_of(row)
    record = find_moved(world, resource_id)
    if record is None or record.owner or not steps:
        return
    machine = kind_of(world, record).machine
    if counted:
        state = steps[counted - 1].state
    elif (earlier := world.journal.last_before(row)) is not None:
        state = earlier.state
    else:
        state = NOTHING if any(move.on == steps[0].on for move in machine.initial) else machine.initial[0].target
    for step in steps[counted:]:
        if step.cause.kind != "start":
            yield resource_id, Cell(record.kind, state, step.on, step.state)
        state = step.state


class _Rows:
    """Counters of the rows that are added to a table."""

    def __init__(self, table: Table[Any]) -> None:
        self.table = table
        self.hits: dict[tuple[str, str, str], _Hits] = defaultdict(_Hits)
        """The hits by dimension, item and counter name."""
        self._rows = AppendedRows(table)

    def read(self) -> bool:
        """Count a chunk of the new rows. Return True if there may be more."""
        if self._rows.starts_over():
            self.clear()
        taken = self._rows.take(SLICE)
        for key, row in taken:
            self.count(key, row)
        return len(taken) == SLICE

    def clear(self) -> None:
        self.hits.clear()

    def count(self, key: str, row: Any) -> None:
        raise NotImplementedError


class _Events(_Rows):
    def count(self, key: str, row: Event) -> None:
        self.hits["events", row.type, "emitted"].add(row.sequence, key)


Practice: TypeAlias = tuple[str, tuple[int, ...], str]
"""A good practice, with the sequence number and id of the delivery that shows it."""


class _Deliveries(_Rows):
    """Counters for the deliveries to one endpoint, and for the good practices that they show."""

    def __init__(self, table: Table[Any]) -> None:
        super().__init__(table)
        self._repeated: dict[str, set[Practice]] = {}
        """The good practices that the deliveries of an event show, by event. Only events that were sent repeatedly."""

    def clear(self) -> None:
        super().clear()
        self._repeated.clear()

    def count(self, key: str, row: Delivery) -> None:
        if row.was_dropped:
            return
        self.hits["events", row.event_type, "delivered"].add(row.sequence, row.event_id)
        if row.status == "succeeded":
            self.hits["events", row.event_type, "acknowledged"].add(row.sequence, row.event_id)
        elif row.response_status is not None and not row.unheard:
            if row.altered or row.corrupted:
                self.hits["practices", "forged_webhook_refused", "hits"].add(row.sequence, row.id)
            if row.stale:
                self.hits["practices", "stale_webhook_refused", "hits"].add(row.sequence, row.id)
        if row.attempt > 1 or row.event_id in self._repeated:
            self._count_repetitions(row)

    def _count_repetitions(self, delivery: Delivery) -> None:
        """Recount the good practices that depend on several deliveries of one event. They depend on the order of
        sending, but responses may arrive in another order, so an earlier count may be wrong.
        """
        sent, number = [], 1
        while True:
            one = self.table.get(delivery_id(delivery.event_id, delivery.endpoint_id, number))
            if one is not None:
                sent.append(one)
            # A gap before this attempt is a row that could not be read from a document.
            elif number > delivery.attempt:
                break
            number += 1
        before = self._repeated.get(delivery.event_id, set())
        now = set(_repetitions(sorted(sent, key=lambda one: one.sequence)))
        self._repeated[delivery.event_id] = now
        for practice, order, evidence in now - before:
            self.hits["practices", practice, "hits"].add(order, evidence)
        for practice, order, _ in before - now:
            seen = self.hits["practices", practice, "hits"]
            seen.hits -= 1
            if order == seen.order:
                others = (one for some in self._repeated.values() for one in some if one[0] == practice)
                _, seen.order, seen.first = min(others, default=(practice, None, ""))


def _repetitions(deliveries: Iterable[Delivery]) -> Iterator[Practice]:
    """Yield the good practices that the deliveries of one event, in the order of sending, show."""
    has_failed = has_succeeded = False
    for delivery in deliveries:
        if delivery.was_dropped:
            continue
        if delivery.status != "succeeded":
            has_failed = True
            continue
        if has_succeeded:
            yield "duplicate_event_acknowledged", delivery.sequence, delivery.id
        elif has_failed:
            yield "event_retry_survived", delivery.sequence, delivery.id
        has_succeeded = True


class _WorldCounts:
    def __init__(self) -> None:
        self._tables: dict[str, _Rows] = {}
        """The events of the world under "", and the deliveries of each endpoint under its id."""

    def read(self, world: World) -> bool:
        """Count a chunk of the new rows. Return True if there may be more."""
        before, endpoints = self._tables, every_endpoint_id(world)
        self._tables = {"": before.get("") or _Events(world.store[EVENTS])}
        self._tables |= {one: before.get(one) or _Deliveries(deliveries_of(world, one)) for one in endpoints}
        more = _moves(world).read(world)
        for rows in self._tables.values():
            more = rows.read() or more
        return more

    def counts(self, world: World) -> Counts:
        counts: Counts = {}

        def hit(dimension: str, key: Key, number: str, seen: _Hits | tally.Hits) -> None:
            if seen.hits:
                counts.setdefault((dimension, key), Count()).add(number, seen.hits, world.id, seen.first)

        _count_calls(world, hit)
        for cell, seen in sorted(_moves(world).cells.items(), key=lambda item: item[1].order):
            hit("states", (cell.kind, cell.target), "hits", seen)
            hit("transitions", cell, "hits", seen)
        together: dict[tuple[str, str, str], _Hits] = defaultdict(_Hits)
        for rows in self._tables.values():
            for place, seen in rows.hits.items():
                if seen.hits:
                    together[place].add(seen.order, seen.first, seen.hits)
        for (dimension, name, number), seen in together.items():
            hit(dimension, (name,), number, seen)
        return counts


def _moves(world: World) -> _Moves:
    table = world.store[HISTORIES]
    moves = table.index(_Moves)
    if moves.is_void:
        table.drop_indexes()
        moves = table.index(_Moves)
    return moves


def _count_calls(world: World, hit: Callable[[str, Key, str, tally.Hits], None]) -> None:
    errors = vocabulary_of(world).errors
    for place, row in world.store[tally.COVERAGE].items():
        sort, operation, which = place.split(" ")
        if sort == tally.ANSWER:
            hit("operations", (operation,), "called", row)
            if which == tally.SUCCESS:
                hit("operations", (operation,), "succeeded", row)
            elif which in errors:
                hit("errors", (operation, which), "hits", row)
                if errors[which].anywhere:
                    hit("errors", (ANY_OPERATION, which), "hits", row)
        elif sort == tally.PAGE:
            hit("lists", (operation,), "pages", row)
            if which == tally.FURTHER:
                hit("lists", (operation,), "further_pages", row)
        else:
            hit("practices", ("idempotent_replay",), "hits", row)


_COUNTED = PerWorld(_WorldCounts)


def count_some(world: World) -> bool:
    """Count a chunk of the new rows of a world. Return True if there may be more."""
    return _COUNTED[world].read(world)


def count_world(world: World) -> Counts:
    """Return the counters for everything that the traffic of a world has exercised."""
    while count_some(world):
        pass
    return _COUNTED[world].counts(world)


def merged(parts: Iterable[Counts]) -> Counts:
    """Add up counters with the same key. The example of each (`Count.first`) is the first one found in `parts`."""
    total: Counts = {}
    for counts in parts:
        for key, count in counts.items():
            into = total.setdefault(key, Count())
            into.numbers.update(count.numbers)
            into.first = into.first or count.first
    return total
