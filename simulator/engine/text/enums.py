"""Meanings of the values in a schema: `x-enum-descriptions`, a list with an entry for each value.

openapi-generator and datamodel-code-generator read this extension beside `enum`. Null has no entry, because both tools
remove it from the values first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

DESCRIPTIONS = "x-enum-descriptions"
_LISTS = ("x-extensible-enum", "x-known-values", "enum")
EVENT, ENVIRONMENT, NETWORK = "<event>", "<environment>", "<network>"
"""The sorts of names that only a service knows. Schemas list the sort until `with_names` lists the names."""


def values_of(schema: Mapping[str, Any]) -> list[Any]:
    """Return the values that a schema lists, without null; [] if it lists none."""
    listed: Iterable[Any] = next((schema[word] for word in _LISTS if word in schema), ())
    return [value for value in ([schema["const"]] if "const" in schema else listed) if value is not None]


def explained(schema: Mapping[str, Any], meanings: Mapping[str, str]) -> dict[str, Any]:
    """Add the meanings of the values to a schema. Raise `KeyError` for a value without a meaning."""
    return {**schema, DESCRIPTIONS: [meanings[str(value)] for value in values_of(schema)]}


def meanings_of(schema: Mapping[str, Any]) -> dict[str, str]:
    """Return the meanings by value; {} if the schema has none."""
    texts: list[str] = schema.get(DESCRIPTIONS, [])
    return dict(zip(map(str, values_of(schema)), texts, strict=False))


def listed(name: str) -> dict[str, Any]:
    """Return the schema keywords for names of the service, listed by their sort."""
    return {"enum": [name], DESCRIPTIONS: [name]}


def with_names(schema: Any, names: Mapping[str, Mapping[str, str]]) -> Any:
    """Replace the sorts of names in a schema by all names of a service with their meanings.

    A sort in a description becomes the words of the meaning before its first comma.
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
