"""Descriptions of the values in a schema: the list `x-enum-descriptions`, which openapi-generator and
datamodel-code-generator read next to `enum`. Both remove null from the values first, so the list has no entry for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

DESCRIPTIONS = "x-enum-descriptions"
_LISTS = ("x-extensible-enum", "x-known-values", "enum")
EVENT, ENVIRONMENT, NETWORK = "<event>", "<environment>", "<network>"
"""Placeholders for names that depend on the service. Schemas list a placeholder until `with_names` replaces it."""


def values_of(schema: Mapping[str, Any]) -> list[Any]:
    """Return the values that a schema lists, without null. Return [] if the schema lists no values."""
    listed: Iterable[Any] = next((schema[word] for word in _LISTS if word in schema), ())
    return [value for value in ([schema["const"]] if "const" in schema else listed) if value is not None]


def explained(schema: Mapping[str, Any], meanings: Mapping[str, str]) -> dict[str, Any]:
    """Add descriptions of the values to a schema. Raise `KeyError` if a value has no description."""
    return {**schema, DESCRIPTIONS: [meanings[str(value)] for value in values_of(schema)]}


def listed(name: str) -> dict[str, Any]:
    """Return a schema with a placeholder, which `with_names` replaces with the names that the service uses."""
    return {"enum": [name], DESCRIPTIONS: [name]}


def with_names(schema: Any, names: Mapping[str, Mapping[str, str]]) -> Any:
    """Replace the placeholders in a schema with all names that a service uses, and their descriptions. A field whose
    name is a placeholder becomes one field for each name. In the description of such a field, the placeholder is
    replaced with the beginning of the name's description, up to the first comma.
    """
    if isinstance(schema, list):
        meanings = names.get(schema[0]) if len(schema) == 1 and isinstance(schema[0], str) else None
        return [with_names(one, names) for one in schema] if meanings is None else list(meanings)
    if not isinstance(schema, Mapping):
        return schema
    found: dict[str, Any] = {}
    for key, part in schema.items():
        if key in names:
            found |= {name: _about(part, key, meaning) for name, meaning in names[key].items()}
        elif key == DESCRIPTIONS and part[0] in names:
            found[key] = list(names[part[0]].values())
        else:
            found[key] = with_names(part, names)
    return found


def _about(schema: Mapping[str, Any], placeholder: str, meaning: str) -> dict[str, Any]:
    called = meaning.partition(",")[0]
    text = schema["description"].replace(placeholder, called[:1].lower() + called[1:])
    return {**schema, "description": text}
