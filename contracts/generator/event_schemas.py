"""`contracts/events/*.schema.json`: the envelope of each event type, with standard keywords only.

Validators such as ajv refuse unknown keywords and formats. So the provenance of a field is in its `$comment`, and a
pattern replaces a format.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contracts.generator.events import DIALECT, envelope
from contracts.generator.schemas import REF, Components, Schema, reached
from simulator.engine.rows.event import EventType

ID = "urn:rampsim:event:"
"""With the event type behind it the `$id` of a schema."""
_BY_NAME = frozenset({"properties", "$defs"})
_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_SCHEMAS = frozenset({"items", "additionalProperties", "not", "if", "then", "else"})
_LEFT_OUT = frozenset({"discriminator", "example", "format"})
_PATTERNS = {
    "date": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
    "date-time": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$",
}


def standalone(components: Components, event: EventType, schemas: Mapping[str, Schema]) -> Schema:
    """The schema of one event by itself, without references to the outside.

    What it is made of comes from `schemas`, the open contract's: a receiver is to take what is new. In which statuses
    the event is sent, and what is there then, is said as strictly as it is promised.
    """
    schema = envelope(components, event)
    names = reached(schema, schemas)
    definitions = {name: _plain(schemas[name]) for name in sorted(names)}
    return {"$schema": DIALECT, "$id": ID + event.name, **_plain(schema), "$defs": definitions}


def _plain(schema: Schema) -> Schema:
    """A schema of the contract without what belongs to OpenAPI or to this project alone."""
    plain: Schema = {}
    for keyword, value in schema.items():
        if keyword == "x-extensible-enum":
            plain["examples"] = value
        if keyword in _LEFT_OUT or keyword.startswith("x-") or (keyword, value) == ("additionalProperties", False):
            continue
        plain[keyword] = _within(keyword, value)
    if isinstance(plain.get("$ref"), str):
        plain["$ref"] = plain["$ref"].replace(REF, "#/$defs/")
    if {"properties", "required"} & plain.keys():
        plain.setdefault("type", "object")
    if "format" in schema:
        plain.setdefault("pattern", _PATTERNS[schema["format"]])
    comment = _comment(schema)
    return {**plain, "$comment": comment} if comment else plain


def _within(keyword: str, value: Any) -> Any:
    if keyword in _BY_NAME:
        return {name: _plain(member) for name, member in value.items()}
    if keyword in _LISTS:
        return [_plain(member) for member in value]
    return _plain(value) if keyword in _SCHEMAS and isinstance(value, dict) else value


def _comment(schema: Mapping[str, Any]) -> str:
    """Return the provenance of a field and its assumptions: `specified: Deposit; assumed: pattern (H8)`."""
    parts = []
    if "x-provenance" in schema:
        parts.append(": ".join([schema["x-provenance"], *filter(None, [schema.get("x-basis")])]))
    parts += [f"assumed: {name} ({basis})" for name, basis in schema.get("x-assumed-basis", {}).items()]
    return "; ".join(parts)
