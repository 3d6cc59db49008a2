"""Mutations of bodies that the contract allows, such as an unknown enum value. They are derived from the shape of a
response or an event. A path is dotted. `*` means every list item.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import TypeAdapter

from simulator.engine.text.json import JsonObject, dumps
from simulator.engine.text.shapes import with_names
from simulator.kernel.dataclass import dataclass

if TYPE_CHECKING:
    from simulator.engine.vocabulary.vocabulary import Vocabulary

NEW_WORD = "something_new"
NEW_MEMBER = "added_later"
_EVERY = "*"
_DEEPEST = 12

Path: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Mutation:
    """The mutations of a body: the path to change, None for no mutation, or "" if the simulator chooses the path."""

    saved_as = "Surprise"
    """The class name in exported worlds. It must not change."""

    unknown_enum: str | None = None
    extra_field: str | None = None
    missing_field: str | None = None
    unknown_type: str | None = None

    @classmethod
    def of(cls, given: object) -> Mutation | None:
        """Return the mutations that a fault requests, or None."""
        asked = {name: getattr(given, name, None) for name in cls.__annotations__}
        wishes = {name: "" if wish is True else wish for name, wish in asked.items() if wish}
        return cls(**wishes) if wishes else None


@dataclass
class Place:
    """The values that the contract allows in one field of a body."""

    words: set[str] = field(default_factory=set)
    """The values of an enum, or empty if the location is not an enum."""
    is_text: bool = False
    is_object: bool = False
    may_lack: bool = True
    """True if the field may be absent."""
    may_be_null: bool = True
    """True if the field may be null."""


Places: TypeAlias = Mapping[Path, Place]
"""The locations in a body, shallow ones first. `*` stands for list items, and () for the body itself."""


@lru_cache(maxsize=256)
def places_of(vocabulary: Vocabulary, shape: object) -> Places:
    """Return the locations in a body. `shape` is a TypedDict or a union of TypedDicts."""
    return _places(vocabulary, ((), shape))


@lru_cache(maxsize=256)
def places_of_event(vocabulary: Vocabulary, event: str) -> Places:
    """Return the locations in the body of an event. Those of all kinds that the event can contain are merged."""
    found = _places(vocabulary, *((("data", "object"), shape) for shape in vocabulary.shapes_of(event)))
    names = ("id", "type", "created_at", "livemode")
    envelope: dict[Path, Place] = {(name,): Place(may_lack=False, may_be_null=False) for name in names}
    data = Place(is_object=True, may_lack=False, may_be_null=False)
    return {(): Place(is_object=True), ("data",): data, **envelope, **found, ("data", "object"): data}


def _places(vocabulary: Vocabulary, *shapes: tuple[Path, object]) -> Places:
    found: dict[Path, Place] = {}
    for path, shape in shapes:
        schema = with_names(_schema_of(shape), vocabulary.names)
        _enter(schema, schema.get("$defs", {}), path, found)
    return dict(sorted(found.items(), key=lambda item: len(item[0])))


def _schema_of(shape: Any) -> JsonObject:
    # This is a separate function because pydantic resolves annotations with the local variables of its caller.
    return TypeAdapter(shape).json_schema(mode="serialization")


def _enter(schema: JsonObject, defs: JsonObject, path: Path, found: dict[Path, Place]) -> None:
    """Add a location and all locations below it to `found`. The locations of a body's variants are merged."""
    place = found.setdefault(path, Place())
    variants = list(_variants(schema, defs))
    place.may_be_null &= any(variant.get("type") == "null" for variant in variants)
    for variant in variants:
        words = variant.get("enum", [variant["const"]] if "const" in variant else [])
        place.words |= {word for word in words if isinstance(word, str)}
        place.is_text |= variant.get("type") == "string" and not words
        if len(path) > _DEEPEST:
            continue
        if "items" in variant:
            _enter(variant["items"], defs, (*path, _EVERY), found)
        place.is_object |= "properties" in variant
        for name, member in variant.get("properties", {}).items():
            _enter(member, defs, (*path, name), found)
            found[(*path, name)].may_lack &= name not in variant.get("required", ())


def _variants(schema: JsonObject, defs: JsonObject) -> Iterator[JsonObject]:
    if "$ref" in schema:
        yield from _variants(defs[schema["$ref"].rpartition("/")[2]], defs)
    elif inner := schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf"):
        for one in inner:
            yield from _variants(one, defs)
    else:
        yield schema


def impossible(places: Iterable[Places], mutation: Mutation) -> Iterator[tuple[str, str]]:
    """Yield the fault field of each mutation that is impossible in all of these bodies, with the reason."""
    bodies = list(places)
    for member, (chosen, _, what) in _CHANGES.items():
        asked = getattr(mutation, member)
        if asked is not None and not any(chosen(body, asked) for body in bodies):
            known = list(dict.fromkeys(".".join(path) for body in bodies for path in chosen(body, "")))
            such = f"{', '.join(known[:8])}{' and others' if known[8:] else ''}"
            refused = f"{asked} cannot be used, because it must be a field that {what}, such as {such}"
            yield member, refused if known else f"no field at that place {what}"
    if mutation.extra_field is not None and (why := _why_not_added(bodies, mutation.extra_field)):
        yield "extra_field", why


def _why_not_added(bodies: list[Places], asked: str) -> str:
    path = _generic(asked) if asked else (NEW_MEMBER,)
    if "" in path:
        return "it must be a name or a dotted path"
    if any(path in body for body in bodies):
        return f"the field {asked} already exists"
    if any(body.get(path[:-1], Place()).is_object for body in bodies):
        return ""
    holder = ".".join(path[:-1])
    return f"there is no object {holder}" if holder else "the response has no object to which it can be added"


def _generic(path: str) -> Path:
    return tuple(_EVERY if part.isdecimal() else part for part in path.split("."))


def _enums(places: Places, asked: str) -> list[Path]:
    """Return the paths of the enums that a fault may change: `status` first, then enums with several values."""
    enums = (path for path, place in places.items() if place.words and not place.is_text)
    found = (path for path in enums if _is_asked(path, asked))
    return sorted(found, key=lambda path: (path[-1] != "status", len(places[path].words) == 1))


def _options(places: Places, asked: str) -> list[Path]:
    """Return the paths of the optional fields that a fault may remove. Fields that may be absent come first."""
    optional = (path for path, place in places.items() if place.may_lack or place.may_be_null)
    found = (path for path in optional if path and path[-1] != _EVERY and _is_asked(path, asked))
    return sorted(found, key=lambda path: not places[path].may_lack)


def _is_asked(path: Path, asked: str) -> bool:
    return not asked or _generic(asked) == path


_SURELY_64_BITS = 18
"""Every integer with at most this many characters fits in 64 bits."""


def _as_written(digits: str) -> int | Decimal:
    """Return an integer, or an equal decimal if it exceeds 64 bits, because `dumps` writes only 64-bit integers."""
    return int(digits) if len(digits) <= _SURELY_64_BITS else Decimal(digits)


def mutated(raw: bytes, places: Places, mutation: Mutation) -> bytes | None:
    """Return the mutated body, or None if no mutation is possible. Numbers keep their notation."""
    try:
        body = json.loads(raw, parse_float=Decimal, parse_int=_as_written)
    except ValueError:
        return None
    if not isinstance(body, dict):
        return None
    done = False
    for member, (chosen, change, _) in _CHANGES.items():
        asked = getattr(mutation, member)
        for path in () if asked is None else chosen(places, asked):
            wanted = tuple(asked.split(".")) if asked else path
            changed = [change(holder, wanted[-1], places[path]) for holder in _holders(body, wanted)]
            if any(changed):
                done = True
                break  # Only the first path that exists is changed.
    if mutation.extra_field is not None:
        done |= _add(body, places, mutation.extra_field)
    if mutation.unknown_type is not None:
        group = str(body.get("type", "")).partition(".")[0]
        body["type"] = mutation.unknown_type or f"{group}.{NEW_WORD}"
        done = True
    return dumps(body) if done else None


def _holders(value: Any, path: Path) -> Iterator[JsonObject]:
    """Yield the objects that contain, or could contain, the field at the end of a path."""
    if len(path) == 1:
        if isinstance(value, dict):
            yield value
    elif isinstance(value, dict):
        yield from _holders(value.get(path[0]), path[1:])
    elif isinstance(value, list):
        chosen = value if path[0] == _EVERY else value[int(path[0]) :][:1] if path[0].isdecimal() else []
        for item in chosen:
            yield from _holders(item, path[1:])


def _put_new_word(holder: JsonObject, name: str, place: Place) -> bool:
    word = holder.get(name)
    if not isinstance(word, str) or word not in place.words:
        return False
    holder[name] = NEW_WORD.upper() if word.isupper() else NEW_WORD
    return True


def _leave_out(holder: JsonObject, name: str, _: Place) -> bool:
    there = name in holder
    holder.pop(name, None)
    return there


_CHANGES: Mapping[str, tuple[Callable[[Places, str], list[Path]], Callable[[JsonObject, str, Place], bool], str]] = {
    "unknown_enum": (_enums, _put_new_word, "has a fixed list of values"),
    "missing_field": (_options, _leave_out, "may be absent or null"),
}
"""For each field of a mutation: the paths that it may change, the change, and how to describe these paths."""


def _add(body: JsonObject, places: Places, asked: str) -> bool:
    """Add a field at the requested path, or to every object that the contract describes."""
    if asked:
        holders = list(_holders(body, tuple(asked.split("."))))
    else:
        objects = [path for path, place in places.items() if place.is_object]
        holders = [holder for path in objects for holder in _holders(body, (*path, NEW_MEMBER))]
    name = asked.rpartition(".")[2] or NEW_MEMBER
    for holder in holders:
        holder[name] = NEW_WORD
    return bool(holders)
