"""Faults in responses: their path, and whether the specification covers it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from simulator.conformance.shapes import ShapeJudge

FEE = {
    "type": "object",
    "properties": {"total": {"type": "string", "x-provenance": "specified", "x-basis": "Fee"}},
    "required": ["total"],
}
A = {
    "type": "object",
    "additionalProperties": False,
    "required": ["type", "name", "fee", "rows"],
    "properties": {
        "type": {"const": "a", "x-provenance": "specified", "x-basis": "A"},
        "name": {
            "type": ["string", "null"], "pattern": "^n", "x-provenance": "specified", "x-basis": "A",
            "x-assumed": ["pattern", "nullable"], "x-assumed-basis": {"pattern": "H8", "nullable": "H9"},
        },
        "fee": {"$ref": "#/components/schemas/Fee"},
        "rows": {"type": "array", "items": {"type": "object", "properties": {"n": {
            "type": "integer", "minimum": 1, "x-provenance": "assumed", "x-basis": "R1"}}}},
    },
}  # fmt: skip
B = {"type": "object", "required": ["type", "other"], "properties": {"type": {"const": "b"}}}
ANSWER = {
    "headers": {"X-Request-Id": {"required": True, "x-provenance": "assumed", "x-basis": "H11"}},
    "content": {"application/json": {"schema": {"anyOf": [{"$ref": "#/components/schemas/A"},
                                                          {"$ref": "#/components/schemas/B"}]}}},
}  # fmt: skip
CONTRACT: dict[str, Any] = {
    "paths": {"/things/{id}": {"get": {"responses": {"200": ANSWER, "204": {"description": "Gone."}}}}},
    "components": {"schemas": {"A": A, "B": B, "Fee": FEE}},
}
GOOD: dict[str, Any] = {"type": "a", "name": "n1", "fee": {"total": "1"}, "rows": [{"n": 1}]}
HEADERS = {"content-type": "application/json", "x-request-id": "req_1"}


def faults(body: Any, status: int = 200, headers: dict[str, str] = HEADERS) -> list[tuple[str, str, bool, str]]:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    found = ShapeJudge(CONTRACT).faults("GET /things/{id}", status, headers, raw)
    return [(fault.word, fault.place, fault.promise, fault.basis) for fault in found]


def test_a_valid_response_has_no_faults() -> None:
    assert faults(GOOD) == []
    assert faults(b"", 204) == []


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"fee": {}}, ("required", "fee.total", True, "Fee")),
        ({"fee": {"total": 1}}, ("type", "fee.total", True, "Fee")),
        ({"name": "x"}, ("pattern", "name", False, "H8")),
        ({"name": 1}, ("type", "name", True, "A")),
        ({"rows": [{"n": 1}, {"n": 0}]}, ("bounds", "rows[].n", False, "R1")),
        ({"more": 1}, ("closed", "more", False, "the strict contract")),
    ],
)
def test_a_fault_has_a_place_and_a_provenance(changed: dict[str, Any], fault: Any) -> None:
    assert faults({**GOOD, **changed}) == [fault]


def test_a_union_is_judged_by_the_named_variant() -> None:
    assert faults({"type": "b"})[0][:2] == ("required", "other")


def test_null_has_its_own_provenance() -> None:
    strict = json.loads(json.dumps(CONTRACT))
    strict["components"]["schemas"]["A"]["properties"]["name"]["type"] = "string"
    found = ShapeJudge(strict).faults("GET /things/{id}", 200, HEADERS, json.dumps({**GOOD, "name": None}).encode())
    assert [(fault.word, fault.promise, fault.basis) for fault in found] == [("type", False, "H9")]


def test_status_content_type_body_and_header_are_judged() -> None:
    assert faults(GOOD, 201)[0][:3] == ("status", "status", True)
    assert faults(b"<p>", 200)[0][:2] == ("type", "body")
    assert faults(GOOD, 200, {**HEADERS, "content-type": "text/html"})[0][:2] == ("content_type", "content_type")
    assert faults(GOOD, 200, {"content-type": "application/json"}) == [("header", "X-Request-Id", False, "H11")]
    assert faults(b"x", 204)[0][:2] == ("closed", "body")


def test_the_success_status_may_be_a_guess() -> None:
    guessing = json.loads(json.dumps(CONTRACT))
    guessing["paths"]["/things/{id}"]["get"]["responses"]["200"] |= {"x-provenance": "assumed", "x-basis": "H1"}
    judge = ShapeJudge(guessing)
    assert [fault.basis for fault in judge.faults("GET /things/{id}", 201, HEADERS, b"{}") if not fault.promise] == [
        "H1"
    ]
    assert [fault.promise for fault in judge.faults("GET /things/{id}", 418, HEADERS, b"{}")] == [True]


def test_an_undeclared_operation_is_not_judged() -> None:
    assert list(ShapeJudge(CONTRACT).faults("GET /others", 200, HEADERS, b"x")) == []
