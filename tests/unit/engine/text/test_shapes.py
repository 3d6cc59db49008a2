"""The words used for shapes, as JSON Schema shows them."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Annotated, Any

import pytest
from pydantic import TypeAdapter
from typing_extensions import TypedDict

from simulator.engine.text import shapes
from simulator.engine.text.shapes import Assumed, Format, OneOf, Pagination, Prefix
from simulator.kernel.clock import format_timestamp
from simulator.kernel.ids import Streams
from simulator.kernel.money import Currency
from simulator.kernel.store import Store


def schema(shape: Any) -> dict[str, Any]:
    return TypeAdapter(shape).json_schema()


def test_assumed_parts_name_their_decision() -> None:
    class Lamp(TypedDict):
        id: str
        colour: Annotated[str, Assumed("R7")]

    assert schema(Lamp)["properties"] == {
        "id": {"title": "Id", "type": "string"},
        "colour": {"title": "Colour", "type": "string", "x-provenance": "assumed", "x-basis": "R7"},
    }


def test_a_whole_type_may_be_assumed() -> None:
    assert schema(Annotated[int, Assumed("H19")]) == {"type": "integer", "x-provenance": "assumed", "x-basis": "H19"}


def test_an_id_has_its_prefix_as_a_pattern() -> None:
    pattern = schema(Annotated[str, Prefix("txn_")])["pattern"]
    store = Store()
    with store.change():
        assert re.search(pattern, Streams(store, 1).identifier("txn_", "ids"))
    for wrong in ("qt_0k3", "txn_", "xtxn_0k3", "txn_0 k3"):
        assert not re.search(pattern, wrong)


def test_a_choice_is_an_enum() -> None:
    assert schema(Annotated[str, OneOf(("a", "b"))]) == {"type": "string", "enum": ["a", "b"]}


def test_a_format_shows_only_the_given_values() -> None:
    assert schema(Annotated[str, Format("uri")]) == {"type": "string", "format": "uri"}
    assert schema(Annotated[str, Format(pattern="^a$")]) == {"type": "string", "pattern": "^a$"}
    assert schema(Annotated[str, Format()]) == {"type": "string"}


@pytest.mark.parametrize(
    ("shape", "good", "bad"),
    [
        (shapes.Timestamp, [format_timestamp(0), "2026-01-05T08:00:00.000Z"], ["2026-01-05T08:00:00Z", "2026-01-05"]),
        (shapes.Date, ["2026-01-05"], ["2026-1-5", "2026-01-05T08:00:00.000Z"]),
        (
            shapes.AmountText,
            ["0.00", "5000.00", "0.00000001", Currency("INK", 7, "south").format(Decimal(3))],
            ["5", "5.1", "-5.00", "5,00", "1e3", "0." + "1" * 19],
        ),
        (shapes.RateText, ["129.5", "130", "0.007722007722"], ["1e3", "-1", "1.", ".5"]),
        (shapes.Uuid, ["00000000-0000-4000-8000-00000000000a"], ["0000-0000", "00000000-0000-4000-8000-00000000000A"]),
    ],
)
def test_the_formats_of_the_service_fit_what_it_prints(shape: Any, good: list[str], bad: list[str]) -> None:
    pattern = schema(shape)["pattern"]
    assert all(re.search(pattern, text) for text in good)
    assert not any(re.search(pattern, text) for text in bad)


@pytest.mark.parametrize(
    ("shape", "name"), [(shapes.Timestamp, "date-time"), (shapes.Date, "date"), (shapes.Uuid, "uuid")]
)
def test_named_formats_are_named(shape: Any, name: str) -> None:
    assert schema(shape)["format"] == name


def test_an_exact_number_is_a_number_and_a_count_is_never_negative() -> None:
    assert schema(shapes.Number) == {"type": "number"}
    assert schema(shapes.Count) == {"type": "integer", "minimum": 0}


def test_pagination_has_its_four_members() -> None:
    shape = schema(Pagination)
    assert shape["required"] == ["page", "size", "total", "total_pages"]
    for member in shape["properties"].values():
        del member["title"]
    assert shape["properties"] == {
        "page": {"type": "integer", "minimum": 1},
        "size": {"type": "integer", "minimum": 1, "maximum": 100},
        "total": schema(shapes.Count),
        "total_pages": schema(shapes.Count),
    }
