"""The vocabulary of a service: the declarations of all packages, collected and checked when a simulator is created."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Any, TypeVar

from simulator.engine.rows.action import ActionTable
from simulator.engine.rows.error import ENGINE_ERRORS, ErrorCode
from simulator.engine.rows.event import EventType
from simulator.engine.rows.identity import Identity
from simulator.engine.rows.kind import Kind
from simulator.engine.rows.operation import Operation
from simulator.engine.rows.provider import Provider
from simulator.engine.rows.room import kinds_in_order
from simulator.engine.rows.service import Service
from simulator.engine.text.shapes import ENVIRONMENT, EVENT, NETWORK
from simulator.engine.vocabulary.subjects import Subject, is_end, subjects_of
from simulator.kernel.store import TableKey
from simulator.kernel.world import CreationListener, EventListener, FailureHandler, TimerRow, Wiring, World

AnyRow = TypeVar("AnyRow")
RowT = TypeVar("RowT", bound=EventType | ErrorCode)


def by_name(what: str, rows: Iterable[AnyRow], name_of: Callable[[AnyRow], str]) -> dict[str, AnyRow]:
    """Return a dictionary of rows by name. Raise `ValueError` if a name of `what` occurs twice."""
    found: dict[str, AnyRow] = {}
    for row in rows:
        name = name_of(row)
        if name in found:
            raise ValueError(f"two {what} have the name {name!r}")
        found[name] = row
    return found


def chapter(what: str, rooms: Iterable[Iterable[RowT]]) -> dict[str, RowT]:
    """Merge the rows of all packages, and return them by name. `what` names the rows in errors. Each row comes after
    the row named in its `after`. If there is no such row, it comes after the previous row in its package. Raise
    `ValueError` for duplicate names, or if the `after` fields form a cycle.
    """
    groups = [list(rows) for rows in rooms]
    known = by_name(what, (row for rows in groups for row in rows), lambda row: row.name)
    chosen: defaultdict[str, list[RowT]] = defaultdict(list)
    usual: defaultdict[str, list[RowT]] = defaultdict(list)
    for rows in groups:
        before = ""
        for row in rows:
            (chosen[row.after] if row.after in known else usual[before]).append(row)
            before = row.name

    def behind(name: str) -> Iterator[RowT]:
        for row in (*chosen[name], *usual[name]):
            yield row
            yield from behind(row.name)

    found = {row.name: row for row in behind("")}
    if len(found) != len(known):
        raise ValueError(f"these {what} depend on each other in a cycle: {', '.join(known.keys() - found.keys())}")
    return found


class Vocabulary(Service):
    """The declarations of a provider, by name. Raises `ValueError` if a name occurs twice."""

    def __init__(self, provider: Provider) -> None:
        rooms = provider.rooms
        self.provider = provider
        self.signing, self.money, self.wording = provider.signing, provider.money, provider.wording
        operations = (row for room in rooms for row in room.operations)
        self.operations: tuple[Operation, ...] = tuple(by_name("operations", operations, lambda row: row.name).values())
        self.events: Mapping[str, EventType] = chapter("events", (room.events for room in rooms))
        self.actions = ActionTable((row for room in rooms for row in room.actions), self.events)
        self.kinds: Mapping[str, Kind] = by_name("kinds", kinds_in_order(rooms), lambda kind: kind.name)
        """The resource kinds. Kinds with only one resource per world are last."""
        for kind in self.kinds.values():
            rows = (kind.machine.initial, *kind.machine.rows.values())
            if unknown := {name for row in rows for move in row for name in move.events} - self.events.keys():
                why = f"no package declares these events that a {kind.name} emits: {', '.join(sorted(unknown))}"
                raise ValueError(why)
        declared = (room.errors for room in rooms)
        self.errors: Mapping[str, ErrorCode] = chapter("errors", (ENGINE_ERRORS.values(), *declared))
        timers = (row for room in rooms for row in room.timers)
        self.timers: Mapping[str, TimerRow] = by_name("timers", timers, lambda row: row.kind)
        own = (table for room in rooms for table in (*(kind.table for kind in room.kinds), *room.tables))
        tables = dict.fromkeys(own)
        self.tables: tuple[TableKey[Any], ...] = tuple(by_name("tables", tables, lambda table: table.name).values())

    @cached_property
    def event_meanings(self) -> Mapping[str, str]:
        """The meaning of each event, by name."""
        return {row.name: row.meaning for row in self.events.values()}

    @cached_property
    def names(self) -> Mapping[str, Mapping[str, str]]:
        """The names of events, environments and networks with their meanings, by their placeholders in schemas."""
        provider = self.provider
        called = {name: provider.environment_names.get(name, f"{name} environment") for name in provider.environments}
        environments = {name: f"The {called[name]}, at {base}." for name, base in provider.environments.items()}
        networks = dict.fromkeys(provider.outages.networks, "A network.")
        return {EVENT: self.event_meanings, ENVIRONMENT: environments, NETWORK: networks}

    @cached_property
    def subjects(self) -> Mapping[str, tuple[Subject, ...]]:
        """The kinds of resource that each event can be about and their possible statuses after it, by event name."""
        return subjects_of(self.events.values(), self.kinds.values())

    def kinds_told_of(self, about: str) -> tuple[str, ...]:
        """Return the kinds of resource for which events with the object type `about` are emitted. Return () if the
        object of such an event can be of any kind: if no transition emits the event, or if all such resources exist in
        every world without being created.
        """
        named = {one.kind.name for group in self.subjects.values() for one in group if one.event.object == about}
        kinds = (kind for room in self.provider.rooms for kind in room.kinds if kind.name in named)
        made = (kind.name for kind in kinds if kind.standing is None and kind.sole is None)
        return () if any(row.in_status and row.object == about for row in self.events.values()) else tuple(made)

    def ends_after(self, event: str) -> frozenset[str]:
        """Return the events that can end the lifecycle of an event's object, or none if the event itself ends it."""
        if is_end(self.subjects[event]):
            return frozenset()
        about = {subject.kind.name for subject in self.subjects[event]}
        rows = self.subjects.items()
        return frozenset(name for name, told in rows if is_end(told) and any(one.kind.name in about for one in told))

    @cached_property
    def roots(self) -> Mapping[str, tuple[Kind, ...]]:
        """The resource kinds that `where` of a scenario rule can check, by the word with which a path begins."""
        named = [kind for kind in self.kinds.values() if kind.named_by]
        return {kind.root: tuple(one for one in named if one.root == kind.root) for kind in named}

    @cached_property
    def using(self) -> Mapping[str, re.Pattern[str]]:
        """The operations that use up a resource, such as a quote. Each value is a regular expression for an operation's
        path, with the resource id as its only group. Each key is the name under which the conditions (`where`) of a
        scenario refer to the resource.
        """
        paths = ((row.uses, re.escape(row.path)) for row in self.operations if row.uses)
        return {root: re.compile(path.replace(re.escape("{id}"), "([^/]+)")) for root, path in paths}

    @cached_property
    def order_ends(self) -> frozenset[str]:
        """The final statuses of orders: the statuses that they can have after their last events."""
        orders = self.provider.money.orders
        last = (subject for row in self.events.values() if row.is_last for subject in self.subjects[row.name])
        return frozenset(status for one in last if one.kind.name in orders for status in one.statuses)

    @cached_property
    def order_begun(self) -> frozenset[str]:
        """The statuses in which an order is not yet finished."""
        found = (status for name in self.provider.money.orders for status in self.kinds[name].machine.rows)
        return frozenset(found) - self.order_ends

    @cached_property
    def order_told(self) -> frozenset[str]:
        """The order statuses that events report."""
        orders = self.provider.money.orders
        told = (one for subjects in self.subjects.values() for one in subjects if one.kind.name in orders)
        return frozenset(status for one in told for status in one.statuses)

    @cached_property
    def order_payments(self) -> Mapping[str, str]:
        """Maps the initial status of each order that asks for a payment to the action that pays it."""
        paid = [self.kinds[name].machine for name, one in self.provider.money.orders.items() if one.source != "balance"]
        begun = ((move.target, machine) for machine in paid for move in machine.initial)
        return {status: machine.rows[status][0].on for status, machine in begun if status in self.order_told}

    def shapes_of(self, event: str) -> tuple[object, ...]:
        """Return the possible shapes of `data.object` in an event."""
        return tuple(dict.fromkeys(subject.shape for subject in self.subjects[event]))


@lru_cache(maxsize=8)
def collected(provider: Provider) -> Vocabulary:
    """Return the vocabulary of a provider, which all its simulators share."""
    return Vocabulary(provider)


def vocabulary_of(world: World) -> Vocabulary:
    """Return the vocabulary that a world's simulator uses."""
    vocabulary = world.wiring.vocabulary
    assert isinstance(vocabulary, Vocabulary)
    return vocabulary


def identity_of(world: World) -> Identity:
    """Return the functions that a world's service uses to manage its keys, tokens and users."""
    return vocabulary_of(world).provider.identity


def wiring_of(
    vocabulary: Vocabulary,
    timers: Iterable[TimerRow] = (),
    on_event: tuple[EventListener, ...] = (),
    on_created: tuple[CreationListener, ...] = (),
    on_failure: FailureHandler | None = None,
) -> Wiring:
    """Return the timers, listeners and declarations for a world. Listeners of packages are called first."""
    rooms = vocabulary.provider.rooms
    return Wiring(
        timers=by_name("timers", (*vocabulary.timers.values(), *timers), lambda row: row.kind),
        on_event=(*(listener for room in rooms for listener in room.on_event), *on_event),
        on_created=(*(listener for room in rooms for listener in room.on_created), *on_created),
        kinds=vocabulary.kinds,
        on_failure=on_failure,
        environments=tuple(vocabulary.provider.environments),
        vocabulary=vocabulary,
    )
