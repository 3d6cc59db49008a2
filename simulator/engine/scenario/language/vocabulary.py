"""What a scenario can name of the service: the objects of events with their fields, and the paths of calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache

from simulator.engine.records.records import Kind
from simulator.engine.rows.event import EVENT_TYPES
from simulator.engine.rows.operation import Operation
from simulator.engine.rows.room import kinds_in_order
from simulator.engine.rows.subjects import Subject, subjects_of
from simulator.providers.ramp.provider import ROOMS


@cache
def subjects() -> Mapping[str, tuple[Subject, ...]]:
    """What every event tells of."""
    return subjects_of(kinds())


@cache
def kinds() -> tuple[Kind, ...]:
    """Every kind of resource."""
    return tuple(kinds_in_order(ROOMS))


def shapes_of(event: str) -> tuple[object, ...]:
    """What `data.object` of an event may be."""
    return tuple(dict.fromkeys(subject.shape for subject in subjects()[event]))


@cache
def kinds_of(about: str) -> tuple[str, ...]:
    """The kinds that events about such an object tell of; () for what every world has without making it, and where no
    move emits the event: then a rule's object may be any.
    """
    named = {one.kind.name for group in subjects().values() for one in group if one.event.object == about}
    kinds = (kind for room in ROOMS for kind in room.kinds if kind.name in named)
    made = (kind.name for kind in kinds if kind.standing is None and kind.sole is None)
    return () if any(row.in_status and row.object == about for row in EVENT_TYPES.values()) else tuple(made)


@cache
def operations() -> tuple[Operation, ...]:
    """Every operation of the interface."""
    return tuple(row for room in ROOMS for row in room.operations)


def operation_at(method: str, path: str) -> Operation | None:
    """The operation that a call goes to, by its path below the base."""
    given = path.partition("?")[0].split("/")
    return next((row for row in operations() if row.method == method and _fits(given, row.path.split("/"))), None)


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
