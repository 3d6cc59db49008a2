"""Names for what lies unnamed inside the schemas of request bodies.

Generators of clients call an unnamed object by where they meet it, and some meet it twice and stop. So every object
with fields of its own is a component by itself, named by what it is part of and by its title or its field. Answers,
which are closed, are made of named shapes from the beginning.
"""

from __future__ import annotations

import re
from typing import Any

from contracts.generator.schemas import REF, Schema, walk

_KEPT = ("description", "x-provenance", "x-basis")
"""What is said of a field rather than of the object in it: it stays beside the reference."""


def name_objects(schemas: dict[str, Schema]) -> None:
    """Move the variants and inner objects of all schemas into schemas of their own, in place."""
    for name in [name for name, schema in schemas.items() if "additionalProperties" not in schema]:
        schemas[name] = walk(schemas[name], lambda part: part)  # builders may use one part in several places
        _inside(name, schemas[name], schemas)


def _inside(name: str, schema: Schema, schemas: dict[str, Schema]) -> None:
    for word in ("anyOf", "oneOf"):
        if word in schema:
            schema[word] = [
                _named(name + _pascal(one.get("title") or f"Variant {number}"), one, schemas)
                for number, one in enumerate(schema[word], 1)
            ]
    for field, member in schema.get("properties", {}).items():
        schema["properties"][field] = _named(name + _pascal(field), member, schemas)
    if isinstance(schema.get("items"), dict):
        schema["items"] = _named(f"{name}Item", schema["items"], schemas)


def _named(name: str, schema: Schema, schemas: dict[str, Schema]) -> Schema:
    """The schema itself, or a reference to it where it is an object with fields."""
    _inside(name, schema, schemas)
    if schema.get("type") != "object" or "properties" not in schema:
        return schema
    title = schema.pop("title", None)
    marks: dict[str, Any] = {} if title else {key: schema.pop(key) for key in _KEPT if key in schema}
    if title:
        schema.setdefault("description", f"{title}.")
    schema = {"title": name, **schema}
    if schemas.setdefault(name, schema) != schema:
        raise ValueError(f"two different schemas are named {name}")
    return {"$ref": REF + name, **marks}


def _pascal(text: str) -> str:
    """`An amount in KES, by mobile_money` is AmountInKESByMobileMoney."""
    words = re.findall(r"[A-Za-z0-9]+", text)
    return "".join(word[:1].upper() + word[1:] for word in words if word.lower() not in ("a", "an"))
