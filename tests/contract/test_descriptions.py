"""Every shape and body of the interface is explained: the object, its fields, the values that a field can have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from contracts.generator.openapi import make_components, operations
from contracts.generator.schemas import Components

LONGEST = 240
"""Characters of a text: more belongs into the description of an operation."""


@pytest.fixture(scope="module")
def components() -> Components:
    return make_components(operations())


def _fields(components: Components) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, schema in components.schemas.items():
        for field, member in schema.get("properties", {}).items():
            yield f"{name}.{field}", member


def _parts(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A schema, and those of its items and alternatives."""
    yield schema
    inner = [schema.get("items"), *schema.get("anyOf", ()), *schema.get("oneOf", ())]
    for part in (one for one in inner if isinstance(one, dict)):
        yield from _parts(part)


def test_every_field_says_what_it_means(components: Components) -> None:
    texts = {place: field.get("description", "") for place, field in _fields(components)}
    assert [place for place, text in texts.items() if not text.endswith(".")] == []
    assert [place for place, text in texts.items() if len(text) > LONGEST] == []


def test_no_field_only_repeats_its_name(components: Components) -> None:
    for place, field in _fields(components):
        name = place.rpartition(".")[2]
        assert field["description"].lower().removeprefix("the ").rstrip(".") != name.replace("_", " "), place


def test_every_value_that_a_field_can_have_says_what_it_means(components: Components) -> None:
    unexplained = [
        place
        for place, field in _fields(components)
        for part in _parts(field)
        if "enum" in part and set(part.get("x-enum-descriptions", ())) != set(part["enum"]) - {None}
    ]
    assert unexplained == []


def test_every_guess_about_a_field_names_its_decision(components: Components) -> None:
    for place, field in _fields(components):
        assert set(field.get("x-assumed", ())) == set(field.get("x-assumed-basis", ())), place
