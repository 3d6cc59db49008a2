"""What a scenario can name of the service: the objects of events with their fields, and the paths of calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from typing import Annotated, Literal, get_args, get_origin, get_type_hints

from simulator.resources import ORDER
from simulator.wire.events import EVENT_TYPES
from simulator.wire.operation import Operation
from simulator.wire.records import Kind
from simulator.wire.room import Room, kinds_in_order
from simulator.wire.shapes import OneOf
from simulator.wire.subjects import Subject, subjects_of


@cache
def _rooms() -> tuple[Room, ...]:
    return tuple(import_module(f"simulator.resources.{name}").ROOM for name in ORDER)


@cache
def subjects() -> Mapping[str, tuple[Subject, ...]]:
    """What every event tells of."""
    return subjects_of(kinds())


@cache
def kinds() -> tuple[Kind, ...]:
    """Every kind of resource."""
    return tuple(kinds_in_order(_rooms()))


def shapes_of(event: str) -> tuple[object, ...]:
    """What `data.object` of an event may be."""
    return tuple(dict.fromkeys(subject.shape for subject in subjects()[event]))


@cache
def kinds_of(about: str) -> tuple[str, ...]:
    """The kinds that events about such an object tell of; () for what every world has without making it, and where no
    move emits the event: then a rule's object may be any.
    """
    named = {one.kind.name for group in subjects().values() for one in group if one.event.object == about}
    kinds = (kind for room in _rooms() for kind in room.kinds if kind.name in named)
    made = (kind.name for kind in kinds if kind.standing is None and kind.sole is None)
    return () if any(row.in_status and row.object == about for row in EVENT_TYPES.values()) else tuple(made)


@cache
def fields_of(event: str) -> Mapping[str, frozenset[str] | None]:
    """The fields that `data.object` of an event may have, and the words that each may be (None: anything)."""
    fields: dict[str, frozenset[str] | None] = {}
    for shape in (member for one in shapes_of(event) for member in _members(one)):
        for name, hint in get_type_hints(shape, include_extras=True).items():
            words, known = _words(hint), fields.get(name, frozenset())
            fields[name] = None if words is None or known is None else known | words
    return fields


def _members(shape: object) -> list[object]:
    """The typed dictionaries of a union, however it is wrapped."""
    if get_origin(shape) is Annotated:
        return _members(get_args(shape)[0])
    arguments = get_args(shape)
    return [member for argument in arguments for member in _members(argument)] if arguments else [shape]


def _words(hint: object) -> frozenset[str] | None:
    """The words of a Literal, or of a text marked as one of a few; None for a type that has other values too."""
    while get_origin(hint) is not Literal and get_args(hint):
        few = [mark for mark in get_args(hint)[1:] if isinstance(mark, OneOf)]
        if few:
            return frozenset(few[0].values)
        if get_origin(hint) is not Annotated and len(get_args(hint)) != 1:
            return None
        hint = get_args(hint)[0]
    values = get_args(hint)
    return frozenset(values) if values and all(isinstance(value, str) for value in values) else None


@cache
def operations() -> tuple[Operation, ...]:
    """Every operation of the interface."""
    return tuple(row for room in _rooms() for row in room.operations)


@cache
def _calls() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Method and path of every operation."""
    return tuple((row.method, tuple(row.path.split("/"))) for row in operations())


def paths() -> list[str]:
    return list(dict.fromkeys("/".join(segments) for _, segments in _calls()))


def methods_at(path: str) -> set[str]:
    """The methods of the operations at a path below the base; a segment with `${…}` stands for any."""
    given = path.partition("?")[0].split("/")
    return {method for method, segments in _calls() if _fits(given, segments)}


def _fits(given: list[str], segments: Iterable[str]) -> bool:
    segments = list(segments)
    return len(given) == len(segments) and all(
        bool(one) if wanted.startswith("{") else one == wanted or "${" in one
        for one, wanted in zip(given, segments, strict=True)
    )


def is_path_glob(glob: str) -> bool:
    """Whether a glob fits any path of the interface."""
    parts = glob.split("/")
    for _, segments in _calls():
        pairs = zip(segments, parts, strict=False)
        likely = [part if own.startswith("{") and part else own for own, part in pairs] + list(segments[len(parts) :])
        if fnmatchcase("/".join(likely), glob) or fnmatchcase("/".join(segments), glob):
            return True
    return False
