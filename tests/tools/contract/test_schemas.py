"""The parts of a schema that come from its shape or body: field descriptions, meanings of values, assumptions."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

import pytest
from pydantic import Field
from typing_extensions import TypedDict

from contracts.generator import texts
from contracts.generator.openapi import make_components, operations
from contracts.generator.parameters import query_parameters
from contracts.generator.schemas import Components
from simulator.engine.text.fields import Body
from simulator.engine.text.shapes import Assumed, Format, Known, Meanings, OneOf

Lamp = Annotated[str, Format(pattern="^lamp_"), Assumed("H1", "pattern")]


class BaseShape(TypedDict):
    id: Lamp
    """Names the
    lamp."""
    untold: str


class LampShape(BaseShape):
    """A lamp."""

    state: Annotated[str, OneOf({"on": "It burns.", "off": "It does not."})]
    """Whether it burns."""
    room: NotRequired[Annotated[Lamp | None, Assumed("H2", "nullable", "required")]]
    owner: Annotated[str, Assumed("H3")]


class LampBody(Body):
    from_: Annotated[Literal["shop", "attic"], Meanings({"shop": "Bought.", "attic": "Found."})] = Field(alias="from")
    """Where it comes from."""
    maker: Annotated[str, Known(("Aladdin", "Edison", "Swan"))] | None = None


@pytest.fixture(scope="module")
def components() -> Components:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(texts, "_PACKAGE", "tests")
        return Components([LampShape], [LampBody], {"Lamp": "Lamps"})


@pytest.fixture
def lamp(components: Components) -> dict[str, Any]:
    return components.of("Lamp")


def test_field_string_is_the_description_even_if_inherited(lamp: dict[str, Any]) -> None:
    assert lamp["description"] == "A lamp."
    assert lamp["properties"]["id"]["description"] == "Names the lamp."
    assert "description" not in lamp["properties"]["untold"]


def test_body_field_is_described_under_its_json_name(components: Components) -> None:
    field = components.of("LampBody")["properties"]["from"]
    assert field["description"] == "Where it comes from."
    assert field["x-enum-descriptions"] == ["Bought.", "Found."]


def test_values_with_meanings_are_a_described_enum(lamp: dict[str, Any]) -> None:
    state = lamp["properties"]["state"]
    assert state["enum"] == ["on", "off"]
    assert state["x-enum-descriptions"] == ["It burns.", "It does not."]


def test_assumed_constraint_leaves_the_field_specified(lamp: dict[str, Any]) -> None:
    shown = lamp["properties"]
    assert (shown["id"]["x-provenance"], shown["id"]["x-basis"]) == ("specified", "Lamps")
    assert (shown["id"]["x-assumed"], shown["id"]["x-assumed-basis"]) == (["pattern"], {"pattern": "H1"})
    assert (shown["owner"]["x-provenance"], shown["owner"]["x-basis"]) == ("assumed", "H3")


def test_assumptions_of_type_and_field_are_combined(lamp: dict[str, Any]) -> None:
    room = lamp["properties"]["room"]
    assert room["type"] == ["string", "null"]
    assert room["x-assumed"] == ["nullable", "pattern", "required"]
    assert room["x-assumed-basis"] == {"pattern": "H1", "nullable": "H2", "required": "H2"}


def test_known_values_do_not_restrict(components: Components) -> None:
    maker = components.of("LampBody")["properties"]["maker"]
    assert "enum" not in maker
    assert maker["x-known-values"] == ["Aladdin", "Edison", "Swan"]
    assert maker["examples"] == ["Aladdin", "Edison"]


def test_null_is_assumed_in_bodies_and_absent_in_queries() -> None:
    components = make_components(operations())
    assert components.of("SendToAddress")["properties"]["reference"]["x-assumed-basis"]["nullable"] == "H4"
    assert "nullable" not in components.of("SendToAddress")["properties"]["amount"]["x-assumed"]
    assert components.of("SendTransaction")["properties"]["reference"].get("x-assumed") is None
    (network,) = query_parameters(next(row for row in operations() if row.name == "get_network_stats"), components)
    assert "x-assumed" not in network["schema"]
