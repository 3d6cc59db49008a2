"""The two looser forms of the strict contract: the open one, and the one of promises alone.

Both only take constraints away, so whatever the strict contract accepts they accept; but the promised one does not let
a caller send null, of which nothing is promised. The strict one is closed and narrow,
for judges and fuzzers. The open one is for people and generators of clients: an answer may bring new members and new
values, and a body is one flat object, without the conditions between its fields. The promised one is the open one
without what is assumed.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from contracts.generator.named import MARK
from contracts.generator.provenance import basis_links
from contracts.generator.schemas import REF, Schema, reached, references, without_guesses
from simulator.contract.files import followed
from simulator.engine.text.shapes import DESCRIPTIONS, values_of

_AS_THEY_ARE = frozenset(
    {"example", "examples", "x-codes", "x-enum-descriptions", "x-assumed-basis", "mapping", "links"}
)

STRICT = "A response carries the fields written here and no others."
_OPEN = "A response may bring fields and values that are not written here: be ready for both."
_PROMISED = """\
The interface of a stablecoin ramp and wallet service, as far as its specification promises it: nothing is in here \
that the simulator assumes, and `x-basis` names the clause. A constraint that is missing is not promised. Amounts are \
decimal strings, times are ISO 8601 in UTC. A response may bring fields and values that are not written here."""


def opened(document: Schema) -> Schema:
    """The open form of the strict contract."""
    shown = copy.deepcopy(document)
    shown["info"]["description"] = shown["info"]["description"].replace(STRICT, _OPEN)
    schemas = shown["components"]["schemas"]
    answered = _answered(shown)
    told = _told_apart_by(shown)
    for name, schema in schemas.items():
        kept = {word: schema["properties"][word] for word in told.get(name, ())}
        schemas[name] = _open(schema, request=name not in answered)
        schemas[name].get("properties", {}).update(kept)
    for part in (*shown["paths"].values(), *shown["webhooks"].values()):
        for operation in part.values():
            for place in ("parameters", "requestBody"):
                if place in operation:
                    operation[place] = _open(operation[place], request=True)
            operation["responses"] = _open(operation["responses"], request=False)
    for kind in ("responses", "headers"):
        shown["components"][kind] = _open(shown["components"][kind], request=False)
    prune(shown)
    return shown


def promised(document: Schema) -> Schema:
    """Return the specified part of the open form, without any assumed operation, status, code, field or constraint."""
    shown = copy.deepcopy(document)
    shown["info"]["description"] = _PROMISED
    parts = shown["components"]
    for kind in ("parameters", "headers"):
        parts[kind] = {name: part for name, part in parts[kind].items() if not _assumed(part)}
    for kind in ("paths", "webhooks"):
        for name, item in list(shown[kind].items()):
            shown[kind][name] = {
                method: _promised_operation(operation, document)
                for method, operation in item.items()
                if not _assumed(operation)
            }
        shown[kind] = {name: item for name, item in shown[kind].items() if item}
    parts["responses"] = {}
    answered = _answered(shown)
    for name, schema in parts["schemas"].items():
        if name not in answered:
            members = schema.get("properties", {})
            schema |= {"properties": {word: _never_null(part) for word, part in members.items()}} if members else {}
    for place in (shown["paths"], shown["webhooks"], *(parts[kind] for kind in ("schemas", "parameters", "headers"))):
        for name, part in place.items():
            place[name] = _promise(part)
    _untell(shown)
    _unlink(shown)
    prune(shown)
    shown["x-basis-links"] = basis_links(shown)
    return shown


def _untell(document: Schema) -> None:
    """Remove from every union the parts whose discriminator value is assumed."""
    schemas = document["components"]["schemas"]
    for schema in schemas.values():
        if "discriminator" not in schema:
            continue
        word = schema["discriminator"]["propertyName"]
        gone = {
            one["$ref"]
            for one in schema["oneOf"]
            if word not in schemas[one["$ref"].removeprefix(REF)].get("properties", {})
        }
        schema["oneOf"] = [one for one in schema["oneOf"] if one["$ref"] not in gone]
        mapping = schema["discriminator"]["mapping"]
        schema["discriminator"] = {
            "propertyName": word,
            "mapping": {value: target for value, target in mapping.items() if target not in gone},
        }


def _never_null(member: Schema) -> Schema:
    """A field of a body, without the null that nothing promises it may be; what is answered may be it all the same."""
    if "nullable" not in member.get("x-assumed", ()):
        return member
    shown = _without(member, "nullable")
    if isinstance(shown.get("type"), list):
        shown["type"] = next(one for one in shown["type"] if one != "null")
    if "enum" in shown:
        shown["enum"] = [value for value in shown["enum"] if value is not None]
    if "anyOf" in shown:
        kept = [one for one in shown.pop("anyOf") if one != {"type": "null"}]
        shown |= kept[0] if len(kept) == 1 else {"anyOf": kept}
    return shown


def _promised_operation(operation: Schema, document: Schema) -> Schema:
    shown = {name: part for name, part in operation.items() if name != MARK}
    if "parameters" in shown:
        shown["parameters"] = [one for one in shown["parameters"] if not _assumed(followed(document, one))]
    responses: Schema = {}
    for status, named in operation["responses"].items():
        response = dict(copy.deepcopy(followed(document, named)))
        headers = response.pop("headers", {})
        kept = {name: one for name, one in headers.items() if not _assumed(followed(document, one))}
        if kept:
            response["headers"] = kept
        if "x-codes" in response:
            response["x-codes"] = {code: about for code, about in response["x-codes"].items() if not _assumed(about)}
        if status.startswith("2"):
            # That it succeeds is promised, also where by which number is not.
            status = "2XX" if _assumed(response) else status
            response |= {"x-provenance": "specified", "x-basis": operation.get("x-basis", "")}
            responses[status] = response
        elif not _assumed(response) and response["x-codes"]:
            responses[status] = response
    shown["responses"] = responses
    return shown


def _promise(value: Any) -> Any:
    if isinstance(value, list):
        return [_promise(item) for item in value]
    if not isinstance(value, dict):
        return value
    guesses = set(value.get("x-assumed", ()))
    gone = {"allowEmptyValue", "example", "examples", "x-known-values", "x-assumed", "x-assumed-basis", *guesses}
    if "schema" in guesses:
        gone |= {"$ref", "allOf", "anyOf", "oneOf", "discriminator"}
    if "enum" in guesses:
        gone |= {"const", "x-extensible-enum", DESCRIPTIONS}
    shown = {name: part if name in _AS_THEY_ARE else _promise(part) for name, part in value.items() if name not in gone}
    if isinstance(value.get("properties"), dict):
        members = {name: part for name, part in value["properties"].items() if not _assumed(part)}
        optional = {name for name, part in members.items() if "required" in part.get("x-assumed", ())}
        shown["properties"] = {name: _promise(part) for name, part in members.items()}
        needed = [name for name in value.get("required", ()) if name in members and name not in optional]
        shown.pop("required", None)
        if needed:
            shown["required"] = needed
    if not values_of(shown):
        shown.pop(DESCRIPTIONS, None)
    if "items" in guesses:
        shown["items"] = {}
    if "nullable" in guesses and isinstance(shown.get("type"), str):
        shown["type"] = [shown["type"], "null"]
    return shown


def _unlink(document: Schema) -> None:
    """Leave out the links to operations that are not there."""
    operations = [operation for item in document["paths"].values() for operation in item.values()]
    there = {operation["operationId"] for operation in operations}
    for operation in operations:
        for response in operation["responses"].values():
            links = {name: one for name, one in response.pop("links", {}).items() if one["operationId"] in there}
            if links:
                response["links"] = links


def _open(value: Any, *, request: bool) -> Any:
    if isinstance(value, list):
        return [_open(item, request=request) for item in value]
    if not isinstance(value, dict):
        return value
    shown = {name: part if name in _AS_THEY_ARE else _open(part, request=request) for name, part in value.items()}
    if isinstance(shown.get("allOf"), list):
        named = [part for part in shown.pop("allOf") if "$ref" in part or "oneOf" in part]
        shown = {**(named[0] if len(named) == 1 else {"allOf": named} if named else {}), **shown}
    if isinstance(shown.get("properties"), dict):
        shown["properties"] = {
            name: {**part, "type": ["string", "null"]} if part.get("type") == "null" else part
            for name, part in shown["properties"].items()
            if part.get("not") != {}
        }
    if shown.get("additionalProperties") is False:
        # In words, since openapi-generator takes an object that says nothing for a closed one.
        shown["additionalProperties"] = True
    if "x-parsed-as" in shown:
        shown["type"] = shown.pop("x-parsed-as")
        shown = _without(shown, "pattern")
    if not request:
        _open_values(shown, "x-extensible-enum")
        if isinstance(shown.get("pattern"), str) and _guessed(shown, "pattern"):
            shown = _without(shown, "pattern")
    elif "enum" in shown.get("x-assumed", ()):
        _open_values(shown, "x-known-values")
    return shown


def _guessed(schema: Schema, word: str) -> bool:
    return _assumed(schema) or word in schema.get("x-assumed", ())


def _without(schema: Schema, word: str) -> Schema:
    """The schema without one of its constraints and what is said of it: no client may fail by a guess."""
    shown = without_guesses(schema, word)
    return {name: shown[name] for name in schema if name in shown and name != word}


def _open_values(schema: Schema, word: str) -> None:
    """The values that there are, without saying that there are no others."""
    if isinstance(schema.get("enum"), list):
        schema[word] = [value for value in schema.pop("enum") if value is not None]
    elif "const" in schema and not isinstance(schema["const"], dict):
        value = schema.pop("const")
        if isinstance(value, str):
            schema[word] = [value]


def _answered(document: Schema) -> set[str]:
    """The schemas that answers and events are made of."""
    roots = [document["components"]["responses"], document["components"]["headers"], document["webhooks"]]
    roots += [operation["responses"] for item in document["paths"].values() for operation in item.values()]
    return set(reached(roots, document["components"]["schemas"]))


def _told_apart_by(document: Schema) -> dict[str, set[str]]:
    """By schema the members that a union, or a receiver of events, tells it apart by."""
    found: dict[str, set[str]] = {}
    for union in _unions(document):
        for target in union["mapping"].values():
            found.setdefault(target.removeprefix(REF), set()).add(union["propertyName"])
    for item in document["webhooks"].values():
        reference = item["post"]["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        found.setdefault(reference.removeprefix(REF), set()).add("type")
    return found


def _unions(value: Any) -> Iterator[Schema]:
    if isinstance(value, dict):
        if isinstance(value.get("mapping"), dict) and "propertyName" in value:
            yield value
        for name, part in value.items():
            if name not in _AS_THEY_ARE:
                yield from _unions(part)
    elif isinstance(value, list):
        for part in value:
            yield from _unions(part)


def _assumed(part: Mapping[str, Any]) -> bool:
    return bool(part.get("x-provenance") == "assumed")


_KINDS = ("schemas", "responses", "parameters", "headers")


def prune(document: Schema) -> None:
    """Leave out the named parts that nothing refers to, and sort the rest."""
    parts = document["components"]
    used: set[str] = set()
    waiting = [name for key, value in document.items() if key != "components" for name in references(value)]
    while waiting:
        name = waiting.pop()
        if name not in used:
            used.add(name)
            waiting += references(followed(document, {"$ref": name}))
    for kind in _KINDS:
        if kind in parts:
            kept = {name: part for name, part in parts[kind].items() if f"#/components/{kind}/{name}" in used}
            parts[kind] = dict(sorted(kept.items())) if kind == "schemas" else kept
