"""Subjects of events, derived from the state tables: kinds, their statuses after the event, shape and example."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from simulator.engine.rows.event import EventType
from simulator.engine.rows.kind import Kind
from simulator.engine.text.json import JsonObject, loads
from simulator.kernel.dataclass import dataclass


@dataclass(frozen=True)
class Subject:
    """A kind of resource that an event is about, and the statuses that it can have after the event."""

    event: EventType
    kind: Kind
    statuses: tuple[str, ...]

    @property
    def shape(self) -> Any:
        """The shape of the resource in the event."""
        return self.kind.event_shapes.get(self.event.name, self.kind.shape)()

    @property
    def example(self) -> JsonObject:
        """A realistic object. Times are written as `@…`, relative to now."""
        field, example = self.kind.status_field, self.kind.example()
        status = {field: self.statuses[0]} if field in example and self.event.narrows else {}
        return {**example, **status, **self.event.example}


def subjects_of(events: Iterable[EventType], kinds: Collection[Kind]) -> Mapping[str, tuple[Subject, ...]]:
    """Map the name of each event to its subjects: the kinds of resource that the event can be about. An event's
    subjects are sorted by the first event that is about their kind.
    """
    order = dict[str, int]()
    found: dict[str, tuple[Subject, ...]] = {}
    for event in events:
        subjects = [Subject(event, kind, statuses) for kind in kinds if (statuses := statuses_after(kind, event))]
        for subject in subjects:
            order.setdefault(subject.kind.name, len(order))
        found[event.name] = tuple(sorted(subjects, key=lambda subject: order[subject.kind.name]))
    return found


def is_end(subjects: tuple[Subject, ...]) -> bool:
    """Return True if, after the event, its object can only be refunded or deleted."""
    return bool(subjects) and all(
        status not in {move.target for move in subject.kind.machine.initial}
        and all(move.on in ("refund", "delete") for move in subject.kind.machine.rows[status])
        for subject in subjects
        for status in subject.statuses
    )


def statuses_after(kind: Kind, event: EventType) -> tuple[str, ...]:
    """Return the targets of a kind's transitions that emit an event, or else the event's `in_status`."""
    if event.in_status:
        return (event.in_status,) if kind.name == event.object else ()
    rows = (kind.machine.initial, *kind.machine.rows.values())
    return tuple(dict.fromkeys(move.target for row in rows for move in row if event.name in move.events))


def example_of(package: str, kind: str) -> Callable[[], JsonObject]:
    """Return a function that reads a kind's example from the file next to the module that declares the kind."""
    return lambda: _examples_of(package)[kind]


@cache
def _examples_of(package: str) -> dict[str, JsonObject]:
    found: dict[str, JsonObject] = loads(files(package).joinpath("examples.json").read_bytes())
    return found
