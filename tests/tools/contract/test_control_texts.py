"""Every part of the control interface's contract has a description."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from simulator.engine.text.shapes import values_of
from tests.shipped import committed


@pytest.fixture(scope="module")
def control() -> dict[str, Any]:
    return committed("control.yaml")


def parts(value: Any, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object of a document with its place, but for examples."""
    if isinstance(value, dict):
        yield place, value
        for name, member in value.items():
            if name not in ("example", "examples"):
                yield from parts(member, f"{place}/{name}")
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from parts(item, f"{place}/{number}")


def test_every_operation_is_described(control: dict[str, Any]) -> None:
    operations = [one for path in control["paths"].values() for one in path.values()]
    assert len(operations) > 50
    assert [one["operationId"] for one in operations if not one.get("description")] == []


def test_every_parameter_is_described(control: dict[str, Any]) -> None:
    found = [part for part in parts(control, "") if "in" in part[1] and "name" in part[1] and "schema" in part[1]]
    assert len(found) > 40
    assert [place for place, parameter in found if not parameter.get("description")] == []


def test_every_field_is_described(control: dict[str, Any]) -> None:
    fields = [
        (f"{place}/{name}", field)
        for place, schema in parts(control["components"]["schemas"], "")
        if schema.get("type") == "object"
        for name, field in schema.get("properties", {}).items()
    ]
    assert len(fields) > 400
    assert [place for place, field in fields if not field.get("description")] == []


def test_every_enum_value_is_described(control: dict[str, Any]) -> None:
    found = [(place, schema) for place, schema in parts(control, "") if isinstance(schema.get("enum"), list)]
    assert len(found) > 25
    assert [
        place for place, schema in found if len(values_of(schema)) != len(schema.get("x-enum-descriptions", ()))
    ] == []
