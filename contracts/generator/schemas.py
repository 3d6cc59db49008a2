"""The schemas of the contract, made from the rooms' shapes and request bodies.

Answers are closed: a field that is added without the contract fails. Requests are open: unknown fields are ignored
(decision H6). Every field says whether it is specified or assumed, and on what that rests.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode

from contracts.generator.provenance import component_name
from contracts.generator.texts import explained
from simulator.engine.text.shapes import Assumed, Origin, guesses, with_names
from simulator.host import vocabulary

Schema: TypeAlias = dict[str, Any]
REF = "#/components/schemas/"


class Components:
    """All named schemas of a document, and where each shape and body is found."""

    def __init__(
        self,
        answers: Iterable[Any],
        bodies: Iterable[Any],
        clauses: Mapping[str, Origin] | None,
        fields: Mapping[type, Mapping[str, Schema]] | None = None,
    ) -> None:
        """With `clauses` None, fields have no provenance (the control interface is not part of the service).
        `fields` has restrictions of fields, by model."""
        self.schemas: dict[str, Schema] = {}
        self._clauses = clauses
        self._refs: dict[tuple[str, JsonSchemaMode], Schema] = {}
        self._union_of: Callable[[Schema], Schema] = lambda schema: schema
        inputs: list[tuple[str, JsonSchemaMode, TypeAdapter[Any]]] = []
        for mode, shapes in (("serialization", answers), ("validation", bodies)):
            known = {_key(shape): shape for shape in shapes}
            inputs += [(key, mode, TypeAdapter(shape)) for key, shape in known.items()]  # type: ignore[misc]  # shapes are of many types
        found, definitions = TypeAdapter.json_schemas(
            inputs, ref_template=REF + "{model}", schema_generator=explained(fields or {})
        )
        names = vocabulary().names
        found = {key: with_names(schema, names) for key, schema in found.items()}
        defined = with_names(definitions.get("$defs", {}), names)
        closed = reached([schema for (_, mode), schema in found.items() if mode == "serialization"], defined)
        for name, schema in defined.items():
            finished = self._finish(name, schema, closed=name in closed)
            self.add(component_name(name), finished if name in closed or clauses is None else _null_is_absent(finished))
        for key, schema in found.items():
            self._refs[key] = _tidy(schema)

    def answer(self, shape: Any) -> Schema:
        """The schema of an answer: a reference, or several."""
        return copy.deepcopy(self._refs[_key(shape), "serialization"])

    def body(self, model: Any) -> Schema:
        return copy.deepcopy(self._refs[_key(model), "validation"])

    def of(self, name: str) -> Schema:
        """A copy of a named schema."""
        return copy.deepcopy(self.schemas[name])

    def add(self, name: str, schema: Schema) -> Schema:
        """Name a schema; returns a reference to it."""
        if self.schemas.setdefault(name, schema) != schema:
            raise ValueError(f"two different schemas are named {name}")
        return {"$ref": REF + name}

    def _finish(self, name: str, schema: Schema, *, closed: bool) -> Schema:
        closed = closed and schema.get("additionalProperties") is not True  # it says itself that it has more
        schema = _tidy(schema)
        schema["title"] = component_name(name)
        if "properties" in schema:
            schema["properties"] = dict(sorted(schema["properties"].items(), key=_place))
        if closed and "properties" in schema:
            schema["additionalProperties"] = False
        if self._clauses is not None:
            clause = self._clauses.get(component_name(name), "")
            for member in schema.get("properties", {}).values():
                mark(member, clause)
            return schema
        return unmarked(schema)

    def name_unions(self, unions: Mapping[frozenset[str], str]) -> None:
        """Name the unions of named responses, and set their discriminators."""

        def renamed(schema: Schema) -> Schema:
            options: list[Schema] = schema.get("oneOf") or schema.get("anyOf") or []
            members = [one["$ref"].removeprefix(REF) for one in options if "$ref" in one]
            if len(members) < 2:
                return schema
            name = unions.get(frozenset(members))
            union: Schema = (
                self._union(members) if name is None else self.add(name, {"title": name, **self._union(members)})
            )
            rest = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf", "discriminator")}
            return {**rest, **(union if len(members) == len(options) else any_of([union, {"type": "null"}]))}

        self._union_of = renamed
        for name, schema in list(self.schemas.items()):
            self.schemas[name] = walk(schema, renamed)
        self._refs = {key: walk(schema, renamed) for key, schema in self._refs.items()}

    def any_of(self, options: list[Schema]) -> Schema:
        """The schema of what is one of several, by its name if it has one."""
        return self._union_of(any_of(options))

    def _union(self, members: Sequence[str]) -> Schema:
        references = [{"$ref": REF + member} for member in members]
        found = discriminated({member: self.schemas[member] for member in members})
        if found is None or any(len(names) > 1 for _, names in found[1]):
            return {"anyOf": references}
        word, groups = found
        mapping = {value: REF + names[0] for values, names in groups for value in values}
        return {
            "description": told_apart(word),
            "oneOf": references,
            "discriminator": {"propertyName": word, "mapping": mapping},
        }


def told_apart(word: str) -> str:
    return f"One of several objects; `{word}` says which."


def discriminated(shapes: Mapping[str, Schema]) -> tuple[str, list[tuple[list[str], list[str]]]] | None:
    """Return the discriminator of several objects, with the names of the objects by its values, or None."""
    first = next(iter(shapes.values()))
    for word in sorted(first.get("properties", {}), key=lambda word: word != "type"):
        groups: dict[tuple[str, ...], list[str]] = {}
        for name, shape in shapes.items():
            member = shape.get("properties", {}).get(word, {}) if word in shape.get("required", ()) else {}
            values = member.get("enum", [member["const"]] if "const" in member else [])
            groups.setdefault(tuple(values), []).append(name)
        named = [value for group in groups for value in group]
        if () not in groups and len(groups) > 1 and len(named) == len(set(named)):
            return word, [(list(group), names) for group, names in groups.items()]
    return None


def _key(shape: Any) -> str:
    """A stable key of a shape, which may be a union."""
    return f"{shape.__module__}.{shape.__qualname__}" if isinstance(shape, type) else repr(shape)


_FIRST = ("id", "type", "status")


def _place(field: tuple[str, Schema]) -> int:
    """Return the sort position of a field. Identifying fields come first, even in inherited shapes."""
    return _FIRST.index(field[0]) if field[0] in _FIRST else len(_FIRST)


_MARKS = ("x-provenance", "x-basis", "x-assumed", "x-assumed-basis")


def unmarked(schema: Schema) -> Schema:
    """A copy without what is said of the service: of what is the simulator's own nothing is a guess."""
    bare: Schema = walk(schema, lambda part: {name: value for name, value in part.items() if name not in _MARKS})
    return bare


def _null_is_absent(body: Schema) -> Schema:
    """A body of which it is said that null in an optional field is a guess: it counts as absent (decision H4)."""
    for name, member in body.get("properties", {}).items():
        types = member.get("type")
        nullable = "null" in types if isinstance(types, list) else {"type": "null"} in member.get("anyOf", ())
        if nullable and name not in body.get("required", ()):
            member |= guesses({"nullable": "H4", **member.get("x-assumed-basis", {})})
    return body


def mark(schema: Schema, clause: Origin) -> Schema:
    """Say that a field is specified, or assumed as all of its shape is, where it does not say itself what it is."""
    if "x-provenance" not in schema and isinstance(clause, Assumed):
        schema |= {"x-provenance": "assumed", "x-basis": clause.basis}
    elif "x-provenance" not in schema:
        schema["x-provenance"] = "specified"
        if clause:
            schema["x-basis"] = clause
    return schema


def reached(value: Any, schemas: Mapping[str, Schema]) -> list[str]:
    """The names of all schemas that something is made of."""
    found: dict[str, None] = {}
    waiting = references(value)
    while waiting:
        reference = waiting.pop(0)
        name = reference.removeprefix(REF)
        if reference.startswith(REF) and name not in found:
            found[name] = None
            waiting += references(schemas[name])
    return list(found)


def references(value: Any) -> list[str]:
    """Every `$ref` in a schema."""
    if isinstance(value, dict):
        own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return own + [reference for member in value.values() for reference in references(member)]
    if isinstance(value, list):
        return [reference for item in value for reference in references(item)]
    return []


def walk(value: Any, change: Callable[[Schema], Schema]) -> Any:
    """A copy of a schema with `change` applied to every object in it, innermost first."""
    if isinstance(value, dict):
        return change({name: walk(member, change) for name, member in value.items()})
    if isinstance(value, list):
        return [walk(item, change) for item in value]
    return value


def _tidy(schema: Schema) -> Schema:
    """pydantic's schema in the words of the contract: no derived titles, null among the types, renamed references."""
    tidied: Schema = walk(schema, _tidy_one)
    return tidied


def _tidy_one(schema: Schema) -> Schema:
    if isinstance(schema.get("title"), str):
        del schema["title"]
    if isinstance(schema.get("$ref"), str):
        schema["$ref"] = REF + component_name(schema["$ref"].removeprefix(REF))
    if isinstance(schema.get("mapping"), dict) and "propertyName" in schema:
        schema["mapping"] = {
            value: REF + component_name(target.removeprefix(REF)) for value, target in schema["mapping"].items()
        }
    if schema.get("default", 0) is None:
        del schema["default"]
    if schema.get("additionalProperties") is True:
        del schema["additionalProperties"]
    if "prefixItems" in schema:
        schema.setdefault("items", {})  # beyond the listed ones, of which maxItems leaves none; linters ask for it
    if isinstance(schema.get("description"), str):
        schema["description"] = " ".join(schema["description"].split())
    return _nullable(_chosen(schema) if "enum" in schema or "const" in schema else schema)


def _chosen(schema: Schema) -> Schema:
    """Return an enum schema without limits for strings."""
    schema = {name: value for name, value in schema.items() if name not in _OF_TEXT}
    return without_guesses(schema, *_OF_TEXT)


def without_guesses(schema: Schema, *words: str) -> Schema:
    """The schema without saying that these constraints of it are guesses."""
    bases = {word: basis for word, basis in schema.get("x-assumed-basis", {}).items() if word not in words}
    rest = {name: member for name, member in schema.items() if name not in ("x-assumed", "x-assumed-basis")}
    return {**rest, **guesses(bases)}


_OF_TEXT = frozenset({"pattern", "minLength", "maxLength"})


def _nullable(schema: Schema) -> Schema:
    """`anyOf [X, null]` as one schema whose types are X's and null."""
    options = schema.get("anyOf")
    if not isinstance(options, list) or len(options) != 2 or options[1] != {"type": "null"}:
        return schema
    first = options[0]
    if not isinstance(first.get("type"), str):
        return schema
    merged = {**first, "type": [first["type"], "null"]}
    if "const" in merged:
        merged["enum"] = [merged.pop("const"), None]
    elif "enum" in merged:
        merged["enum"] = [*merged["enum"], None]
    rest = {name: member for name, member in schema.items() if name != "anyOf"}
    bases = {**merged.get("x-assumed-basis", {}), **rest.get("x-assumed-basis", {})}
    return {**merged, **rest, **guesses(bases)}


def any_of(options: list[Schema]) -> Schema:
    return options[0] if len(options) == 1 else {"anyOf": options}
