"""Request bodies as the variants that go together, made from the rooms' models.

A variant names a model of the operation and says which of its fields are narrower here, which are needed here, and
which do not belong. All else (fields, bounds, which are required) is as the model says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from contracts.generator.schemas import REF, Components, Schema, any_of

Narrower: TypeAlias = "Schema | tuple[Variant, ...]"


@dataclass(frozen=True)
class Variant:
    """One form of a body, or of an object in it.

    `title` names it ("" for one that its place names). `fields`: by name the schema that a field has here, or the
    variants of the object that stands there; `payer.phone_number` is the field of an object inside. `required` are
    fields that this form needs besides those of the model, `without` those that are ignored in it.
    """

    model: str
    title: str
    fields: Mapping[str, Narrower]
    required: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


def body(components: Components, variants: Sequence[Variant]) -> Schema:
    """The schema of a body: any of its variants."""
    return any_of([_form(components, variant) for variant in variants])


def body_by_type(components: Components, variants: Iterable[Variant]) -> Schema:
    """The schema of a body whose `type` decides which model it has: every model becomes a named schema."""
    by_model: dict[str, list[Variant]] = {}
    for variant in variants:
        by_model.setdefault(variant.model, []).append(variant)
    types = {components.of(model)["properties"]["type"]["const"]: model for model in by_model}
    forms = {model: body(components, own) for model, own in by_model.items()}
    components.schemas.update({model: {"title": model, **form} for model, form in forms.items()})
    mapping = {name: REF + model for name, model in types.items()}
    return {
        "oneOf": [{"$ref": reference} for reference in mapping.values()],
        "discriminator": {"propertyName": "type", "mapping": mapping},
    }


def _form(components: Components, variant: Variant) -> Schema:
    schema = _narrowed(components, components.of(variant.model), variant.fields)
    for name in variant.without:
        schema["properties"].pop(name, None)
    needed = {*schema.get("required", ()), *variant.required}
    schema["required"] = [name for name in schema["properties"] if name in needed]
    if variant.title:
        schema["title"] = variant.title
    else:
        schema.pop("title")
    return schema


def _narrowed(components: Components, schema: Schema, fields: Mapping[str, Narrower]) -> Schema:
    """A schema of a model with some of its fields narrowed; what is said of a field stays."""
    schema.pop("description", None)
    for name in dict.fromkeys(name.partition(".")[0] for name in fields):
        old = schema["properties"][name]
        inside = {field.removeprefix(f"{name}."): new for field, new in fields.items() if field.startswith(f"{name}.")}
        if inside:
            new = _narrowed(components, components.of(old["$ref"].removeprefix(REF)), inside)
            new.pop("title")
        else:
            given = fields[name]
            new = given if isinstance(given, dict) else {"anyOf": [_form(components, variant) for variant in given]}
        marks = {key: old[key] for key in ("description", "x-provenance", "x-basis") if key in old}
        schema["properties"][name] = {**new, **marks}
    return schema
