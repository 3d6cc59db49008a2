"""Subjects of events: the kinds of resource, their statuses after the event, their shape and an example.

They are derived: a cell of a state table names its events, and its kind has the shape.
"""

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
    """A kind of resource that an event is about, and its statuses after the event."""

    event: EventType
    kind: Kind
    statuses: tuple[str, ...]

    @property
    def shape(self) -> Any:
        """The shape of it in the event."""
        return self.kind.event_shapes.get(self.event.name, self.kind.shape)()

    @property
    def example(self) -> JsonObject:
        """A realistic object, with moments written as `@…`."""
        field, example = self.kind.status_field, self.kind.example()
        status = {field: self.statuses[0]} if field in example and self.event.narrows else {}
        return {**example, **status, **self.event.example}


def subjects_of(events: Iterable[EventType], kinds: Collection[Kind]) -> Mapping[str, tuple[Subject, ...]]:
    """Return the subjects of every event, with kinds in the order of the events about them."""
    order = dict[str, int]()
    found: dict[str, tuple[Subject, ...]] = {}
    for event in events:
        subjects = [Subject(event, kind, statuses) for kind in kinds if (statuses := statuses_after(kind, event))]
        for subject in subjects:
            order.setdefault(subject.kind.name, len(order))
        found[event.name] = tuple(sorted(subjects, key=lambda subject: order[subject.kind.name]))
    return found


def is_end(subjects: tuple[Subject, ...]) -> bool:
    """Return True if an event leaves its object in a state that only a refund or its deletion can follow."""
    return bool(subjects) and all(
        status not in {move.target for move in subject.kind.machine.initial}
        and all(move.on in ("refund", "delete") for move in subject.kind.machine.rows[status])
        for subject in subjects
        for status in subject.statuses
    )


def statuses_after(kind: Kind, event: EventType) -> tuple[str, ...]:
    """Return the targets of the moves of a kind that emit an event, or `in_status` if no move emits it."""
    if event.in_status:
        return (event.in_status,) if kind.name == event.object else ()
    rows = (kind.machine.initial, *kind.machine.rows.values())
    return tuple(dict.fromkeys(move.target for row in rows for move in row if event.name in move.events))


def example_of(package: str, kind: str) -> Callable[[], JsonObject]:
    """Return a function that reads the example of a kind beside its room's module at the first use."""
    return lambda: _examples_of(package)[kind]


@cache
def _examples_of(package: str) -> dict[str, JsonObject]:
    found: dict[str, JsonObject] = loads(files(package).joinpath("examples.json").read_bytes())
    return found
