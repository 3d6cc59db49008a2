"""One body for an operation whose models are several: a union that a member tells apart, or one object of all fields.

What the models of one object differ in (which fields are there) stands as a condition, which only the strict contract
keeps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from contracts.generator.provenance import pascal
from contracts.generator.schemas import REF, Components, Schema, discriminated, told_apart

_ALL_FIELDS = "All fields that it may have; which of them are needed depends on what the request is about."
_MARKS = ("x-provenance", "x-basis", "description", "examples")


_NAMES = {frozenset({"AddressDestination", "UserDestination", "LightningDestination"}): "SendDestination"}
"""Names of unions in several bodies."""


def flat(components: Components, models: Sequence[str], name: str) -> None:
    """Add the component `name`: the body that any of these models may be."""
    if len(models) == 1:
        components.schemas[name] = {**components.of(models[0]), "title": name}
    else:
        _several(components, models, name)


def _several(components: Components, models: Sequence[str], name: str) -> None:
    shapes = {model: components.of(model) for model in models}
    found = discriminated(shapes)
    if found is None:
        components.schemas[name] = _merged(components, list(shapes.values()), name)
        return
    word, groups = found
    mapping: dict[str, str] = {}
    for values, members in groups:
        member = members[0] if len(members) == 1 else _common(members)
        if len(members) > 1:
            _several_of_one_kind(components, members, member)
        mapping |= dict.fromkeys(values, REF + member)
    components.schemas[name] = {
        "title": name,
        "description": told_apart(word),
        "oneOf": [{"$ref": reference} for reference in dict.fromkeys(mapping.values())],
        "discriminator": {"propertyName": word, "mapping": mapping},
    }


def _several_of_one_kind(components: Components, models: Sequence[str], name: str) -> None:
    components.schemas[name] = _merged(components, [components.of(model) for model in models], name)


def _merged(components: Components, shapes: Sequence[Schema], name: str) -> Schema:
    fields: dict[str, list[Schema]] = {}
    for shape in shapes:
        for field, form in shape["properties"].items():
            fields.setdefault(field, []).append(form)
    properties = {field: _field(components, forms, name + pascal(field)) for field, forms in fields.items()}
    needed = [set(shape.get("required", ())) for shape in shapes]
    common = [field for field in fields if all(field in one for one in needed)]
    merged: Schema = {
        "title": name,
        "description": _ALL_FIELDS,
        "type": "object",
        "properties": properties,
        "required": common,
    }
    if not common:
        del merged["required"]
    alternatives = [_alternative(shape, properties, common) for shape in shapes]
    if all(alternatives):
        merged["allOf"] = [{"anyOf": _distinct(alternatives)}]
    return merged


def _field(components: Components, forms: Sequence[Schema], name: str) -> Schema:
    """A field that some of the models have, so that whatever one of them takes is taken."""
    loosest: Schema = next((form for form in forms if form.get("x-provenance") == "specified"), forms[0])
    if all(form == loosest for form in forms):
        return loosest
    marks = {key: loosest[key] for key in _MARKS if key in loosest}
    inner = list(dict.fromkeys(reference for form in forms for reference in _refs(form)))
    if inner:
        models = [reference.removeprefix(REF) for reference in inner]
        named = _NAMES.get(frozenset(models), name)
        if len(models) == 1:
            named = models[0]
        else:
            _several(components, models, named)
        whole: Schema = {"$ref": REF + named}
        nullable = next((form for form in forms if "anyOf" in form), None)
        if nullable is None:
            return {**whole, **marks}
        guesses: Schema = {key: nullable[key] for key in ("x-assumed", "x-assumed-basis") if key in nullable}
        return {"anyOf": [whole, {"type": "null"}], **marks, **guesses}
    nullable_form = next((form for form in forms if isinstance(form.get("type"), list)), loosest)
    return {**{key: part for key, part in nullable_form.items() if key != "x-basis"}, **marks}


def _refs(form: Schema) -> list[str]:
    return [one["$ref"] for one in form.get("anyOf", [form]) if "$ref" in one]


def _alternative(shape: Schema, merged: Mapping[str, Schema], common: Sequence[str]) -> Schema:
    """Return the requirements of one model beyond the common ones: required and non-null fields."""
    needed = [field for field in shape.get("required", ()) if field not in common]
    held = {
        field: {"type": shape["properties"][field]["type"]}
        for field in shape.get("required", ())
        if isinstance(merged[field].get("type"), list) and isinstance(shape["properties"][field].get("type"), str)
    }
    return {**({"required": needed} if needed else {}), **({"properties": held} if held else {})}


def _distinct(values: Iterable[Any]) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if value not in found:
            found.append(value)
    return found


def _common(names: Sequence[str]) -> str:
    """Return the common prefix in whole words: CreateRecurringSend for CreateRecurringSendToUser and …OverLightning."""
    first = names[0]
    ends = [n for n in range(len(first), 0, -1) if n == len(first) or first[n].isupper()]
    return next(first[:end] for end in ends if all(name.startswith(first[:end]) for name in names))
