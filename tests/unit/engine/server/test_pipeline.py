"""From the resource in the path to the validated body and query (decisions H2, H4 to H6)."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from simulator.engine.records.listing import Listing, ListRequest, by_field
from simulator.engine.records.origins import RequestOrigin
from simulator.engine.rows.error import ApiError, invalid, not_found
from simulator.engine.rows.operation import Call, Operation
from simulator.engine.server.pipeline import admit, no_gates, perform, validate
from simulator.engine.text.fields import Body, Text
from simulator.engine.text.json import json_text
from simulator.kernel.journal import Cause
from tests.unit.engine.rows import lamps


class Lampshade(Body):
    colour: Text
    note: Text | None = None


class Candle(Body):
    wax: Text


class Look(Body):
    type: Literal["near", "far"]
    note: Text | None = None


def operation(method: str = "POST", **members: Any) -> Operation:
    return Operation(method, "/lamps", "lamps.any", "Lamps", "Does it", lambda call: {}, **members)


def call(**members: Any) -> Call:
    return Call(lamps.make(), "practice", {}, **members)


def refusal(
    row: Operation, raw: dict[str, Any] | None = None, query: dict[str, str] | None = None, strict: bool = False
) -> tuple[str, str | None]:
    with pytest.raises(ApiError) as caught:
        validate(row, call(), raw or {}, query or {}, strict=strict)
    return caught.value.code, caught.value.param


def test_the_resource_of_the_path_is_found_first() -> None:
    asked = call()
    admit(operation(load=lambda call: f"a lamp in {call.environment}"), asked, no_gates)
    assert asked.resource == "a lamp in practice"


def test_an_operation_without_a_resource_finds_none() -> None:
    asked = call()
    admit(operation(), asked, no_gates)
    assert asked.resource is None


def test_a_resource_that_is_not_there_is_refused() -> None:
    def missing(call: Call) -> Any:
        raise not_found("lamp", "lamp_1")

    with pytest.raises(ApiError) as caught:
        admit(operation(load=missing), call(), no_gates)
    assert caught.value.status == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_a_body_is_validated_and_kept_as_sent_too(method: str) -> None:
    asked = call()
    raw = {"colour": "red", "note": None}
    assert validate(operation(method, body=lambda: Lampshade), asked, raw, {}, strict=True) == []
    assert asked.body.colour == "red"
    assert asked.raw == raw


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_the_other_methods_take_no_body(method: str) -> None:
    asked = call()
    row = operation(method, body=lambda: Lampshade)
    assert not row.takes_body
    assert validate(row, asked, {"colour": 5}, {}, strict=True) == []
    assert (asked.body, asked.raw) == (None, {})


def test_missing_and_malformed_fields_are_refused() -> None:
    row = operation(body=lambda: Lampshade)
    assert refusal(row) == ("missing_parameter", "colour")
    assert refusal(row, {"colour": 5}) == ("invalid_parameter", "colour")


def test_null_is_a_value_in_a_patch_and_an_absence_elsewhere() -> None:
    assert refusal(operation("PATCH", body=lambda: Lampshade), {"colour": None}) == ("invalid_parameter", "colour")
    assert refusal(operation("PUT", body=lambda: Lampshade), {"colour": None}) == ("missing_parameter", "colour")


def test_operation_may_have_one_code_for_missing_and_malformed() -> None:
    row = operation(body=lambda: Lampshade, refuses_with="invalid_request")
    assert refusal(row) == ("invalid_request", "colour")
    asking = operation("GET", query=lambda: Look, refuses_with="invalid_request")
    assert refusal(asking) == ("invalid_request", "type")
    assert refusal(asking, query={"type": "there"}) == ("invalid_request", "type")


def test_the_body_may_depend_on_what_was_sent() -> None:
    row = operation(
        bodies=lambda: (Lampshade, Candle), body_for=lambda call: Candle if "wax" in call.raw else Lampshade
    )
    asked = call()
    validate(row, asked, {"wax": "bees"}, {}, strict=False)
    assert isinstance(asked.body, Candle)
    assert refusal(row, {"colour": 1}) == ("invalid_parameter", "colour")


def test_a_list_takes_its_parameters() -> None:
    asked = call()
    row = operation("GET", query=Listing(filters=(by_field("colour"),)))
    assert validate(row, asked, {}, {"page": "2", "colour": "red", "sort_order": "asc"}, strict=True) == []
    assert isinstance(asked.query, ListRequest)
    assert (asked.query.page, asked.query.descending) == (2, False)
    assert refusal(row, query={"page": "0"}) == ("invalid_parameter", "page")


@pytest.mark.parametrize(
    "row", [operation("GET", query=Listing()), operation("GET", query=lambda: Look), operation("GET")]
)
def test_an_empty_query_value_counts_as_absent(row: Operation) -> None:
    """Decision H6."""
    query = {"page": "", "size": "", "search": "", "start_date": "", "unheard_of": "", "note": ""}
    if callable(row.query):
        assert refusal(row, query=query | {"type": ""}) == ("missing_parameter", "type")
        query["type"] = "near"
    assert validate(row, call(), {}, query, strict=True) == []


def test_a_custom_query_is_validated() -> None:
    asked = call()
    row = operation("GET", query=lambda: Look)
    assert validate(row, asked, {}, {"type": "far"}, strict=True) == []
    assert asked.query.type == "far"
    assert refusal(row) == ("missing_parameter", "type")
    assert refusal(row, query={"type": "there"}) == ("invalid_parameter", "type")


def test_unknown_fields_and_parameters_are_named_and_ignored() -> None:
    row = operation(body=lambda: Lampshade)
    raw = {"colour": "red", "age": 5, "Colour": "x"}
    assert validate(row, call(), raw, {"page": "1"}, strict=False) == ["age", "Colour", "page"]
    assert validate(operation("GET", query=Listing()), call(), {}, {"sise": "5"}, strict=False) == ["sise"]
    assert validate(operation("GET", query=lambda: Look), call(), {}, {"type": "far", "x": "1"}, strict=False) == ["x"]
    assert validate(operation("GET"), call(), {}, {"x": "1", "y": "2"}, strict=False) == ["x", "y"]


@pytest.mark.parametrize(
    ("row", "raw", "query", "param"),
    [
        (operation(body=lambda: Lampshade), {"colour": "red", "age": 5, "size": 1}, {}, "age"),
        (operation(body=lambda: Lampshade), {"colour": "red"}, {"page": "1"}, "page"),
        (operation("GET", query=Listing()), {}, {"sise": "5"}, "sise"),
        (operation("GET", query=lambda: Look), {}, {"type": "far", "x": "1"}, "x"),
        (operation("DELETE"), {}, {"x": "1"}, "x"),
        (operation(body=lambda: Lampshade, refuses_with="invalid_request"), {"colour": "red", "age": 5}, {}, "age"),
    ],
)
def test_a_strict_world_refuses_them(row: Operation, raw: dict[str, Any], query: dict[str, str], param: str) -> None:
    assert refusal(row, raw, query, strict=True) == ("invalid_parameter", param)


def test_malformed_values_are_reported_before_unknown_ones() -> None:
    assert refusal(operation(body=lambda: Lampshade), {"colour": 5, "age": 5}, strict=True) == (
        "invalid_parameter",
        "colour",
    )


def test_an_operation_may_check_several_fields_together() -> None:
    def check(call: Call) -> None:
        if call.body.colour == call.body.note:
            raise invalid("note", "it repeats the colour")

    row = operation(body=lambda: Lampshade, check=check)
    assert validate(row, call(), {"colour": "red", "note": "warm"}, {}, strict=True) == []
    assert refusal(row, {"colour": "red", "note": "red"}) == ("invalid_parameter", "note")
    assert refusal(row, {"colour": "red", "note": "red", "age": 5}, strict=True) == ("invalid_parameter", "note")


def test_gates_come_before_everything_and_a_refusal_changes_nothing() -> None:
    seen: list[str] = []

    def closed(row: Operation, asked: Call) -> None:
        seen.append("gate")
        raise ApiError("forbidden", "No.")

    row = operation(load=lambda call: seen.append("load"), body=lambda: Lampshade)
    with pytest.raises(ApiError) as caught:
        perform(row, call(), {}, cause=Cause("request", "x"), gates=closed)
    assert (caught.value.code, seen) == ("forbidden", ["gate"])


def test_a_whole_call_is_one_change_with_its_cause_and_origin() -> None:
    asked = call()
    world = asked.world
    commits: list[Any] = []
    world.store.listen(commits.append)

    def act(asked: Call) -> Any:
        assert (world.cause, world.origin) == (
            Cause("request", "lamps.any"),
            RequestOrigin(json_text({"colour": "red"}), "slow"),
        )
        world.next_sequence("one")
        world.next_sequence("two")
        return {"colour": asked.body.colour}

    row = Operation("POST", "/lamps", "lamps.any", "Lamps", "Does it", act, body=lambda: Lampshade)
    answer = perform(row, asked, {"colour": "red"}, cause=Cause("request", "lamps.any"), scenario="slow")
    assert answer == {"colour": "red"}
    assert len(commits) == 1
