"""What events tell of: the kinds of resource, the statuses that they leave, what they show and an example of it.

Nothing lists them: a cell of a state table names its events, and its kind says what they show.
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
    """A kind of resource that an event tells of, and the statuses in which the event leaves one."""

    event: EventType
    kind: Kind
    statuses: tuple[str, ...]

    @property
    def shape(self) -> Any:
        """What the event shows of it."""
        return self.kind.event_shapes.get(self.event.name, self.kind.shape)()

    @property
    def example(self) -> JsonObject:
        """A realistic object, moments still written as `@…`."""
        field, example = self.kind.status_field, self.kind.example()
        status = {field: self.statuses[0]} if field in example and self.event.narrows else {}
        return {**example, **status, **self.event.example}


def subjects_of(events: Iterable[EventType], kinds: Collection[Kind]) -> Mapping[str, tuple[Subject, ...]]:
    """The subjects of every event; kinds stand in the order in which the events tell of them."""
    order = dict[str, int]()
    found: dict[str, tuple[Subject, ...]] = {}
    for event in events:
        subjects = [Subject(event, kind, statuses) for kind in kinds if (statuses := statuses_after(kind, event))]
        for subject in subjects:
            order.setdefault(subject.kind.name, len(order))
        found[event.name] = tuple(sorted(subjects, key=lambda subject: order[subject.kind.name]))
    return found


def is_end(subjects: tuple[Subject, ...]) -> bool:
    """Whether an event leaves its object where nothing but a refund or its deletion can follow."""
    return bool(subjects) and all(
        status not in {move.target for move in subject.kind.machine.initial}
        and all(move.on in ("refund", "delete") for move in subject.kind.machine.rows[status])
        for subject in subjects
        for status in subject.statuses
    )


def statuses_after(kind: Kind, event: EventType) -> tuple[str, ...]:
    """Where the moves of a kind lead that emit an event; of an event that no move emits, where it can be emitted."""
    if event.in_status:
        return (event.in_status,) if kind.name == event.object else ()
    rows = (kind.machine.initial, *kind.machine.rows.values())
    return tuple(dict.fromkeys(move.target for row in rows for move in row if event.name in move.events))


def example_of(package: str, kind: str) -> Callable[[], JsonObject]:
    """Reads the example of a kind that its room keeps beside it, when somebody asks for it."""
    return lambda: _examples_of(package)[kind]


@cache
def _examples_of(package: str) -> dict[str, JsonObject]:
    found: dict[str, JsonObject] = loads(files(package).joinpath("examples.json").read_bytes())
    return found
