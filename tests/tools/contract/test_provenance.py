"""Promises and guesses, constraint by constraint: the strict contract distinguishes them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from simulator.contract.files import followed
from tests.shipped import committed


@pytest.fixture(scope="module")
def strict() -> dict[str, Any]:
    return committed("openapi.strict.yaml")


@pytest.fixture(scope="module")
def promised() -> dict[str, Any]:
    return committed("openapi.specified.yaml")


def _codes(document: dict[str, Any], path: str, status: str) -> dict[str, str]:
    """By code of a response what it rests on: a clause, or the decision that assumes it."""
    response = document["paths"][path]["post"]["responses"][status]
    if "$ref" in response:
        response = document["components"]["responses"][response["$ref"].rpartition("/")[2]]
    return {code: about["x-basis"] for code, about in response["x-codes"].items()}


def test_field_with_an_assumed_form_is_specified(strict: dict[str, Any]) -> None:
    order, product = (strict["components"]["schemas"][name]["properties"] for name in ("Order", "FeeProduct"))
    for field, guesses in (
        (order["status"], {"enum": "S18"}),
        (order["network_id"], {"pattern": "order-ids", "nullable": "order-network"}),
        (order["created_at"], {"pattern": "H10"}),
        (product["id"], {"pattern": "R9"}),
        (product["percentage"], {"pattern": "H8"}),
    ):
        assert field["x-provenance"] == "specified"
        assert field["x-assumed-basis"] == guesses


def test_all_fields_of_listed_orders_are_assumed(strict: dict[str, Any]) -> None:
    fields = strict["components"]["schemas"]["OrderItem"]["properties"].values()
    assert {(field["x-provenance"], field["x-basis"]) for field in fields} == {("assumed", "S18")}


@pytest.mark.parametrize(
    ("path", "status", "code", "basis"),
    [
        ("/wallet/swap", "422", "slippage_exceeded", "Errors"),
        ("/wallet/send", "422", "insufficient_balance", "M12"),
        ("/quotes/{id}/confirm", "422", "beneficiary_mismatch", "Errors"),
        ("/quotes/{id}/confirm", "422", "amount_too_high", "M14"),
        ("/quotes/{id}/confirm", "403", "kyc_required", "H18"),
        ("/auth/token", "403", "production_access_required", "Errors"),
    ],
)
def test_error_code_has_a_provenance_per_operation(
    path: str, status: str, code: str, basis: str, strict: dict[str, Any], promised: dict[str, Any]
) -> None:
    assert _codes(strict, path, status)[code] == basis
    responses = promised["paths"][path]["post"]["responses"]
    assert (status in responses and code in responses[status]["x-codes"]) == (basis == "Errors")


@pytest.mark.parametrize(("shape", "member"), [("LightningDeposit", "status"), ("StellarWallet", "memo_type")])
def test_assumed_single_value_is_not_specified(
    shape: str, member: str, strict: dict[str, Any], promised: dict[str, Any]
) -> None:
    assert strict["components"]["schemas"][shape]["properties"][member]["x-assumed"] == ["enum"]
    said = promised["components"]["schemas"][shape]["properties"][member].keys()
    assert said & {"const", "enum", "x-extensible-enum", "x-enum-descriptions"} == set()


def test_every_assumption_has_one_basis(strict: dict[str, Any]) -> None:
    opened = committed("openapi.yaml")
    bases = [basis for document in (strict, opened) for about in _guesses(document) for basis in about.values()]
    assert bases
    assert [basis for basis in bases if not isinstance(basis, str)] == []


def _guesses(part: Any) -> Iterator[dict[str, Any]]:
    if isinstance(part, dict):
        if "x-assumed-basis" in part:
            yield part["x-assumed-basis"]
        part = list(part.values())
    for member in part if isinstance(part, list) else ():
        yield from _guesses(member)


def test_specified_contract_has_no_assumed_form(promised: dict[str, Any]) -> None:
    schemas = promised["components"]["schemas"]
    assert "pattern" not in schemas["RampQuote"]["properties"]["source_amount"]
    assert "pattern" not in schemas["RampQuote"]["properties"]["created_at"]
    assert schemas["RampQuote"]["properties"]["created_at"]["format"] == "date-time"
    assert schemas["RampQuote"]["properties"]["id"]["pattern"].startswith("^qt_")
    assert "failure_code" not in schemas["OnrampTransaction"]["properties"]
    assert "properties" not in schemas["OrderItem"] or schemas["OrderItem"]["properties"] == {}
    listing = promised["paths"]["/currencies"]["get"]
    assert listing.get("parameters", []) == []
    assert promised["components"]["schemas"]["CurrencyList"]["properties"] == {}
    assert "get" not in promised["paths"].get("/recurring-payments/{id}", {})


def test_code_that_only_a_setting_causes_is_assumed(strict: dict[str, Any]) -> None:
    method = {"/wallets/{id}": "get", "/profile/limits": "get", "/rates": "get", "/wallets": "get"}
    codes = {path: strict["paths"][path][method[path]]["responses"]["400"] for path in method}
    found = {path: followed(strict, one)["x-codes"]["invalid_parameter"]["x-basis"] for path, one in codes.items()}
    assert found == {"/wallets/{id}": "H6", "/profile/limits": "H6", "/rates": "H6", "/wallets": "Errors"}


def test_specified_parts_name_no_decision(strict: dict[str, Any]) -> None:
    fields = [
        (name, field, member)
        for name, schema in strict["components"]["schemas"].items()
        for field, member in schema.get("properties", {}).items()
        if member["x-provenance"] == "specified"
    ]
    assert len(fields) > 500
    decision = re.compile(r"[A-Z][0-9]+|[a-z]+(-[a-z]+)+")
    assert [place for *place, member in fields if decision.fullmatch(member["x-basis"])] == []
