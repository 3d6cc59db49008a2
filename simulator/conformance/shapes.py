"""Comparison of responses with the contract. A missing field is a broken promise if the specification contains the
field, and a wrong guess if the field is only assumed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import orjson

from simulator.conformance.bench import finding
from simulator.conformance.rules import Rule, ShapeFault, Tally
from simulator.conformance.service import Answer
from simulator.contract.files import followed

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator, ValidationError

_DOCUMENT = "urn:contract"
_JSON = "application/json"

_WORDS = {
    "additionalProperties": "closed", "unevaluatedProperties": "closed", "falseSchema": "closed", "const": "enum",
    "minimum": "bounds", "maximum": "bounds", "minLength": "bounds", "maxLength": "bounds", "minItems": "bounds",
    "maxItems": "bounds", "exclusiveMinimum": "bounds", "exclusiveMaximum": "bounds", "anyOf": "variant",
    "oneOf": "variant",
}  # fmt: skip
"""The fault names of JSON Schema keywords, if they differ from the keyword."""


TITLES = {
    "status": "The status is declared by the operation.",
    "header": "A response has the headers of the contract.",
    "content_type": "A response has the declared content type.",
    "required": "A response has all required fields.",
    "type": "A value has the declared type.",
    "enum": "An enum value is one of the declared values.",
    "pattern": "A string matches its pattern.",
    "format": "A string has its format, such as date-time.",
    "bounds": "A value is within its bounds.",
    "variant": "A value matches one of its variants.",
    "closed": "A response has no undeclared fields.",
}


class ShapeJudge:
    """Compares responses with an OpenAPI 3.1 contract."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self._validators: dict[str, Draft202012Validator] = {}

    def faults(self, operation: str, status: int, headers: Mapping[str, str], raw: bytes) -> Iterator[ShapeFault]:
        """Yield the contract violations in a response to an operation, such as `POST /quotes`. Header names are
        lowercase.
        """
        method, _, path = operation.partition(" ")
        entry = self._document["paths"].get(path, {}).get(method.lower())
        if entry is None:
            return
        response = entry["responses"].get(str(status))
        if response is None:
            declared = ", ".join(sorted(entry["responses"]))
            message = f"returns {status}, but the contract declares {declared}"
            # The 2xx status of an operation may itself be an assumption.
            meant = next((self._resolved(row) for name, row in entry["responses"].items() if name[0] == "2"), {})
            promise, basis = _mark(meant) if 200 <= status < 300 else (True, "Errors")
            yield ShapeFault("status", "status", promise, basis, message)
            return
        response = self._resolved(response)
        yield from self._header_faults(response, headers)
        content = response.get("content", {})
        if not content:
            if raw:
                yield ShapeFault("closed", "body", *_mark(response), "there is a body, but none is declared")
            return
        kind = headers.get("content-type", "").partition(";")[0].strip()
        if kind not in content:
            message = f"the content type is {kind or 'missing'}, not {' or '.join(content)}"
            yield ShapeFault("content_type", "content_type", True, "What the service does", message)
        media = content.get(_JSON)
        if media is None:
            return
        try:
            body = orjson.loads(raw)
        except ValueError as why:
            yield ShapeFault("type", "body", True, "What the service does", f"the body is not JSON ({why})")
            return
        declared_at = entry["responses"][str(status)].get("$ref")
        where = declared_at or f"#/paths/{path.replace('/', '~1')}/{method.lower()}/responses/{status}"
        for error in self._validator(where).iter_errors(body):
            yield from self._of(error, media["schema"])

    def request_mark(self, operation: str, location: str, name: str) -> tuple[bool, str]:
        """Return (specified, basis) for a parameter or body field: whether no constraint on it is assumed, and the
        clause or decision behind the constraints.
        """
        method, _, path = operation.partition(" ")
        entry = self._document["paths"].get(path, {}).get(method.lower(), {})
        if location == "body":
            content = self._resolved(entry.get("requestBody", {})).get("content", {})
            node = self._resolved(content.get(_JSON, {}).get("schema", {})).get("properties", {}).get(name)
        else:
            rows = [self._resolved(row) for row in entry.get("parameters", ())]
            node = next((row for row in rows if (row["in"], row["name"]) == (location, name)), None)
        if node is None or node.get("x-assumed"):
            return False, str((node or {}).get("x-basis", "the strict contract"))
        return _mark(node)

    def event_faults(self, kind: str, raw: str) -> Iterator[ShapeFault]:
        """Yield the contract violations in the JSON text of an event of this type."""
        entry = self._document.get("webhooks", {}).get(kind)
        if entry is None:
            yield ShapeFault("enum", "type", True, "Event types", f"{kind} is not an event type")
            return
        schema = entry["post"]["requestBody"]["content"][_JSON]["schema"]
        for error in self._validator(f"#/webhooks/{kind}/post/requestBody").iter_errors(orjson.loads(raw)):
            yield from self._of(error, schema)

    def _header_faults(self, response: Mapping[str, Any], headers: Mapping[str, str]) -> Iterator[ShapeFault]:
        for name, header in response.get("headers", {}).items():
            header = self._resolved(header)
            if header.get("required") and name.lower() not in headers:
                yield ShapeFault("header", name, *_mark(header), f"the header {name} is missing")

    def _validator(self, where: str) -> Draft202012Validator:
        """Return the validator for the JSON body at a location in the contract."""
        known = self._validators.get(where)
        if known is None:
            from jsonschema_rs import Draft202012Validator

            schema = {"$ref": f"{_DOCUMENT}{quote(where, safe='#/~')}/content/application~1json/schema"}
            known = Draft202012Validator(schema, registry=self._registry, validate_formats=True)
            self._validators[where] = known
        return known

    @cached_property
    def _registry(self) -> Any:
        from jsonschema_rs import Registry

        return Registry([(_DOCUMENT, dict(self._document))])

    def _resolved(self, node: Mapping[str, Any]) -> Mapping[str, Any]:
        return followed(self._document, node)

    def _of(self, error: ValidationError, schema: Mapping[str, Any]) -> Iterator[ShapeFault]:
        """Yield the deviations from the schema behind a validation error. For a union, use the closest variant."""
        kind: Any = error.kind
        if kind.name in ("anyOf", "oneOf") and getattr(kind, "context", None):
            for inner in min(kind.context, key=_unlikeness):
                yield from self._of(inner, schema)
            return
        place = _place(error.instance_path)
        word = _WORDS.get(kind.name, kind.name)
        if kind.name == "required":
            yield self._fault(error, schema, word, _join(place, kind.property), member=kind.property)
        elif word == "closed":
            for name in getattr(kind, "unexpected", None) or [""]:
                yield self._fault(error, schema, word, _join(place, name))
        else:
            yield self._fault(error, schema, word, place or "body")

    def _fault(
        self, error: ValidationError, schema: Mapping[str, Any], word: str, place: str, member: str = ""
    ) -> ShapeFault:
        """Return the difference that a validation error shows. The nearest `x-provenance` along the path determines
        whether the contract promises or assumes the violated statement.
        """
        node: Any = schema
        marked = schema
        for part in list(error.evaluation_path)[1:-1]:
            node = self._resolved(node) if part == "$ref" else node[part]
            if isinstance(node, Mapping) and "x-provenance" in node:
                marked = node
        if member:
            marked = node.get("properties", {}).get(member, marked)
        if word == "closed":
            return ShapeFault(word, place, False, "the strict contract", error.message)
        keyword = "nullable" if word == "type" and error.instance is None else str(error.kind.name)
        promise, basis = _mark(marked, keyword)
        return ShapeFault(word, place, promise, basis, error.message)


def _mark(node: Mapping[str, Any], keyword: str = "") -> tuple[bool, str]:
    """Return (specified, basis) for a constraint: whether it is not assumed, and the clause or decision behind it."""
    if keyword in node.get("x-assumed", ()):
        return False, str(node.get("x-assumed-basis", {}).get(keyword, ""))
    return node.get("x-provenance", "specified") == "specified", str(node.get("x-basis", ""))


def _unlikeness(errors: list[ValidationError]) -> tuple[bool, int]:
    """Return a sort key for the errors of one variant. The closest variant is first, another `type` last."""
    other = any(error.kind.name in ("const", "enum") and "type" in list(error.instance_path)[-1:] for error in errors)
    return other, len(errors)


def _place(path: Any) -> str:
    place = ""
    for part in path:
        place = f"{place}[]" if isinstance(part, int) else _join(place, part)
    return place


def _join(place: str, name: str) -> str:
    return f"{place}.{name}" if place and name else place or name


def _rule(word: str, promise: bool) -> Rule:
    if promise:
        return Rule(f"shape.{word}", TITLES[word], "Resources and their fields", promise=True)
    return Rule(f"shape.assumed_{word}", f"{TITLES[word][:-1]} (assumed).", "assumptions.md", promise=False)


RULES = {(word, promise): _rule(word, promise) for word in TITLES for promise in (True, False)}
"""Rules, by the name of the fault and whether the affected path is specified."""


def judge_shape(tally: Tally, shapes: ShapeJudge, answer: Answer) -> None:
    """Compare one response with the contract, and record the verdicts."""
    for rule in RULES.values():
        tally.kept(rule)
    for fault in shapes.faults(answer.operation, answer.status, answer.headers, answer.raw):
        rule = RULES.get((fault.word, fault.promise)) or RULES["variant", fault.promise]
        found = finding(rule, answer, fault.place, fault.message)
        found.basis = fault.basis or rule.basis
        tally.breaks(rule, found)
