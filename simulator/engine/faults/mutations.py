"""Mutations of bodies that the contract allows: an unknown enum value, an additional field, a missing optional field.
The enums and optional fields are read from the shape of a response or an event. A path is dotted. `*` means every list
item.
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

    @property
    def is_enum(self) -> bool:
        return bool(self.words) and not self.is_text

    @property
    def is_optional(self) -> bool:
        return self.may_lack or self.may_be_null


Places: TypeAlias = Mapping[Path, Place]
"""The locations in a body, shallow ones first. `*` stands for list items, and () for the body itself."""


@lru_cache(maxsize=256)
def places_of(vocabulary: Vocabulary, shape: object) -> Places:
    """Return the locations in a body. `shape` is a TypedDict or a union of TypedDicts."""
    return _places(vocabulary, ((), shape))


@lru_cache(maxsize=256)
def places_of_event(vocabulary: Vocabulary, event: str) -> Places:
    """Return the locations in the body of an event. Those of all kinds that the event can contain are merged."""
    shapes = vocabulary.shapes_of(event)
    found = dict(_places(vocabulary, *((("data", "object"), shape) for shape in shapes)))
    envelope = {name: Place(may_lack=False, may_be_null=False) for name in ("id", "type", "created_at", "livemode")}
    body = {(): Place(is_object=True), ("data",): Place(is_object=True, may_lack=False, may_be_null=False)}
    found[("data", "object")] = Place(is_object=True, may_lack=False, may_be_null=False)
    return {**body, **{(name,): place for name, place in envelope.items()}, **found}


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
    """Yield the variants of a schema, such as the members of a union."""
    if "$ref" in schema:
        yield from _variants(defs[schema["$ref"].rpartition("/")[2]], defs)
    elif inner := schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf"):
        for one in inner:
            yield from _variants(one, defs)
    else:
        yield schema


# --- possible mutations ---------------------------------------------------------------------------------------------


def impossible(places: Iterable[Places], mutation: Mutation) -> Iterator[tuple[str, str]]:
    """Yield the fault field of each mutation that is impossible in all of these bodies, with the reason."""
    bodies = list(places)
    for member, asked, chosen, what in (
        ("unknown_enum", mutation.unknown_enum, _enums, "has a fixed list of values"),
        ("missing_field", mutation.missing_field, _options, "may be absent or null"),
    ):
        if asked is not None and not any(chosen(body, asked) for body in bodies):
            known = list(dict.fromkeys(".".join(path) for body in bodies for path in chosen(body, "")))
            such = (
                f"{asked} cannot be used, because it must be a field that {what}, such as "
                f"{', '.join(known[:8])}{' and others' if known[8:] else ''}"
            )
            yield member, such if known else f"no field at that place {what}"
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
    return (
        f"there is no object {'.'.join(path[:-1])}"
        if path[:-1]
        else "the response has no object to which it can be added"
    )


def _generic(path: str) -> Path:
    return tuple(_EVERY if part.isdecimal() else part for part in path.split("."))


def _enums(places: Places, asked: str | None) -> list[Path]:
    """Return the paths of the enums that a fault may change: `status` first, then enums with several values."""
    found = [path for path, place in places.items() if place.is_enum and asked in ("", *_written(path, asked))]
    return sorted(found, key=lambda path: (path[-1] != "status", len(places[path].words) == 1))


def _options(places: Places, asked: str | None) -> list[Path]:
    """Return the paths of the optional fields that a fault may remove. Fields that may be absent come first."""
    found = [path for path, place in places.items() if path and path[-1] != _EVERY and place.is_optional]
    return sorted(
        (path for path in found if asked in ("", *_written(path, asked))), key=lambda path: not places[path].may_lack
    )


def _written(path: Path, asked: str | None) -> tuple[str, ...]:
    return (asked,) if asked is not None and _generic(asked) == path else ()


# --- applying them ------------------------------------------------------------------------------------------------


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
    done = [
        mutation.unknown_enum is not None and _first(body, _enums(places, mutation.unknown_enum),
                                                     mutation.unknown_enum, _put_new_word(places)),
        mutation.missing_field is not None and _first(body, _options(places, mutation.missing_field),
                                                      mutation.missing_field, _leave_out),
        mutation.extra_field is not None and _add(body, places, mutation.extra_field),
        mutation.unknown_type is not None and _rename(body, mutation.unknown_type),
    ]  # fmt: skip
    return dumps(body) if any(done) else None


def _first(body: JsonObject, paths: list[Path], asked: str, change: Callable[[JsonObject, str, Path], bool]) -> bool:
    """Change the fields at the first of these paths that exists. Return False if none of them exists."""
    for path in paths:
        wanted = tuple(asked.split(".")) if asked else path
        changed = [change(holder, wanted[-1], path) for holder in _holders(body, wanted)]
        if any(changed):
            return True
    return False


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


def _put_new_word(places: Places) -> Callable[[JsonObject, str, Path], bool]:
    def put(holder: JsonObject, name: str, path: Path) -> bool:
        word = holder.get(name)
        if not isinstance(word, str) or word not in places[path].words:
            return False
        holder[name] = NEW_WORD.upper() if word.isupper() else NEW_WORD
        return True

    return put


def _leave_out(holder: JsonObject, name: str, _: Path) -> bool:
    there = name in holder
    holder.pop(name, None)
    return there


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


def _rename(body: JsonObject, asked: str) -> bool:
    """Replace the type of an event with a type that is not in the catalogue."""
    group = str(body.get("type", "")).partition(".")[0]
    body["type"] = asked or f"{group}.{NEW_WORD}"
    return True
