"""The fields that an object, a request, a response or a delivery can have, for checks of `where` conditions. They are
derived from the shapes and body models of the service. In a path, dots separate names and list indexes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache, reduce
from operator import or_
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from simulator.engine.rows.operation import Operation
from simulator.engine.scenario.play.matching import CARRIED
from simulator.engine.text.globs import can_match
from simulator.engine.text.json import JsonObject
from simulator.engine.text.shapes import with_names
from simulator.engine.vocabulary.vocabulary import Vocabulary
from simulator.engine.webhooks import shapes
from simulator.kernel.dataclass import dataclass

_cached = lru_cache(maxsize=1024)


@dataclass(frozen=True, eq=False)
class FieldSet:
    """The values that a field can have: alternative JSON Schemas with their `$defs`. Without any, none is possible."""

    variants: tuple[JsonObject, ...] = ()

    @classmethod
    def of(cls, schema: JsonObject, defs: JsonObject) -> FieldSet:
        return cls(tuple(_variants_of(schema, defs)))

    def __or__(self, other: FieldSet) -> FieldSet:
        return FieldSet((*self.variants, *(variant for variant in other.variants if variant not in self.variants)))

    @property
    def is_open(self) -> bool:
        """True if undeclared fields are allowed."""
        return any(
            not variant or (variant.get("type") == "object" and "properties" not in variant)
            for variant in self.variants
        )

    @property
    def names(self) -> dict[str, FieldSet]:
        """The fields of all variants, by name."""
        found: dict[str, FieldSet] = {}
        for variant in self.variants:
            for name, schema in variant.get("properties", {}).items():
                found[name] = found.get(name, FieldSet()) | FieldSet.of(schema, variant["$defs"])
        return found

    @property
    def items(self) -> FieldSet:
        """The possible values of one item, if the field is a list."""
        lists = [variant for variant in self.variants if variant.get("type") == "array"]
        return _union(FieldSet.of(variant.get("items", {}), variant["$defs"]) for variant in lists)

    @property
    def types(self) -> frozenset[str]:
        """The JSON types of the variants, excluding null."""
        return frozenset(str(variant["type"]) for variant in self.variants if "type" in variant) - {"null"}

    @property
    def enum(self) -> frozenset[str] | None:
        """The allowed strings, or None if any variant allows other strings."""
        found: set[str] = set()
        for variant in self.variants:
            words = variant.get("enum", [variant["const"]] if "const" in variant else None)
            if words is not None and all(isinstance(word, str) for word in words):
                found.update(words)
            elif variant.get("type") != "null":
                return None
        return frozenset(found) or None

    def of_types(self, wanted: frozenset[str]) -> FieldSet:
        """Return the variants whose `type` field can have one of these values, or all if there are none."""
        kept = []
        for variant in self.variants:
            named = variant.get("properties", {}).get("type")
            words = None if named is None else FieldSet.of(named, variant["$defs"]).enum
            if words is None or words & wanted:
                kept.append(variant)
        return FieldSet(tuple(kept)) if kept else self


def _variants_of(schema: JsonObject, defs: JsonObject) -> Iterator[JsonObject]:
    several = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf") or ()
    if "$ref" in schema:
        several = (defs[schema["$ref"].rpartition("/")[2]],)
    if several:
        # The field's own description takes precedence.
        said = {name: schema[name] for name in ("description",) if name in schema}
        for one in several:
            yield from ({**variant, **said} for variant in _variants_of(one, defs) if variant)
    elif isinstance(schema.get("type"), list):
        yield from ({**schema, "type": one, "$defs": defs} for one in schema["type"])
    else:
        yield {**schema, "$defs": defs} if schema else schema


def of_shape(vocabulary: Vocabulary, shape: Any, generator: type[GenerateJsonSchema] = GenerateJsonSchema) -> FieldSet:
    """Return the fields of a response shape or a body model. `generator` generates the schemas."""
    if isinstance(shape, type) and issubclass(shape, BaseModel):
        schema = shape.model_json_schema(schema_generator=generator)
    else:
        schema = TypeAdapter(shape).json_schema(mode="serialization", schema_generator=generator)
    schema = with_names(schema, vocabulary.names)
    return FieldSet.of(schema, schema.get("$defs", {}))


def _union(sets: Iterable[FieldSet]) -> FieldSet:
    return reduce(or_, sets, FieldSet())


@_cached
def of_kind(vocabulary: Vocabulary, name: str) -> FieldSet:
    """Return the fields of a kind of object. The result is empty if the API never returns objects of that kind."""
    shape = vocabulary.kinds[name].shape()
    return FieldSet() if shape is None else of_shape(vocabulary, shape)


@_cached
def of_event(vocabulary: Vocabulary, event: str) -> Mapping[str, tuple[FieldSet, frozenset[str]]]:
    """Return the fields and possible statuses of each kind that the event's object can have. No statuses means any."""
    return {
        one.kind.name: (of_shape(vocabulary, one.shape), frozenset(one.statuses if one.event.narrows else ()))
        for one in vocabulary.subjects[event]
    }


@_cached
def kinds_created_silently(vocabulary: Vocabulary) -> tuple[str, ...]:
    """Return the resource kinds whose creation emits no event. Only for these kinds, rules can use `on: created`."""
    return tuple(
        kind.name
        for kind in vocabulary.kinds.values()
        if kind.sole is None and kind.standing is None and any(not move.events for move in kind.machine.initial)
    )


@_cached
def of_any(vocabulary: Vocabulary) -> FieldSet:
    """Return the fields of all kinds of objects, including objects that only GET requests return."""
    rows = (row for row in vocabulary.operations if row.method == "GET" and row.path.endswith("{id}"))
    shown = (of_answer(vocabulary, row) for row in rows)
    return _union((*(of_kind(vocabulary, name) for name in vocabulary.kinds), *shown))


@_cached
def of_root(vocabulary: Vocabulary, root: str) -> FieldSet:
    """Return the fields that can follow `root` in a path: `request`, `body` or the name of a related resource."""
    if root in CARRIED:
        return of_creating_requests(vocabulary)
    return _union(of_kind(vocabulary, kind.name) for kind in vocabulary.roots[root])


@_cached
def of_delivery(vocabulary: Vocabulary) -> FieldSet:
    """Return the fields of a delivery attempt."""
    return of_shape(vocabulary, shapes.RecordedDelivery)


@_cached
def of_body(vocabulary: Vocabulary, operation: str) -> FieldSet:
    """Return the fields of an operation's request body. `operation` is the name of the operation."""
    row = next(row for row in vocabulary.operations if row.name == operation)
    return _union(of_shape(vocabulary, model) for model in models_of(row))


def models_of(row: Operation) -> tuple[type[BaseModel], ...]:
    """Return the body models of an operation. A body must match at least one model."""
    return (row.bodies() or (row.body(),)) if row.takes_body else ()


@_cached
def of_creating_requests(vocabulary: Vocabulary) -> FieldSet:
    """Return the fields of the bodies of all operations that create resources."""
    rows = (row for row in vocabulary.operations if row.method == "POST" and row.status == 201)
    return _union(of_body(vocabulary, row.name) for row in rows)


def of_requests(vocabulary: Vocabulary, method: str | None, globs: frozenset[str] | None) -> FieldSet:
    """Return the fields of the bodies of these operations."""
    return _union(of_body(vocabulary, row.name) for row in operations_for(vocabulary, method, globs))


def operations_for(vocabulary: Vocabulary, method: str | None, globs: frozenset[str] | None) -> Iterator[Operation]:
    """Yield the operations with this method and a path that one of these globs matches. None means any."""
    for row in vocabulary.operations:
        if method in (None, row.method) and (globs is None or any(can_match(glob, row.path) for glob in globs)):
            yield row


def of_answer(vocabulary: Vocabulary, row: Operation) -> FieldSet:
    """Return the fields of an operation's response when the operation succeeds."""
    return FieldSet() if row.answer is None else of_shape(vocabulary, row.answer())
