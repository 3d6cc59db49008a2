"""Request fields: missing before malformed, dotted names, strict types (decisions H4 to H7)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from simulator.engine.rows.error import ApiError
from simulator.engine.text.fields import Amount, Body, FreeText, Nothing, Text, dotted, parse, unknown_fields


class Payer(Body):
    name: Text
    phone_number: Text | None = None


class Order(Body):
    kind: Literal["big", "small"]
    payer: Payer
    tags: list[Text] = Field(default_factory=list)
    note: FreeText | None = None
    count: Annotated[int, Field(ge=1)] | None = None
    urgent: bool = False


class Change(Body):
    label: Text | None = None
    status: Literal["on", "off"] = "on"
    payer: Payer | None = None


class Priced(Body):
    amount: Amount


GOOD: dict[str, Any] = {"kind": "big", "payer": {"name": "Amina"}}


def refusal(model: type[Body], raw: dict[str, Any], **options: Any) -> tuple[str, str | None]:
    with pytest.raises(ApiError) as caught:
        parse(model, raw, **options)
    assert caught.value.status == 400
    assert f"`{caught.value.param}`" in caught.value.message
    return caught.value.code, caught.value.param


def test_a_good_body_has_its_values_and_defaults() -> None:
    body = parse(Order, GOOD)
    assert (body.kind, body.payer.name, body.payer.phone_number, body.tags, body.note) == (
        "big",
        "Amina",
        None,
        [],
        None,
    )


def test_a_body_is_never_edited() -> None:
    body = parse(Order, GOOD)
    with pytest.raises(ValueError, match="frozen"):
        body.kind = "small"  # type: ignore[misc]  # frozen, as a type checker sees, too


@pytest.mark.parametrize(
    ("raw", "param"),
    [
        ({"payer": {"name": "A"}}, "kind"),
        ({"kind": "big"}, "payer"),
        ({}, "kind"),
        ({"kind": "big", "payer": {}}, "payer.name"),
        ({"kind": None, "payer": {"name": "A"}}, "kind"),
        ({"kind": "big", "payer": None}, "payer"),
        ({"kind": "big", "payer": {"name": None}}, "payer.name"),
    ],
)
def test_absent_or_null_required_field_is_missing_by_dotted_name(raw: dict[str, Any], param: str) -> None:
    """Decision H4: absent or null is missing, an absent object names itself."""
    assert refusal(Order, raw) == ("missing_parameter", param)


@pytest.mark.parametrize(
    ("changes", "param"),
    [
        ({"kind": "huge"}, "kind"),
        ({"kind": 1}, "kind"),
        ({"kind": ""}, "kind"),
        ({"kind": "BIG"}, "kind"),
        ({"payer": "Amina"}, "payer"),
        ({"payer": []}, "payer"),
        ({"payer": {"name": ""}}, "payer.name"),
        ({"payer": {"name": 5}}, "payer.name"),
        ({"payer": {"name": "A\x00"}}, "payer.name"),
        ({"payer": {"name": "A", "phone_number": ""}}, "payer.phone_number"),
        ({"payer": {"name": "A", "phone_number": 254}}, "payer.phone_number"),
        ({"tags": "a"}, "tags"),
        ({"tags": {"a": 1}}, "tags"),
        ({"tags": ["a", 1]}, "tags"),
        ({"tags": ["a", None]}, "tags"),
        ({"tags": [""]}, "tags"),
        ({"note": "\x00"}, "note"),
        ({"note": 1}, "note"),
        ({"count": 0}, "count"),
        ({"count": "1"}, "count"),
        ({"count": 1.5}, "count"),
        ({"count": True}, "count"),
        ({"urgent": "true"}, "urgent"),
        ({"urgent": 1}, "urgent"),
    ],
)
def test_malformed_value_is_named_by_its_dotted_path(changes: dict[str, Any], param: str) -> None:
    """Decision H5: dotted `param`, an array's own name for its items; codes are compared exactly."""
    assert refusal(Order, GOOD | changes) == ("invalid_parameter", param)


def test_missing_fields_are_reported_before_malformed_ones() -> None:
    assert refusal(Order, {"kind": "huge", "payer": {}}) == ("missing_parameter", "payer.name")
    assert refusal(Order, {"kind": "huge"}) == ("missing_parameter", "payer")
    assert refusal(Order, GOOD | {"kind": "huge", "payer": {"name": None}}) == ("missing_parameter", "payer.name")


def test_the_first_of_several_malformed_values_is_named() -> None:
    assert refusal(Order, GOOD | {"kind": "huge", "count": 0}) == ("invalid_parameter", "kind")


@pytest.mark.parametrize("name", ["note", "count"])
def test_null_in_an_optional_field_is_its_absence(name: str) -> None:
    """Decision H4: null in an optional field is its absence."""
    assert getattr(parse(Order, GOOD | {name: None}), name) is None


def test_an_optional_text_may_be_empty_where_it_is_free() -> None:
    assert parse(Order, GOOD | {"note": ""}).note == ""


def test_patch_accepts_null_only_for_nullable_fields() -> None:
    """Decision H4: in PATCH null is a value."""
    assert parse(Change, {"label": None}, patch=True).label is None
    assert "label" in parse(Change, {"label": None}, patch=True).model_fields_set
    assert refusal(Change, {"status": None}, patch=True) == ("invalid_parameter", "status")
    assert refusal(Change, {"payer": {"name": None}}, patch=True) == ("invalid_parameter", "payer.name")
    assert refusal(Change, {"payer": {}}, patch=True) == ("missing_parameter", "payer.name")


def test_one_code_has_two_meanings_if_the_specification_says_so() -> None:
    """Decisions H4 and H5: `invalid_request` stands for both."""
    assert refusal(Order, {}, code="invalid_request") == ("invalid_request", "kind")
    assert refusal(Order, GOOD | {"kind": 1}, code="invalid_request") == ("invalid_request", "kind")


def test_the_message_says_what_is_wrong_and_never_carries_a_link() -> None:
    with pytest.raises(ApiError) as caught:
        parse(Order, GOOD | {"kind": "huge"})
    assert caught.value.message == "The parameter `kind` is not valid: it must be 'big' or 'small'."
    with pytest.raises(ApiError) as caught:
        parse(Order, {})
    assert caught.value.message == "The required parameter `kind` is missing."


@pytest.mark.parametrize(
    "amount",
    ["0", "1", "1.0", "007", "0.000000000000000001", "999999999999999999", "999999999999999999.999999999999999999"],
)
def test_an_amount_is_a_string_of_digits_with_an_optional_fraction(amount: str) -> None:
    """Decision H7."""
    assert parse(Priced, {"amount": amount}).amount == amount


@pytest.mark.parametrize(
    "amount",
    [
        "",
        " ",
        " 1",
        "1 ",
        "1\n",
        "\n1",
        "+1",
        "-1",
        "1.",
        ".5",
        "1,5",
        "1_000",
        "1e3",
        "1E3",
        "0x1",
        "NaN",
        "Infinity",
        "1.1.1",
        "1234567890123456789",
        "0.1234567890123456789",
        "١٢",
        "１",
        "1\x00",
        1,
        1.5,
        True,
        [],
        ["1"],
        {},
    ],
)
def test_other_strings_are_not_amounts(amount: Any) -> None:
    """Decision H7: no number, sign, exponent or blank."""
    assert refusal(Priced, {"amount": amount}) == ("invalid_parameter", "amount")


@given(st.dictionaries(st.text(max_size=8), st.none() | st.text() | st.integers() | st.lists(st.none())))
def test_no_body_does_anything_but_pass_or_be_refused(raw: dict[str, Any]) -> None:
    for model in (Order, Change, Priced, Nothing):
        try:
            parse(model, raw)
        except ApiError as error:
            assert error.code in ("missing_parameter", "invalid_parameter")  # noqa: PT017 - either may come
            assert error.param in model.model_fields  # noqa: PT017


def test_a_dotted_name_leaves_out_the_places_in_arrays() -> None:
    assert dotted(("payer", "phones", 3, "number")) == "payer.phones.number"
    assert dotted(("tags", 0)) == "tags"
    assert dotted(("amount",)) == "amount"


def test_unknown_fields_are_kept_aside_and_named() -> None:
    body = parse(Order, GOOD | {"colour": "red", "payer": {"name": "A", "age": 5, "shoe": 43}})
    assert unknown_fields(body) == ["colour", "payer.age", "payer.shoe"]
    assert unknown_fields(parse(Order, GOOD)) == []
    assert unknown_fields(parse(Nothing, {"a": 1, "b": None})) == ["a", "b"]


def test_an_unknown_field_inside_an_absent_object_is_none() -> None:
    assert unknown_fields(parse(Change, {"payer": None})) == []


def test_a_field_with_another_name_on_the_wire_is_named_as_sent() -> None:
    class Trade(Body):
        source: Payer = Field(alias="from")

    assert refusal(Trade, {}) == ("missing_parameter", "from")
    assert refusal(Trade, {"from": {"name": 1}}) == ("invalid_parameter", "from.name")
    assert unknown_fields(parse(Trade, {"from": {"name": "A", "age": 5}})) == ["from.age"]
