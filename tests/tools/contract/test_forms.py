"""The forms of the contract: the open and the promised form accept everything that the strict form accepts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from contracts.generator.evidence import ObservedCall
from contracts.generator.forms import opened, promised
from contracts.generator.openapi import bodies_of, operations
from contracts.generator.requests.conditions import CONDITIONS
from simulator.contract.files import operations_of
from simulator.engine.text.fields import Nothing
from simulator.engine.text.json import JsonObject
from simulator.providers.ramp.transactions import QUOTE
from simulator.testing import strategies
from tests.contract_judge import ContractJudge
from tests.shipped import generated

Document = dict[str, Any]

WITH_BODY = [row for row in operations() if bodies_of(row) not in ((), (Nothing,))]
QUICK = settings(max_examples=12, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
MOST_SCHEMAS, LONGEST_NAME = 200, 60
SAYS_NOTHING = frozenset(
    {"title", "description", "default", "example", "examples", "discriminator", "$ref", "properties", "allOf", "items"}
)
BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "minLength", "maxLength", "minItems", "maxItems")
EQUAL = frozenset({"pattern", "format", *BOUNDS})
PARTLY_ASSUMED = frozenset({"Destination", "SendDestination"})
"""Unions of which not all parts are promised: the promised form has fewer than the open one."""


@pytest.fixture(scope="session")
def specified() -> Document:
    return generated("openapi.specified.yaml")


def test_open_contract_stays_within_its_size_limit(document: Document) -> None:
    names = document["components"]["schemas"]
    assert len(names) <= MOST_SCHEMAS
    assert max(map(len, names)) <= LONGEST_NAME


@pytest.mark.parametrize("form", ["document", "strict", "specified"])
def test_every_part_has_one_name_in_a_form(form: str, request: pytest.FixtureRequest) -> None:
    document = request.getfixturevalue(form)
    assert [name for name, schema in document["components"]["schemas"].items() if schema["title"] != name] == []
    calls = {tag for _, _, operation in operations_of(document) for tag in operation["tags"]}
    events = {tag for item in document["webhooks"].values() for tag in item["post"]["tags"]}
    assert events == {"Events"}
    assert calls & events == set()
    assert calls | events == {tag["name"] for tag in document["tags"]}
    assert "X-Simulator" not in repr(document)


def test_open_contract_has_no_field_that_is_always_null(document: Document) -> None:
    members = [(place, part) for place, part in _members(document, "")]
    assert members
    assert [place for place, part in members if part.get("type") == "null"] == []


def test_links_pass_parameters_only(document: Document) -> None:
    links = [
        link
        for _, _, operation in operations_of(document)
        for response in operation["responses"].values()
        for link in response.get("links", {}).values()
    ]
    assert links
    assert [link for link in links if "requestBody" in link] == []


def test_open_responses_allow_new_fields_and_values(document: Document) -> None:
    quote = document["components"]["schemas"]["RampQuote"]
    assert quote["additionalProperties"] is True
    assert "enum" not in quote["properties"]["status"]
    assert quote["properties"]["status"]["x-extensible-enum"] == list(QUOTE.rows)


def test_union_discriminators_stay_closed(document: Document) -> None:
    schemas = document["components"]["schemas"]
    unions = [schema for schema in schemas.values() if "discriminator" in schema]
    assert unions
    for union in unions:
        word, mapping = union["discriminator"]["propertyName"], union["discriminator"]["mapping"]
        for value, target in mapping.items():
            member = schemas[target.rpartition("/")[2]]
            assert value in (member["properties"][word].get("enum") or [member["properties"][word]["const"]])
            assert word in member["required"]


def test_body_is_a_flat_object_or_a_discriminated_union(document: Document) -> None:
    for _, _, operation in operations_of(document):
        if "requestBody" in operation:
            name = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
            schema = document["components"]["schemas"][name]
            assert "anyOf" not in schema
            assert "allOf" not in schema
            assert schema.get("type") == "object" or schema["discriminator"], name


def test_conditions_occur_only_in_bodies(strict: Document) -> None:
    assert CONDITIONS.keys() <= strict["components"]["schemas"].keys()


@pytest.mark.parametrize(("narrow", "wide"), [("strict", "document"), ("document", "specified")])
def test_wider_form_requires_no_more_than_narrower_form(narrow: str, wide: str, request: pytest.FixtureRequest) -> None:
    strict, open_ = (request.getfixturevalue(form)["components"]["schemas"] for form in (narrow, wide))
    assert open_.keys() <= strict.keys()
    judged = open_.keys() - (PARTLY_ASSUMED if wide == "specified" else set())
    assert [line for name in judged for line in _beyond(strict[name], open_[name], name)] == []


@pytest.mark.parametrize(
    "narrower",
    [
        {"type": "string"},
        {"type": "string", "pattern": "^b"},
        {"type": "object", "properties": {"a": {"type": "string"}}},
        {"$ref": "#/components/schemas/Other"},
    ],
)
def test_comparison_of_forms_finds_extra_requirements(narrower: Document) -> None:
    wide = {
        "type": ["string"],
        "pattern": "^a",
        "required": ["a"],
        "properties": {"a": {"type": "integer"}},
        "$ref": "#/components/schemas/One",
    }
    assert list(_beyond(narrower, wide, "x"))


@pytest.mark.parametrize("operation", [row.name for row in WITH_BODY])
def test_body_that_matches_the_strict_form_matches_all(
    operation: str, document: Document, strict: Document, specified: Document
) -> None:
    row = next(row for row in WITH_BODY if row.name == operation)
    judges = [ContractJudge(strict), ContractJudge(document)]
    promises = ContractJudge(specified)

    @QUICK
    @given(strategies.bodies(operation))
    def check(body: Any) -> None:
        assert [finding for judge in judges for finding in judge.request(row.method, row.path, body)] == []
        if not _beyond_promises(body):
            assert list(promises.request(row.method, row.path, _without_null(body))) == []

    check()


def test_scenario_traffic_matches_the_open_form(
    calls: Sequence[ObservedCall], events: Sequence[JsonObject], document: Document
) -> None:
    judge = ContractJudge(document)
    sent = [call for call in calls if call.status < 300 and call.body is not None]
    assert [finding for call in sent for finding in judge.request(call.method, call.path, call.body)] == []
    assert [finding for event in events for finding in judge.event(event)] == []
    answered = [call for call in calls if call.answer is not None]
    assert answered
    wrong = [
        finding
        for call in answered
        for finding in judge.answer(call.method, call.path, call.status, {}, call.answer)
        if "header" not in finding.message
    ]
    assert wrong == []


def test_traffic_matches_the_specified_form(
    calls: Sequence[ObservedCall], events: Sequence[JsonObject], specified: Document
) -> None:
    judge = ContractJudge(specified)
    there = [call for call in calls if judge.find(call.method, call.path)]
    sent = [call for call in there if call.status < 300 and call.body is not None and not _beyond_promises(call.body)]
    assert {call.operation for call in sent} >= {"create_quote", "send", "create_recurring_payment"}
    bodies = [(call.method, call.path, _without_null(call.body)) for call in sent]
    assert [finding for body in bodies for finding in judge.request(*body)] == []
    answered = [
        call for call in there if call.status < 300 and call.answer is not None and not _beyond_promises(call.answer)
    ]
    assert {call.operation for call in answered} >= {"create_token", "create_quote", "confirm_quote", "get_order"}
    wrong = [judge.answer(call.method, call.path, call.status, {}, call.answer) for call in answered]
    assert [finding for findings in wrong for finding in findings] == []
    assert {event["type"] for event in events} >= {"transaction.completed", "recurring_payment.activated"}
    assert [finding for event in events if not _beyond_promises(event) for finding in judge.event(event)] == []


def _beyond_promises(value: Any) -> bool:
    """Whether something goes over Lightning, which no promise says how."""
    return "'type': 'lightning'" in repr(value)


def _without_null(body: Any) -> Any:
    """A body without the fields that are null, which it may as well leave out; that it may send them is a guess."""
    if isinstance(body, dict):
        return {name: _without_null(value) for name, value in body.items() if value is not None}
    return body


def test_specified_request_fields_do_not_allow_null(document: Document, specified: Document) -> None:
    fields = [("WalletAddress", "memo"), ("BuyRequest", "payer"), ("CalculateFeeRequest", "network")]
    for name, field in fields:
        assert "null" in repr(document["components"]["schemas"][name]["properties"][field]), field
        promise = specified["components"]["schemas"][name]["properties"][field]
        assert "null" not in repr(promise), field
        assert None not in promise.get("enum", ()), field
    assert specified["components"]["schemas"]["BitcoinWallet"]["properties"]["label"]["type"] == ["string", "null"]


def test_specified_form_contains_no_assumption(specified: Document) -> None:
    marked = list(_marked(specified))
    assert len(marked) > 1000
    assert [part for part in marked if part["x-provenance"] != "specified"] == []
    assert [part for part in marked if {"x-assumed", "x-assumed-basis"} & part.keys()] == []


def test_assumed_parts_are_omitted_from_the_specified_form(document: Document, specified: Document) -> None:
    schemas = document["components"]["schemas"]
    dropped = [
        (name, field)
        for name, schema in schemas.items()
        for field, member in schema.get("properties", {}).items()
        if member.get("x-provenance") == "assumed"
    ]
    kept = specified["components"]["schemas"]
    assert dropped
    assert [place for place in dropped if place[1] in kept.get(place[0], {}).get("properties", {})] == []
    assert specified["paths"]["/quotes"]["post"]["responses"].keys() >= {"2XX", "422"}  # which 2xx is a decision


def test_forms_are_derived_from_the_strict_form(strict: Document, document: Document, specified: Document) -> None:
    assert opened(strict) == document
    assert promised(document) == specified


def _beyond(strict: Document, wide: Document, place: str) -> Iterator[str]:
    """What a schema asks for that a narrower one does not, but for null where that is a guess."""
    if "nullable" in strict.get("x-assumed", ()) and "nullable" not in wide.get("x-assumed", ()):
        strict = _never_null(strict)
    narrowed = [part for part in strict.get("allOf", ()) if "$ref" in part]
    if "$ref" in wide and wide["$ref"] not in (strict.get("$ref"), *(part["$ref"] for part in narrowed)):
        yield f"{place}: {wide['$ref']}"
    for keyword in wide.keys() - SAYS_NOTHING:
        if keyword.startswith("x-") or (keyword, wide[keyword]) == ("additionalProperties", True):
            continue
        known = keyword in strict
        if keyword == "type":
            asked, given = (
                value if isinstance(value, list) else [value] for value in (wide["type"], strict.get("type"))
            )
            held = set(given) <= set(asked)
        elif keyword in ("enum", "const"):
            values = strict.get("enum", [strict.get("const")])
            held = known and set(values) <= set(wide.get("enum", [wide.get("const")]))
        elif keyword == "required":
            held = set(wide["required"]) <= set(strict.get("required", ()))
        elif keyword in ("anyOf", "oneOf"):
            held = (known and len(strict[keyword]) <= len(wide[keyword])) or _narrowed_to(strict, wide, keyword)
        else:
            held = keyword in EQUAL and strict.get(keyword) == wide[keyword]
        if not held:
            yield f"{place}: {keyword} {wide[keyword]}"
    for name, member in wide.get("properties", {}).items():
        yield from _beyond(strict.get("properties", {}).get(name, {}), member, f"{place}/{name}")
    if wide.get("items"):
        yield from _beyond(strict.get("items", {}), wide["items"], f"{place}/items")


def _never_null(schema: Document) -> Document:
    shown = dict(schema)
    if isinstance(shown.get("type"), list):
        shown["type"] = [one for one in shown["type"] if one != "null"]
    if "enum" in shown:
        shown["enum"] = [value for value in shown["enum"] if value is not None]
    if "anyOf" in shown:
        shown |= {"allOf": [one for one in shown.pop("anyOf") if one != {"type": "null"}]}
    return shown


def _narrowed_to(strict: Document, wide: Document, keyword: str) -> bool:
    """Whether a union stands, narrowed, among the parts of the narrower schema."""
    return any(part.get(keyword) == wide[keyword] for part in strict.get("allOf", ()))


def _members(value: Any, place: str) -> Iterator[tuple[str, Document]]:
    if isinstance(value, dict):
        for name, member in value.get("properties", {}).items() if isinstance(value.get("properties"), dict) else ():
            yield f"{place}/{name}", member
        for name, member in value.items():
            if name not in ("example", "examples"):
                yield from _members(member, f"{place}/{name}")
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _members(item, f"{place}/{number}")


def _marked(value: Any) -> Iterator[Document]:
    if isinstance(value, dict):
        if "x-provenance" in value:
            yield value
        for member in value.values():
            yield from _marked(member)
    elif isinstance(value, list):
        for item in value:
            yield from _marked(item)
