"""Descriptions of the fields of shapes and bodies: the strings below them in the source.

A field with one possible value needs no string: its description is made from the value.

Only this module reads them, so that they cost a running server nothing.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias, get_origin

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from simulator.engine.text.shapes import DESCRIPTIONS, values_of

Fields: TypeAlias = "Mapping[type[Any], Mapping[str, dict[str, Any]]]"
"""Restrictions of fields in the contract, by model. Subclasses inherit them."""

_STAYS = ("description", "default", "x-provenance", "x-basis")
"""Keywords about a field rather than its values."""


def explained(fields: Fields) -> type[GenerateJsonSchema]:
    """Return pydantic's schema generator, extended by descriptions from the source and restricted fields."""

    class Explained(GenerateJsonSchema):
        def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
            return _explain(super().typed_dict_schema(schema), schema.get("cls"))

        def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
            shown = super().model_schema(schema)
            for cls in schema["cls"].__mro__:
                for name, narrow in fields.get(cls, {}).items():
                    shown["properties"][name] = _narrowed(shown["properties"][name], narrow)
            return _explain(shown, schema["cls"])

    return Explained


def _narrowed(member: JsonSchemaValue, narrow: JsonSchemaValue) -> JsonSchemaValue:
    if {"const", "enum", "$ref"} & member.keys():
        return member  # it is narrower already
    nullable = {"type": "null"} in member.get("anyOf", ())
    kept = {name: value for name, value in member.items() if name in _STAYS}
    return {"anyOf": [narrow, {"type": "null"}], **kept} if nullable else {**narrow, **kept}


def _explain(schema: JsonSchemaValue, cls: type[Any] | None) -> JsonSchemaValue:
    if cls is None:
        return schema
    models = cls.model_fields if issubclass(cls, BaseModel) else {}
    for name, text in field_texts(cls).items():
        member = schema.get("properties", {}).get((models[name].alias if name in models else None) or name)
        if member is not None:
            member["description"] = text
    for member in schema.get("properties", {}).values():
        if "const" in member:
            member.setdefault("description", f"Always `{member['const']}`.")
    return schema


def field_texts(cls: type[Any]) -> dict[str, str]:
    """The strings beneath the fields of a class, those of its bases included."""
    found: dict[str, str] = {}
    for base in reversed(_bases(cls)):
        found |= field_texts(base)
    if "described_by" in vars(cls):  # a model whose fields are derived from those of another class
        found |= field_texts(cls.described_by)
    own = _own_texts(cls.__module__).get(cls.__qualname__, {})
    return found | {name: text for name, text in own.items() if text}


def _bases(cls: type[Any]) -> list[type[Any]]:
    """The bases that declare fields; a TypedDict keeps them apart from its order of resolution."""
    bases = [get_origin(base) or base for base in getattr(cls, "__orig_bases__", cls.__bases__)]
    return [base for base in bases if isinstance(base, type) and base.__module__.partition(".")[0] == _PACKAGE]


_PACKAGE = "simulator"


@cache
def _own_texts(module: str) -> Mapping[str, Mapping[str, str]]:
    """By class of a module the text beneath each of its fields, "" where there is none."""
    source = sys.modules[module].__file__
    if source is None:
        raise ValueError(f"{module} has no source")
    found: dict[str, dict[str, str]] = {}

    def visit(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                found[prefix + node.name] = _texts_in(node.body)
                visit(node.body, f"{prefix}{node.name}.")

    visit(ast.parse(Path(source).read_text("utf-8")).body, "")
    return found


def _texts_in(body: list[ast.stmt]) -> dict[str, str]:
    found: dict[str, str] = {}
    for node, below in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            text = below.value if isinstance(below, ast.Expr) else None
            said = text.value if isinstance(text, ast.Constant) and isinstance(text.value, str) else ""
            found[node.target.id] = " ".join(said.split())
    return found


def meanings_of(schema: Mapping[str, Any]) -> dict[str, str]:
    """Return the description of each value, or {} if the schema has none."""
    texts: list[str] = schema.get(DESCRIPTIONS, [])
    return dict(zip(map(str, values_of(schema)), texts, strict=False))
