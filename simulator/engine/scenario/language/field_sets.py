"""What a `where` can name: every field that an object, a request, an answer or a delivery may have, to any depth.

Read from the shapes and bodies of the rooms, so nothing here has to be kept up. A path is dotted, with numbers for
items of lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from simulator.engine.rows.operation import Operation
from simulator.engine.rows.vocabulary import Vocabulary
from simulator.engine.scenario.play.matching import CARRIED
from simulator.engine.text.enums import with_names
from simulator.engine.text.globs import can_match
from simulator.engine.text.json import JsonObject
from simulator.engine.webhooks import shapes
from simulator.kernel.dataclass import dataclass

_ANYTHING: JsonObject = {}
_remembered = lru_cache(maxsize=1024)  # of few vocabularies at a time


@dataclass(frozen=True, eq=False)
class Sight:
    """One place, by the forms that a value there can have: JSON Schemas, without references to each other.

    No form at all: nothing can stand there.
    """

    forms: tuple[JsonObject, ...] = ()

    def __or__(self, other: Sight) -> Sight:
        return Sight((*self.forms, *(form for form in other.forms if form not in self.forms)))

    @property
    def is_open(self) -> bool:
        """Whether it may hold what nobody lists."""
        return any(not form or (form.get("type") == "object" and "properties" not in form) for form in self.forms)

    @property
    def names(self) -> dict[str, Sight]:
        """The members by name, those of all forms together."""
        found: dict[str, Sight] = {}
        for form in self.forms:
            for name, member in form.get("properties", {}).items():
                found[name] = found.get(name, Sight()) | Sight(tuple(_forms_of(member, form["$defs"])))
        return found

    @property
    def items(self) -> Sight:
        """What stands in the list, where it is one."""
        lists = [form for form in self.forms if form.get("type") == "array"]
        return Sight(tuple(one for form in lists for one in _forms_of(form.get("items", _ANYTHING), form["$defs"])))

    @property
    def types(self) -> frozenset[str]:
        """The types of JSON that a value there can have, null apart."""
        return frozenset(str(form["type"]) for form in self.forms if "type" in form) - {"null"}

    @property
    def words(self) -> frozenset[str] | None:
        """The words of which a text there is one; None where there is no such list."""
        found: set[str] = set()
        for form in self.forms:
            words = _words(form)
            if words is None and form.get("type") != "null":
                return None
            found |= words or set()
        return frozenset(found) or None

    def at(self, path: str) -> Sight:
        """What can stand at a dotted path; anything below what is open."""
        here = self
        for name in path.split("."):
            if here.is_open:
                return Sight((_ANYTHING,))
            here = here.items if name.isdecimal() else here.names.get(name, Sight())
        return here

    def of_types(self, wanted: frozenset[str]) -> Sight:
        """Only the forms whose own `type` may be one of these words; all of them where none may."""
        kept = []
        for form in self.forms:
            named = form.get("properties", {}).get("type")
            words = None if named is None else Sight(tuple(_forms_of(named, form["$defs"]))).words
            if words is None or words & wanted:
                kept.append(form)
        return Sight(tuple(kept)) if kept else self


def _words(form: JsonObject) -> set[str] | None:
    words = form.get("enum", [form["const"]] if "const" in form else None)
    return set(words) if words is not None and all(isinstance(word, str) for word in words) else None


def _forms_of(schema: JsonObject, defs: JsonObject) -> Iterator[JsonObject]:
    several = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf") or ()
    if "$ref" in schema:
        several = (defs[schema["$ref"].rpartition("/")[2]],)
    if several:
        said = {name: schema[name] for name in ("description",) if name in schema}  # of the field, not of its values
        for one in several:
            yield from ({**form, **said} for form in _forms_of(one, defs) if form)
    elif isinstance(schema.get("type"), list):
        yield from ({**schema, "type": one, "$defs": defs} for one in schema["type"])
    else:
        yield {**schema, "$defs": defs} if schema else schema


def sight_of(vocabulary: Vocabulary, shape: Any, generator: type[GenerateJsonSchema] = GenerateJsonSchema) -> Sight:
    """All that values of a shape, or bodies of a model, may have. `generator`: what writes the schemas."""
    if isinstance(shape, type) and issubclass(shape, BaseModel):
        schema = shape.model_json_schema(schema_generator=generator)
    else:
        schema = TypeAdapter(shape).json_schema(mode="serialization", schema_generator=generator)
    schema = with_names(schema, vocabulary.names)
    return Sight(tuple(_forms_of(schema, schema.get("$defs", {}))))


def _together(sights: Iterable[Sight]) -> Sight:
    found = Sight()
    for sight in sights:
        found |= sight
    return found


@_remembered
def of_kind(vocabulary: Vocabulary, name: str) -> Sight:
    """What resources of a kind show; nothing where none of them is ever shown."""
    shape = vocabulary.kinds[name].shape()
    return Sight() if shape is None else sight_of(vocabulary, shape)


@_remembered
def of_event(vocabulary: Vocabulary, event: str) -> Mapping[str, tuple[Sight, frozenset[str]]]:
    """By the kind that an event tells of: what its object shows, and the words that its status can be then.

    No words where an event of that type can tell of any status.
    """
    return {
        one.kind.name: (sight_of(vocabulary, one.shape), frozenset(one.statuses if one.event.narrows else ()))
        for one in vocabulary.subjects[event]
    }


@_remembered
def made_silently(vocabulary: Vocabulary) -> tuple[str, ...]:
    """The kinds on whose making no event tells: those of rules `on: created`."""
    return tuple(
        kind.name
        for kind in vocabulary.kinds.values()
        if kind.sole is None and kind.standing is None and any(not move.events for move in kind.machine.initial)
    )


@_remembered
def of_any(vocabulary: Vocabulary) -> Sight:
    """What resources show, of whatever kind; those of which no event tells, as a call for one of them does."""
    shown = (
        of_answer(vocabulary, row) for row in vocabulary.operations if row.method == "GET" and row.path.endswith("{id}")
    )
    return _together((*(of_kind(vocabulary, name) for name in vocabulary.kinds), *shown))


@_remembered
def of_root(vocabulary: Vocabulary, root: str) -> Sight:
    """What is found at the head of a path that leads out of an object."""
    if root in CARRIED:
        return of_makers(vocabulary)
    return _together(of_kind(vocabulary, kind.name) for kind in vocabulary.roots[root])


@_remembered
def of_delivery(vocabulary: Vocabulary) -> Sight:
    """What is known of an attempt to deliver a webhook."""
    return sight_of(vocabulary, shapes.RecordedDelivery)


@_remembered
def of_body(vocabulary: Vocabulary, operation: str) -> Sight:
    """What the request of an operation, given by its name, may carry."""
    row = next(row for row in vocabulary.operations if row.name == operation)
    return _together(sight_of(vocabulary, model) for model in models_of(row))


def models_of(row: Operation) -> tuple[type[BaseModel], ...]:
    """The models one of which the body of an operation has to fit."""
    return (row.bodies() or (row.body(),)) if row.takes_body else ()


@_remembered
def of_makers(vocabulary: Vocabulary) -> Sight:
    """What the requests carry that make something."""
    return _together(
        of_body(vocabulary, row.name) for row in vocabulary.operations if row.method == "POST" and row.status == 201
    )


def of_requests(vocabulary: Vocabulary, method: str | None, globs: frozenset[str] | None) -> Sight:
    """What requests to these paths carry; None stands for any method or path."""
    rows = (
        row
        for row in vocabulary.operations
        if method in (None, row.method) and (globs is None or any(can_match(glob, row.path) for glob in globs))
    )
    return _together(of_body(vocabulary, row.name) for row in rows)


def of_answer(vocabulary: Vocabulary, row: Operation) -> Sight:
    """What an operation answers when it succeeds."""
    return Sight() if row.answer is None else sight_of(vocabulary, row.answer())
