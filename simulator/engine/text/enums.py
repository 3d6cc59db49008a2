"""What the values of a schema mean: `x-enum-descriptions`, a list with an entry for each value.

openapi-generator and datamodel-code-generator read this extension beside `enum`. Null has no entry: both tools take it
out of the values first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

DESCRIPTIONS = "x-enum-descriptions"
_LISTS = ("x-extensible-enum", "x-known-values", "enum")
EVENT_NAMES = {"enum": ["<event>"], DESCRIPTIONS: ["<event>"]}
"""What a schema lists for the name of an event, until `with_events` lists the events of a service."""


def values_of(schema: Mapping[str, Any]) -> list[Any]:
    """Return the values that a schema lists, null aside; [] when it lists none."""
    listed: Iterable[Any] = next((schema[word] for word in _LISTS if word in schema), ())
    return [value for value in ([schema["const"]] if "const" in schema else listed) if value is not None]


def explained(schema: Mapping[str, Any], meanings: Mapping[str, str]) -> dict[str, Any]:
    """Add what each value means to a schema that lists them. KeyError for a value without a meaning."""
    return {**schema, DESCRIPTIONS: [meanings[str(value)] for value in values_of(schema)]}


def meanings_of(schema: Mapping[str, Any]) -> dict[str, str]:
    """Return the meanings by value, as text; {} when the schema explains none."""
    texts: list[str] = schema.get(DESCRIPTIONS, [])
    return dict(zip(map(str, values_of(schema)), texts, strict=False))


def with_events(schema: Any, meanings: Mapping[str, str]) -> Any:
    """The schema with all events of a service, and when each is sent, wherever one is named."""
    if isinstance(schema, list):
        return [with_events(one, meanings) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    found = {name: with_events(part, meanings) for name, part in schema.items()}
    return explained({**found, "enum": list(meanings)}, meanings) if found.items() >= EVENT_NAMES.items() else found
