"""The contract is complete: every operation, status, code and field has a provenance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from contracts.generator.assumptions import all_assumptions
from contracts.generator.errors import codes_of
from contracts.generator.evidence import ObservedCall
from contracts.generator.links import LINKS
from contracts.generator.openapi import make_components, operations
from contracts.generator.provenance import clauses_of
from simulator.contract.files import followed, operations_of
from simulator.host import vocabulary
from simulator.providers.ramp.provider import ROOMS
from tests.contract_judge import ContractJudge
from tests.support import QUOTE

ROWS = {row.name: row for row in operations()}


def test_every_operation_of_the_table_is_in_the_contract(document: dict[str, Any]) -> None:
    shown = {(method, path): operation["operationId"] for method, path, operation in operations_of(document)}
    assert shown == {(row.method, row.path): row.name for row in ROWS.values()}


def test_every_event_type_is_a_webhook_with_its_signature_headers(document: dict[str, Any]) -> None:
    assert list(document["webhooks"]) == list(vocabulary().events)
    for item in document["webhooks"].values():
        references = [parameter["$ref"].rpartition("/")[2] for parameter in item["post"]["parameters"]]
        assert references == ["XSignature", "XTimestamp"]
        assert item["post"]["requestBody"]["content"]["application/json"]["examples"]


@pytest.mark.parametrize("name", ROWS)
def test_operation_has_examples_of_response_and_body(name: str, document: dict[str, Any]) -> None:
    row = ROWS[name]
    operation = document["paths"][row.path][row.method.lower()]
    if row.answer is not None:
        assert operation["responses"][str(row.status)]["content"]["application/json"]["examples"]
    if operation.get("requestBody", {}).get("required"):
        assert operation["requestBody"]["content"]["application/json"]["examples"]


@pytest.mark.parametrize("name", ROWS)
def test_operation_declares_exactly_its_statuses_and_codes(name: str, strict: dict[str, Any]) -> None:
    row = ROWS[name]
    responses = strict["paths"][row.path][row.method.lower()]["responses"]
    declared = {}
    for status, response in responses.items():
        response = followed(strict, response)
        assert "X-Request-Id" in response["headers"]
        if int(status) >= 400:
            envelope, narrowed = response["content"]["application/json"]["schema"]["allOf"]
            assert envelope == {"$ref": "#/components/schemas/Error"}
            declared[int(status)] = narrowed["properties"]["error"]["properties"]["code"]["enum"]
            assert list(response["x-codes"]) == declared[int(status)]
    assert declared == codes_of(row)
    assert set(responses) == {str(row.status), *(str(status) for status in declared)}
    assert {vocabulary().errors[code].status for code in row.errors} <= declared.keys()


@pytest.mark.parametrize("name", ROWS)
def test_every_operation_can_refuse_unknown_names(name: str) -> None:
    assert "invalid_parameter" in codes_of(ROWS[name])[400]  # with the setting strict


def test_every_part_has_a_provenance(document: dict[str, Any]) -> None:
    unmarked = [place for place, part in _parts(document) if part.get("x-provenance") not in ("specified", "assumed")]
    assert unmarked == []


def test_every_assumption_is_explained(document: dict[str, Any]) -> None:
    known = {entry.id for entry in all_assumptions()}
    assert len(known) == len(all_assumptions())
    named = {str(part.get("x-basis")) for _, part in _parts(document) if part["x-provenance"] == "assumed"}
    assert named - known == set()


def test_every_clause_describes_a_shape() -> None:
    assert clauses_of(ROOMS).keys() <= make_components(operations()).schemas.keys()


def test_strict_responses_are_closed_and_requests_open(strict: dict[str, Any]) -> None:
    schemas = strict["components"]["schemas"]
    assert schemas["RampQuote"]["additionalProperties"] is False
    assert "additionalProperties" not in schemas["CreateWebhookRequest"]


def test_open_responses_can_grow_and_have_no_assumed_form(document: dict[str, Any], strict: dict[str, Any]) -> None:
    quote, guessed = (form["components"]["schemas"]["RampQuote"] for form in (document, strict))
    assert quote["additionalProperties"] is True
    assert quote["properties"]["id"]["pattern"] == guessed["properties"]["id"]["pattern"]  # this one is promised
    assert guessed["properties"]["rate"]["x-assumed"] == ["pattern"]
    assert quote["properties"]["rate"].keys().isdisjoint({"pattern", "x-assumed", "x-assumed-basis"})


def test_links_name_existing_operations_and_parameters() -> None:
    for link in LINKS:
        target = ROWS[link.target]
        assert link.source in ROWS
        assert all(f"{{{name}}}" in target.path for name in link.parameters), link


def test_references_resolve_and_no_schema_is_unused(document: dict[str, Any]) -> None:
    references = set(_references(document))
    for reference in references:
        followed(document, {"$ref": reference})
    for kind, named in document["components"].items():
        if kind != "securitySchemes":
            assert {f"#/components/{kind}/{name}" for name in named} <= references


def test_accepted_request_bodies_match_the_contract(calls: Sequence[ObservedCall], judge: ContractJudge) -> None:
    accepted = [call for call in calls if call.status < 300 and call.body is not None]
    assert {call.operation for call in accepted} >= {"create_quote", "confirm_quote", "calculate_fee", "send"}
    assert [finding for call in accepted for finding in judge.request(call.method, call.path, call.body)] == []


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/quotes", {"network": "stellar", "asset": "CELO"}),
        ("/quotes", {"amount_currency": "NGN"}),
        ("/quotes", {"amount": "1.123"}),
        ("/quotes", {"amount": 5000}),
        ("/quotes", {"fiat_currency": "ZAR", "amount_currency": "ZAR"}),
    ],
)
def test_inconsistent_request_bodies_do_not_match(path: str, body: dict[str, Any], judge: ContractJudge) -> None:
    good = QUOTE | {"network": "stellar"}
    assert judge.request("POST", path, good) == []
    assert judge.request("POST", path, {**good, **body})


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        if isinstance(value.get("mapping"), dict):
            yield from value["mapping"].values()
        for name, member in value.items():
            if name not in ("examples", "example"):
                yield from _references(member)
    elif isinstance(value, list):
        for item in value:
            yield from _references(item)


def _parts(document: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every operation, status, parameter, header, field and error code, with its place."""
    for method, path, operation in operations_of(document):
        yield f"{method} {path}", operation
        for parameter in operation.get("parameters", ()):
            yield f"{method} {path} {parameter}", followed(document, parameter)
        for status, response in operation["responses"].items():
            response = followed(document, response)
            yield f"{method} {path} {status}", response
            for name, header in response.get("headers", {}).items():
                yield f"{method} {path} {status} {name}", followed(document, header)
    for name, item in document["webhooks"].items():
        yield name, item["post"]
    yield from _fields(document["components"]["schemas"], "schemas")
    yield from _fields(document["paths"], "paths")


def _fields(value: Any, place: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        properties = value.get("properties")
        if isinstance(properties, dict) and "allOf" not in place:
            for name, member in properties.items():
                yield f"{place}/{name}", member
        for code, about in value.get("x-codes", {}).items() if isinstance(value.get("x-codes"), dict) else ():
            yield f"{place}/{code}", about
        for name, member in value.items():
            if name not in ("examples", "example", "x-codes"):
                yield from _fields(member, f"{place}/{name}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _fields(item, f"{place}/{index}")
