"""Surprises in what the service says: a word that nobody knows yet, a member more, an optional one less.

The contract allows all of it, and integrators trip over it. What is an enum and what may be left out is read from the
shape of an answer or an event. A path is dotted, with numbers for items of a list; `*` stands for every item.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import TypeAdapter

from simulator.engine.text.enums import with_names
from simulator.engine.text.json import JsonObject, dumps
from simulator.kernel.dataclass import dataclass

if TYPE_CHECKING:
    from simulator.engine.rows.vocabulary import Vocabulary

NEW_WORD = "something_new"
NEW_MEMBER = "added_later"
_EVERY = "*"
_DEEPEST = 12

Path: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Surprise:
    """What is unexpected about a body: None where nothing is, "" where the simulator chooses the place."""

    unknown_enum: str | None = None
    extra_field: str | None = None
    missing_field: str | None = None
    unknown_type: str | None = None

    @classmethod
    def of(cls, given: object) -> Surprise | None:
        """What the members of a fault ask for; None where that is nothing."""
        asked = {name: getattr(given, name, None) for name in cls.__annotations__}
        wishes = {name: "" if wish is True else wish for name, wish in asked.items() if wish}
        return cls(**wishes) if wishes else None


@dataclass
class Place:
    """What the contract says of one place of a body.

    `words` are those that an enum has, none where it is no enum; `may_lack`: it is left out where it does not apply;
    `may_be_null`: it is there all the same, as null, so that a reader has to do without it too.
    """

    words: set[str] = field(default_factory=set)
    is_text: bool = False
    is_object: bool = False
    may_lack: bool = True
    may_be_null: bool = True

    @property
    def is_enum(self) -> bool:
        return bool(self.words) and not self.is_text

    @property
    def is_optional(self) -> bool:
        return self.may_lack or self.may_be_null


Places: TypeAlias = Mapping[Path, Place]
"""The places of a body, shallow ones first; items of lists are `*`, the body itself is ()."""


@lru_cache(maxsize=256)
def places_of(vocabulary: Vocabulary, shape: object) -> Places:
    """The places of a body of this shape: a TypedDict, or a union of such."""
    return _places(vocabulary, ((), shape))


@lru_cache(maxsize=256)
def places_of_event(vocabulary: Vocabulary, event: str) -> Places:
    """The places of the envelope of an event of this type, with all that it may tell of."""
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
    # Alone in a function: pydantic looks for the names in annotations among the variables of whoever calls it.
    return TypeAdapter(shape).json_schema(mode="serialization")


def _enter(schema: JsonObject, defs: JsonObject, path: Path, found: dict[Path, Place]) -> None:
    """Enter a place and all below it; what several forms of a body say of it comes together."""
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
    """The forms that a value may have."""
    if "$ref" in schema:
        yield from _variants(defs[schema["$ref"].rpartition("/")[2]], defs)
    elif inner := schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf"):
        for one in inner:
            yield from _variants(one, defs)
    else:
        yield schema


# --- what can be asked for ----------------------------------------------------------------------------------------


def impossible(places: Iterable[Places], surprise: Surprise) -> Iterator[tuple[str, str]]:
    """What cannot come about in any body of these: the name of the member of the fault, and why not."""
    bodies = list(places)
    for member, asked, chosen, what in (
        ("unknown_enum", surprise.unknown_enum, _enums, "has a fixed list of words"),
        ("missing_field", surprise.missing_field, _options, "may be absent or null"),
    ):
        if asked is not None and not any(chosen(body, asked) for body in bodies):
            known = list(dict.fromkeys(".".join(path) for body in bodies for path in chosen(body, "")))
            such = f"{asked} is none that {what}; such are {', '.join(known[:8])}{' and others' if known[8:] else ''}"
            yield member, such if known else f"no member there {what}"
    if surprise.extra_field is not None and (why := _why_not_added(bodies, surprise.extra_field)):
        yield "extra_field", why


def _why_not_added(bodies: list[Places], asked: str) -> str:
    path = _generic(asked) if asked else (NEW_MEMBER,)
    if "" in path:
        return "it must be a name or a dotted path"
    if any(path in body for body in bodies):
        return f"{asked} is there already"
    if any(body.get(path[:-1], Place()).is_object for body in bodies):
        return ""
    return f"there is no object {'.'.join(path[:-1])}" if path[:-1] else "there is no object to add it to"


def _generic(path: str) -> Path:
    return tuple(_EVERY if part.isdecimal() else part for part in path.split("."))


def _enums(places: Places, asked: str | None) -> list[Path]:
    """The enums that may be meant, `status` first, then those with a choice."""
    found = [path for path, place in places.items() if place.is_enum and asked in ("", *_written(path, asked))]
    return sorted(found, key=lambda path: (path[-1] != "status", len(places[path].words) == 1))


def _options(places: Places, asked: str | None) -> list[Path]:
    """The optional members that may be meant, first those that may be left out."""
    found = [path for path, place in places.items() if path and path[-1] != _EVERY and place.is_optional]
    return sorted(
        (path for path in found if asked in ("", *_written(path, asked))), key=lambda path: not places[path].may_lack
    )


def _written(path: Path, asked: str | None) -> tuple[str, ...]:
    return (asked,) if asked is not None and _generic(asked) == path else ()


# --- making it so -------------------------------------------------------------------------------------------------


_SURELY_64_BITS = 18
"""So many characters an integer may have for it to fit into 64 bits, whatever its digits and sign."""


def _as_written(digits: str) -> int | Decimal:
    """An integer, or the decimal of the same digits: `dumps` writes integers of at most 64 bits."""
    return int(digits) if len(digits) <= _SURELY_64_BITS else Decimal(digits)


def surprised(raw: bytes, places: Places, surprise: Surprise) -> bytes | None:
    """The body with what nobody expects in it; None where nothing of it can be there.

    Deterministic: the same body and surprise give the same bytes. Numbers stay as they are written.
    """
    try:
        body = json.loads(raw, parse_float=Decimal, parse_int=_as_written)
    except ValueError:
        return None
    if not isinstance(body, dict):
        return None
    done = [
        surprise.unknown_enum is not None and _first(body, _enums(places, surprise.unknown_enum),
                                                     surprise.unknown_enum, _put_new_word(places)),
        surprise.missing_field is not None and _first(body, _options(places, surprise.missing_field),
                                                      surprise.missing_field, _leave_out),
        surprise.extra_field is not None and _add(body, places, surprise.extra_field),
        surprise.unknown_type is not None and _rename(body, surprise.unknown_type),
    ]  # fmt: skip
    return dumps(body) if any(done) else None


def _first(body: JsonObject, paths: list[Path], asked: str, change: Callable[[JsonObject, str, Path], bool]) -> bool:
    """Change the members at the first of these places that are there."""
    for path in paths:
        wanted = tuple(asked.split(".")) if asked else path
        changed = [change(holder, wanted[-1], path) for holder in _holders(body, wanted)]
        if any(changed):
            return True
    return False


def _holders(value: Any, path: Path) -> Iterator[JsonObject]:
    """The objects that have, or could have, the member that a path ends with."""
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
    """One more member: where it was asked for, or in every object that the contract describes."""
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
    """An event of a type that is not in the catalogue."""
    group = str(body.get("type", "")).partition(".")[0]
    body["type"] = asked or f"{group}.{NEW_WORD}"
    return True
