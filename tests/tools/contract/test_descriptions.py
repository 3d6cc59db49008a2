"""Every field of every schema in `contracts/` has a description."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from simulator.contract.files import contracts_directory
from tests.shipped import committed

MAPS = ("properties", "patternProperties")
WITHIN = ("if", "not")
"""There a member is named to tell cases apart, and means what it means elsewhere."""


def silent(node: Any, path: str = "") -> Iterator[str]:
    """The places of fields without a description."""
    if isinstance(node, list):
        for index, item in enumerate(node):
            yield from silent(item, f"{path}/{index}")
    if not isinstance(node, dict):
        return
    for word in MAPS:
        fields = node.get(word)
        if isinstance(fields, dict):
            for name, field in fields.items():
                if isinstance(field, dict) and not field.get("description"):
                    yield f"{path}/{name}"
    for name, inner in node.items():
        if name not in WITHIN:
            yield from silent(inner, f"{path}/{name}")


def test_a_field_without_a_description_is_found() -> None:
    assert list(silent({"a": [{"properties": {"b": {}, "c": {"description": "C."}}}]})) == ["/a/0/b"]


@pytest.mark.parametrize("name", ["scenario.schema.json", "openapi.yaml", "control.yaml"])
def test_every_field_has_a_description(name: str) -> None:
    assert list(silent(_document(name))) == []


def _document(name: str) -> Any:
    return json.loads((contracts_directory() / name).read_bytes()) if name.endswith("json") else committed(name)


def uneven(node: Any, path: str = "") -> Iterator[str]:
    """Places whose `x-enum-descriptions` is not a list with a text for each value but null."""
    if isinstance(node, list):
        for index, item in enumerate(node):
            yield from uneven(item, f"{path}/{index}")
    if not isinstance(node, dict):
        return
    texts = node.get("x-enum-descriptions")
    if texts is not None:
        given = node.get("enum") or node.get("x-extensible-enum") or node.get("x-known-values") or [node.get("const")]
        values = [value for value in given if value is not None]
        if not (isinstance(texts, list) and all(isinstance(text, str) and text for text in texts)) or len(texts) != len(
            values
        ):
            yield path
    for name, inner in node.items():
        yield from uneven(inner, f"{path}/{name}")


@pytest.mark.parametrize(
    "name",
    ["openapi.yaml", "openapi.strict.yaml", "openapi.specified.yaml", "control.yaml", "scenario.schema.json"],
)
def test_value_descriptions_are_parallel_to_the_values(name: str) -> None:
    assert list(uneven(_document(name))) == []
