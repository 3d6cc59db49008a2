"""A schema in words: the kind of a value, its limits, the meanings of its values, its parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from contracts.generator.texts import meanings_of
from simulator.contract.files import followed
from simulator.engine.text.json import Shown, dumps
from simulator.engine.text.shapes import values_of
from simulator.kernel.dataclass import dataclass

_SCHEMAS = "#/components/schemas/"
_LIMITS: tuple[tuple[str, str, str], ...] = (
    ("minLength", "maxLength", "{} characters"),
    ("minimum", "maximum", "{}"),
    ("minItems", "maxItems", "{} of them"),
)
_FORMATS: Mapping[str, str] = {"date-time": "time", "date": "date", "uri": "address", "uuid": "UUID", "email": "e-mail"}
_LONGEST_PATTERN = 40
"""Longer patterns are not shown; the description explains them."""
_TOLD_AS: Mapping[str, str] = dict.fromkeys(("minLength", "maxLength"), "length") | dict.fromkeys(
    ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), "range"
)


@dataclass(frozen=True)
class Part:
    """A schema that has a name, as a part of another; `label` says when it is this one ("": it is the only one)."""

    name: str
    label: str = ""


@dataclass(frozen=True)
class Field:
    """A member of an object, a parameter, or a whole schema.

    `values` are those it may have (value, meaning); `is_open`: others may come, or are as good.
    `parts` are schemas with names that it is made of, `fields` its own members. `basis` is what it rests on, `guesses`
    are constraints that are assumed (the constraints, what they rest on).
    """

    name: str
    kind: str
    text: str = ""
    is_required: bool = False
    is_assumed: bool = False
    basis: str = ""
    guesses: tuple[tuple[str, str], ...] = ()
    limits: tuple[str, ...] = ()
    pattern: str = ""
    values: tuple[tuple[str, str], ...] = ()
    is_open: bool = False
    parts: tuple[Part, ...] = ()
    fields: tuple[Field, ...] = ()


class Reader:
    """Reads the schemas of one contract."""

    def __init__(self, document: Shown) -> None:
        self._document = document
        self._uses = Counter(_references(document))

    def follow(self, part: Shown) -> Shown:
        """Resolve a reference. Keywords next to it override its target."""
        return followed(self._document, part)

    def members(self, schema: Shown) -> tuple[Field, ...]:
        """Return the fields of an object, including those of its `allOf` parts."""
        joined = list(self._joined(schema))
        needed = {name for part in joined for name in part.get("required", ())}
        members = {name: member for part in joined for name, member in part.get("properties", {}).items()}
        return tuple(
            self.field(name, member, is_required=name in needed)
            for name, member in members.items()
            if member is not False
        )

    def field(self, name: str, schema: Shown, *, is_required: bool = False) -> Field:
        """Return one field. A named simple schema is described inline; a named object or union is a part."""
        whole = self.follow(schema)
        named = self._named(schema)
        kind, parts, fields = self._inside(whole) if named is None else ("object", (named,), ())
        if named is not None:
            whole = {**schema, "description": whole.get("description", "")}
        values, is_open = self._values(whole)
        return Field(
            name,
            kind,
            whole.get("description", ""),
            is_required,
            whole.get("x-provenance") == "assumed",
            whole.get("x-basis", ""),
            _guesses(whole),
            tuple(_limits(whole)),
            _pattern(whole),
            values,
            is_open,
            parts,
            fields,
        )

    def parts(self, schema: Shown) -> tuple[Part, ...]:
        """The named schemas that a choice is between."""
        labels = {place: label for label, place in schema.get("discriminator", {}).get("mapping", {}).items()}
        return tuple(
            Part(choice["$ref"].removeprefix(_SCHEMAS), labels.get(choice["$ref"], ""))
            for choice in _choices(schema)
            if "$ref" in choice
        )

    def is_shared(self, name: str) -> bool:
        """Return whether a schema is an object or union that is described once for all its uses."""
        return self._named({"$ref": _SCHEMAS + name}) is not None

    def _named(self, schema: Shown) -> Part | None:
        """Return the named object or union of a reference, or None. An object with one use is described there."""
        place = schema.get("$ref", "")
        if not place.startswith(_SCHEMAS):
            return None
        target = self.follow(schema)
        is_choice = any(word in target for word in ("oneOf", "anyOf", "allOf"))
        is_shared = is_choice or ("properties" in target and self._uses[place] > 1)
        return Part(place.removeprefix(_SCHEMAS)) if is_shared else None

    def _joined(self, schema: Shown) -> Iterator[Shown]:
        whole = self.follow(schema)
        for part in whole.get("allOf", ()):
            yield from self._joined(part)
        yield whole

    def _inside(self, schema: Shown) -> tuple[str, tuple[Part, ...], tuple[Field, ...]]:
        """The kind of a value, and what it is made of."""
        if choices := _choices(schema):
            return self._choice(schema, choices)
        if "allOf" in schema and "type" not in schema:
            inner = [self.field("", part) for part in schema["allOf"]]
            named = tuple(part for field in inner for part in field.parts)
            return " and ".join(dict.fromkeys(f.kind for f in inner)), named, self.members({**schema, "allOf": ()})
        types = schema.get("type", "null" if schema.get("const", 0) is None else "any")
        names = list(types) if isinstance(types, list) else [types]
        if "array" in names:
            inner_field = self.field("", schema.get("items", {}))
            names[names.index("array")] = f"list of {inner_field.kind}"
            return " or ".join(names), inner_field.parts, inner_field.fields
        if "string" in names:
            names[names.index("string")] = _FORMATS.get(schema.get("format", ""), "string")
        return " or ".join(names), (), self.members(schema)

    def _choice(self, schema: Shown, choices: Sequence[Shown]) -> tuple[str, tuple[Part, ...], tuple[Field, ...]]:
        inner = [self.field("", choice) for choice in choices]
        kinds = dict.fromkeys(field.kind for field in inner)
        labels = {part.name: part.label for part in self.parts(schema)}
        named = (part for field in inner for part in field.parts)
        fields = {member.name: member for field in inner for member in field.fields}
        return (
            " or ".join(kinds),
            tuple(replace(part, label=labels.get(part.name, "")) for part in named),
            tuple(fields.values()),
        )

    def _values(self, schema: Shown) -> tuple[tuple[tuple[str, str], ...], bool]:
        """The values with their meanings, and whether new ones may come; those of a list are its members'."""
        meanings = meanings_of(schema)
        if values := values_of(schema):
            is_open = not {"const", "enum"} & schema.keys()
            return tuple((_spelt(value), meanings.get(str(value), "")) for value in values), is_open
        if isinstance(schema.get("items"), Mapping) and self._named(schema["items"]) is None:
            return self._values(self.follow(schema["items"]))
        for choice in _choices(schema):
            if self._named(choice) is None and (found := self._values(self.follow(choice)))[0]:
                return found
        return (), False


def _references(part: Any) -> Iterator[str]:
    """Yield every reference in a document. Members of a union count twice, because they are always separate."""
    if isinstance(part, Mapping):
        if len(choices := _choices(part)) > 1:
            yield from (choice["$ref"] for choice in choices if "$ref" in choice)
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        for member in part.values():
            yield from _references(member)
    elif isinstance(part, list):
        for member in part:
            yield from _references(member)


def _choices(schema: Shown) -> Sequence[Shown]:
    found: Sequence[Shown] = schema.get("oneOf") or schema.get("anyOf") or ()
    return found


def _pattern(schema: Shown) -> str:
    """A pattern that is promised and short enough to be read."""
    pattern = str(schema.get("pattern", ""))
    return "" if "pattern" in schema.get("x-assumed", ()) or len(pattern) > _LONGEST_PATTERN else pattern


def _limits(schema: Shown) -> Iterator[str]:
    for least, most, text in _LIMITS:
        low, high = schema.get(least), schema.get(most)
        if (least, low) == ("minLength", 1) and high is None:
            yield "not empty"
            continue
        low = None if (least, low) == ("minItems", 1) else low
        if low is not None and high is not None:
            yield text.format(low if low == high else f"{low} to {high}")
        elif low is not None:
            yield text.format(f"at least {low}")
        elif high is not None:
            yield text.format(f"at most {high}")


def _spelt(value: object) -> str:
    """A value as JSON has it, a text without its quotation marks."""
    return value if isinstance(value, str) else dumps(value).decode()


def _guesses(schema: Shown) -> tuple[tuple[str, str], ...]:
    """The assumed constraints of a field by what they rest on; what the whole field rests on need not be said again."""
    bases: Mapping[str, str] = schema.get("x-assumed-basis", {})
    by_basis: dict[str, dict[str, None]] = {}
    for constraint in schema.get("x-assumed", ()):
        if constraint in bases:
            by_basis.setdefault(bases[constraint], {})[_TOLD_AS.get(constraint, constraint)] = None
    if schema.get("x-provenance") == "assumed":
        by_basis.pop(schema.get("x-basis", ""), None)
    return tuple((", ".join(constraints), basis) for basis, constraints in by_basis.items())
