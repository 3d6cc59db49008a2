"""Parameters for an action on the command line: `--failure-code payout_failed` becomes a JSON value.

The type of a value comes from the action's JSON Schema, not from how the value is written: "50" stays a string if the
schema expects a string.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import click

from simulator.cli.output import Fields, Row


def split(rest: Sequence[str]) -> tuple[str | None, dict[str, str | None]]:
    """Split an action's command-line arguments into its target (None if not given) and its parameters by name. A
    parameter without a value is None.
    """
    words = list(rest)
    target = words.pop(0) if words and not words[0].startswith("--") else None
    given: dict[str, str | None] = {}
    while words:
        word = words.pop(0)
        if not word.startswith("--") or len(word) == 2:
            raise click.UsageError(f"{word!r} is not a parameter; write parameters as --name value")
        name, equals, value = word[2:].partition("=")
        name = name.replace("-", "_")
        if name in given:
            raise click.UsageError(f"--{name} is given twice; give it once")
        if equals:
            given[name] = value
        else:
            given[name] = words.pop(0) if words and not words[0].startswith("--") else None
    return target, given


def parameters_of(schema: Row, given: Mapping[str, str | None]) -> Fields:
    """Return the values, converted to the types in the action's schema."""
    return {name: _value(name, text, _types(schema, name)) for name, text in given.items()}


def _value(name: str, text: str | None, types: set[str]) -> Any:
    if text is None:
        if types and "boolean" not in types:
            raise click.UsageError(f"--{name} needs a value")
        return True
    if "string" in types and not (types & {"object", "array"} and text[:1] in ("{", "[")):
        return text
    try:
        return json.loads(text)
    except ValueError:
        if types and "string" not in types:
            wanted = " or ".join(sorted(types - {"null"}))
            raise click.UsageError(f"--{name}: {text!r} is not JSON; use {wanted}") from None
        return text


def _types(schema: Row, name: str) -> set[str]:
    """Return the JSON types of a parameter in all schemas for the action, or an empty set if it is unknown."""
    parts = [one.get("properties", {}).get(name) for one in schema.get("anyOf") or [schema]]
    return {kind for part in parts if part is not None for kind in _types_of(part)}


def _types_of(part: Row) -> set[str]:
    if "anyOf" in part or "oneOf" in part:
        return {kind for one in (part.get("anyOf") or part["oneOf"]) for kind in _types_of(one)}
    if "enum" in part or "const" in part:
        return {_name_of(value) for value in part.get("enum", [part.get("const")])}
    declared = part.get("type", ())
    return {declared} if isinstance(declared, str) else set(declared)


def _name_of(value: Any) -> str:
    names = {bool: "boolean", str: "string", int: "integer", float: "number", list: "array", dict: "object"}
    return names.get(type(value), "null")
