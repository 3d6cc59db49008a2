"""A contract as a flat list of facts, for comparison and lookup. A fact is specified if it has `x-provenance:
specified` and its keyword is not listed in `x-assumed`. In a document without these annotations, all facts count as
specified.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from hashlib import sha256
from typing import Any, Literal, TypeAlias

import orjson

from simulator.contract.files import followed, operations_of
from simulator.engine.text.reports import counted
from simulator.kernel.dataclass import dataclass

Schema: TypeAlias = Mapping[str, Any]
Side: TypeAlias = Literal["request", "answer"]
"""The party that must comply. `request` means the client, and `answer` the service, including its events."""

BOUNDS = {
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems"), "lower"),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems"), "upper"),
}
"""Numeric keywords, and the end of the range that each of them limits."""
FORMS = ("pattern", "format", "conditions")
"""Keywords for the form of a value. Unlike bounds, forms cannot be ordered from loose to strict."""
DEFAULT = "default"
SECURITY = "security"
NO_SECURITY = "none"
_IN_ANY = frozenset(("field", "type", "nullable", "enum", "variant"))
"""Keywords of facts that apply to a union if they apply to one variant. Other facts must apply to all variants."""
_CONDITIONS = ("if", "then", "else", "not", "dependentRequired", "dependentSchemas")
_RULES = "conditions"
"""The key under which a merged schema collects the conditions from its `allOf` parts. All of them apply."""
_VARIANT = re.compile(r"<[^>]*>")
_LISTED = ("required", "anyOf", "oneOf", "x-assumed", _RULES)
_SAID = frozenset(("description", "title", "examples", "example", "default"))
"""Keywords that do not affect validation."""


@dataclass(frozen=True)
class Fact:
    """One statement about a contract: a field exists, is required, has a type or a possible value, or an operation
    returns a status or code.
    """

    place: str
    """The location that the statement is about.

    Examples: `create_quote 201 /fee/amount`, `create_quote request /amount`, `list_orders query status`, `event
    transaction.created /data/object/id`. `[]` represents array items, and `<>` encloses union variants.
    """
    keyword: str
    """`field`, `required`, `type`, `enum`, `pattern`, `maximum`, `status`, `code` …"""
    value: str | float
    side: Side
    promised: bool
    basis: str = ""
    is_closed: bool = False
    """Whether the value belongs to a closed enum."""

    @property
    def key(self) -> tuple[str, str, str]:
        """The key of the same fact in another contract. For `BOUNDS`, `FORMS` and defaults, it does not include the
        value.
        """
        return self.place, self.keyword, "" if self.keyword in (*BOUNDS, *FORMS, DEFAULT) else str(self.value)


Facts: TypeAlias = dict[tuple[str, str, str], Fact]


@dataclass(frozen=True)
class _Marks:
    """The `x-provenance` annotations on a part of the contract. Nested parts without annotations inherit them."""

    promised: bool = True
    basis: str = ""
    guessed: frozenset[str] = frozenset()

    def of(self, part: Schema) -> _Marks:
        said = part.get("x-provenance")
        promised = self.promised if said is None else said == "specified"
        basis = str(part.get("x-basis", "" if said else self.basis))
        return _Marks(promised, basis, frozenset(part.get("x-assumed", ())))


@dataclass
class _Reader:
    document: Schema
    facts: Facts = field(default_factory=dict)
    within: list[str] = field(default_factory=list)
    """The references being resolved. A recursive schema is read only once."""

    def add(
        self, place: str, keyword: str, value: str | float, side: Side, marks: _Marks, *, is_closed: bool = False
    ) -> None:
        promised = marks.promised and keyword not in marks.guessed
        self.keep(Fact(place, keyword, value, side, promised, marks.basis, is_closed))

    def keep(self, fact: Fact) -> None:
        """Add a fact. A specified fact replaces an assumed one with the same key."""
        if fact.key not in self.facts or (fact.promised and not self.facts[fact.key].promised):
            self.facts[fact.key] = fact

    def followed(self, part: Schema) -> Schema:
        return followed(self.document, part)

    def operation(self, name: str, operation: Schema) -> None:
        marks = _Marks().of(operation)
        self.add(name, "operation", name, "answer", marks)
        for requirement in self.requirements(operation):
            self.add(name, SECURITY, self.security(requirement), "request", marks)
        for parameter in map(self.followed, operation.get("parameters", ())):
            self.parameter(name, parameter, marks)
        body = self.followed(operation.get("requestBody", {}))
        for media in body.get("content", {}).values():
            if body.get("required"):
                self.add(f"{name} request", "required", "body", "request", marks)
            self.schema(f"{name} request ", media.get("schema", {}), "request", marks)
        for status, response in operation.get("responses", {}).items():
            self.response(f"{name} {status}", status, self.followed(response), marks)

    def requirements(self, operation: Schema) -> Sequence[Schema]:
        """Return an operation's security requirements. Without authentication, return one empty requirement."""
        listed: Sequence[Schema] = operation.get("security", self.document.get("security", ()))
        return listed or ({},)

    def security(self, requirement: Schema) -> str:
        """Return a security requirement as a string that contains the properties of its schemes, not their names."""
        known = self.document.get("components", {}).get("securitySchemes", {})
        needed = []
        for name, scopes in sorted(requirement.items()):
            scheme = self.followed(known.get(name, {}))
            parts = [scheme[word] for word in ("type", "scheme", "in", "name") if word in scheme] or [name]
            needed.append(" ".join([*parts, *scopes]))
        return " and ".join(needed) or NO_SECURITY

    def parameter(self, operation: str, parameter: Schema, marks: _Marks) -> None:
        place, own = f"{operation} {parameter['in']} {parameter['name']}", marks.of(parameter)
        self.add(place, "field", parameter["name"], "request", own)
        if parameter.get("required"):
            self.add(place, "required", parameter["name"], "request", own)
        self.schema(place, parameter.get("schema", {}), "request", own)

    def response(self, place: str, status: str, response: Schema, marks: _Marks) -> None:
        own = marks.of(response)
        self.add(place, "status", status, "answer", own)
        for name, header in response.get("headers", {}).items():
            header = self.followed(header)
            self.add(f"{place} header {name}", "field", name, "answer", own.of(header))
        media = response.get("content", {}).values()
        listed = response.get("x-codes") or next((self.codes(one["schema"]) for one in media if "schema" in one), {})
        for code, about in listed.items():
            self.add(place, "code", code, "answer", own.of(about))
        for one in media:
            schema = one.get("schema", {})
            # Every error has the same envelope. The error codes were added above.
            self.schema(f"{place} " if status < "4" else "error ", schema, "answer", own if status < "4" else _Marks())

    def codes(self, schema: Schema) -> Schema:
        """Return the error codes that an error envelope's schema lists."""
        for error in self.members(schema, "error"):
            for code in self.members(error, "code"):
                if "x-codes" in code:
                    return dict(code["x-codes"])
        return {}

    def members(self, schema: Schema, name: str) -> Iterator[Schema]:
        """Yield the schemas of a field in a schema and in its `allOf` parts."""
        schema = self.followed(schema)
        yield self.followed(schema.get("properties", {}).get(name, {}))
        for part in schema.get("allOf", ()):
            yield from self.members(part, name)

    def merged(self, schema: Schema) -> Schema:
        """Return a schema merged with its `allOf` parts. A merged enum contains the values that all parts accept."""
        schema = self.followed(schema)
        whole = {name: member for name, member in schema.items() if name != "allOf" and name not in _CONDITIONS}
        rules = {name: schema[name] for name in _CONDITIONS if name in schema}
        if rules:
            whole[_RULES] = [_plain(rules)]
        for half in schema.get("allOf", ()):
            whole = self.both(self.merged(half), whole)
        return whole

    def both(self, first: Schema, second: Schema) -> dict[str, Any]:
        first, second = self.followed(first), self.followed(second)
        whole = {**first, **second}
        for name in _LISTED:
            if name in first and name in second:
                whole[name] = [*first[name], *(item for item in second[name] if item not in first[name])]
        if "properties" in first and "properties" in second:
            ours, theirs = first["properties"], second["properties"]
            both = {name: self.both(ours[name], theirs[name]) for name in ours if name in theirs}
            whole["properties"] = {**ours, **theirs, **both}
        values, others = _values_of(first), _values_of(second)
        if values and others:
            whole.pop("const", None)
            whole["enum"] = [value for value in values if value in others]
        return whole

    def schema(self, place: str, schema: Schema, side: Side, marks: _Marks) -> None:
        """Add the facts about a schema and all schemas in it, except a `$ref` to a schema that contains this one."""
        reference = schema.get("$ref")
        if reference is None:
            self.fields(place, schema, side, marks)
        elif reference not in self.within:
            self.within.append(reference)
            self.fields(place, schema, side, marks)
            self.within.pop()

    def fields(self, place: str, schema: Schema, side: Side, marks: _Marks) -> None:
        schema = self.merged(schema)
        own = marks.of(schema)
        self.own(place, schema, side, own)
        for name, member in schema.get("properties", {}).items():
            inner = own.of(self.followed(member))
            if not (place.startswith("error ") and name == "code"):
                self.schema(f"{place}/{name}", member, side, own)
            self.add(f"{place}/{name}", "field", name, side, inner)
        for name in schema.get("required", ()):
            member = schema.get("properties", {}).get(name)
            known = self.facts.get((f"{place}/{name}", "field", name))
            inner = own.of(self.followed(member)) if member is not None else own
            if member is None and known is not None:
                inner = _Marks(known.promised, known.basis)
            self.add(f"{place}/{name}", "required", name, side, inner)
        if isinstance(schema.get("items"), Mapping):
            self.schema(f"{place}/[]", schema["items"], side, own)
        outer = {name: member for name, member in schema.items() if name in ("properties", "required")}
        unnamed = self.variants(place, outer, self.options(schema), side, own)
        conditions = sorted([*schema.get(_RULES, ()), *unnamed])
        if conditions:  # a digest is enough to detect a change
            digest = sha256("\n".join(conditions).encode()).hexdigest()[:8]
            self.add(place, "conditions", f"{counted(len(conditions), 'condition')} ({digest})", side, own)

    def own(self, place: str, schema: Schema, side: Side, marks: _Marks) -> None:
        types = schema.get("type", ())
        for name in [types] if isinstance(types, str) else types:
            self.add(place, "nullable" if name == "null" else "type", name, side, marks)
        for value in _values_of(schema):
            if value is not None:
                self.add(place, "enum", str(value), side, marks, is_closed="const" in schema or "enum" in schema)
        if DEFAULT in schema and side == "request":
            self.add(place, DEFAULT, orjson.dumps(schema[DEFAULT], option=orjson.OPT_SORT_KEYS).decode(), side, marks)
        for keyword in (*BOUNDS, *FORMS):
            if keyword in schema and keyword != _RULES:
                self.add(place, keyword, schema[keyword], side, marks)

    def options(self, schema: Schema) -> Iterator[Schema]:
        """Yield the members of a union, including the members of nested unions."""
        for option in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
            inner = self.merged(option)
            if "properties" not in inner and ("anyOf" in inner or "oneOf" in inner):
                yield from self.options(inner)
            else:
                yield option

    def variants(self, place: str, outer: Schema, options: Iterator[Schema], side: Side, marks: _Marks) -> list[str]:
        """Add the facts about all variants: common facts at `place`, and facts about one variant at `place<Name>`.

        `outer` contains the fields that all variants share. Return the variants without a name as strings. Such a
        variant is a condition on the combination of fields.
        """
        read: list[Facts] = []
        unnamed: list[str] = []
        for option in options:
            target = self.merged(option)
            name = option["$ref"].rpartition("/")[2] if "$ref" in option else target.get("title")
            if target == {"type": "null"}:
                self.add(place, "nullable", "null", side, marks)
            elif "properties" not in target and "required" not in target:
                self.schema(place, option, side, marks)
            elif name is None:
                unnamed.append(_plain(option))
            else:
                reader = _Reader(self.document, within=self.within)
                reader.fields(place, self.both(target, outer), side, marks)
                read.append(reader.facts)
                self.add(f"{place}<{name}>", "variant", name, side, marks)
                for fact in reader.facts.values():
                    inside = replace(fact, place=f"{place}<{name}>{fact.place[len(place) :]}")
                    self.facts[inside.key] = inside
        for facts in read:
            for key, fact in facts.items():
                if fact.keyword in _IN_ANY or all(key in others or _silent(place, fact, others) for others in read):
                    self.keep(fact)
        return unnamed


def _silent(union: str, fact: Fact, others: Facts) -> bool:
    """Return True if the variant with the facts `others` lacks the field that `fact` is about."""
    field = fact.place.rpartition("/")[0] if fact.keyword == "required" else fact.place
    return field != union and (field, "field", field.rpartition("/")[2]) not in others


def _values_of(schema: Schema) -> list[Any]:
    return [schema["const"]] if "const" in schema else [*schema.get("enum", schema.get("x-extensible-enum", ()))]


def _plain(schema: object) -> str:
    """Return the schema as a string, without descriptions, for comparison."""

    def bare(value: object) -> object:
        if isinstance(value, Mapping):
            return {name: bare(member) for name, member in value.items() if name not in _SAID and name[:2] != "x-"}
        return [bare(item) for item in value] if isinstance(value, list) else value

    return orjson.dumps(bare(schema), option=orjson.OPT_SORT_KEYS).decode()


def facts_of(document: Schema) -> Facts:
    """Return the facts in an OpenAPI document, such as required fields. Raises KeyError for an invalid reference."""
    reader = _Reader(document)
    for method, path, operation in operations_of(document):
        reader.operation(operation.get("operationId", f"{method} {path}"), operation)
    for name, item in document.get("webhooks", {}).items():
        operation = item["post"]
        marks, place = _Marks().of(operation), f"event {name}"
        reader.add(place, "event", name, "answer", marks)
        for media in reader.followed(operation.get("requestBody", {})).get("content", {}).values():
            reader.schema(f"{place} ", media.get("schema", {}), "answer", marks)
    return reader.facts


def without_variants(place: str) -> str:
    """Return a location in a contract without the names of schema variants (`<Name>`)."""
    return _VARIANT.sub("", place)
