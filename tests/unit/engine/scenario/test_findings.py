"""Findings of `scenario validate`: each file has one typical mistake and gets one message."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.engine.scenario.files.loader import ScenarioError
from simulator.engine.scenario.language import field_sets
from simulator.engine.vocabulary.vocabulary import Vocabulary
from tests.unit.engine.scenario.playing import LOADER, VOCABULARY
from tests.unit.engine.scenario.shop import KINDS

OFFER = "type: buyback, network: north, asset: INK, currency: COIN, amount_currency: INK, method: post"


def found(text: str) -> list[str]:
    """Return errors and warnings as `line: message`."""
    try:
        file = LOADER.load(text)
    except ScenarioError as error:
        return [f"{one['line']}: {one['message']}" for one in [*error.errors, *error.warnings]]
    return [f"{one['line']}: {one['message']}" for one in file.warnings]


def rule(text: str) -> list[str]:
    return found(f"name: x\nrules:\n  - {{{text}}}\n")


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (
            "order.created, where: {typ: purchase}",
            "unknown field `typ` of order.created; did you mean `type`?",
        ),
        ("order.created, where: {type: purchse}", "`type` is never `purchse`; did you mean `purchase`?"),
        ("order.completed, where: {status: failed}", "`status` is never `failed` (possible: completed)"),
        (
            "order.created, where: {type: purchase, status: awaiting_parcel}",
            "`status` is never `awaiting_parcel`; did you mean `awaiting_payment`?",
        ),
        (
            "order.awaiting_parcel, where: {type: purchase}",
            "order.awaiting_parcel never applies to the type purchase; it applies only to buyback",
        ),
        ("order.created, where: {type: purchase, parcel.memo: x}", "the field `parcel` does not exist in purchase"),
        (
            "order.created, where: {type: buyback, parcel.mmo: x}",
            "there is no field `mmo` in `parcel`; did you mean `memo`?",
        ),
        ("order.created, where: {type: {ends_with: chse}}", "no value of `type` passes these tests; possible values:"),
        ("order.created, where: {type: []}", "no value can match, because the list of `type` is empty"),
        (
            "order.created, where: {type: {exists: false, starts_with: p}}",
            "`exists: false` requires that `type` is missing or null, so the other conditions never match",
        ),
        (
            "order.created, where: {source_amount: {gt: 5, lt: 4}}",
            "no number is greater than 5 and less than 4",
        ),
        (
            "order.created, where: {request.pyer.phone_number: x}",
            "there is no field `pyer` in the body of any creating request; did you mean `payer`?",
        ),
        (
            "order.created, where: {reader.detail.phone_number: x}",
            "there is no field `detail` in a reader; did you mean `details`?",
        ),
        ("order.created, where: {offer.type: purchse}", "`type` is never `purchse`; did you mean `purchase`?"),
        ("order.created, where: {offer: purchse}", "`offer` is an object; name a field of it"),
        (
            "created, where: {typ: trade}",
            "unknown field `typ` of objects created without an event; did you mean `type`?",
        ),
        ("created, where: {type: purchase}", "created never applies to the type purchase; it applies only to"),
        ("created, where: {pages: '100'}", "`pages` is a number, not a string; write it without quotes"),
        ("parcel.confirmed, where: {cost: true}", "unknown field `cost` of parcel.confirmed"),
    ],
)
def test_impossible_where_is_found(where: str, message: str) -> None:
    (one,) = rule(f"on: {where}, do: []")
    assert one.startswith(f"3: {message}")


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("methd: POST", "a request has no field `methd`; did you mean `method`?"),
        ("method: post", "no matching call has the method `post` (possible: DELETE"),
        ("method: DELETE, path: /offers", "no matching call has the method `DELETE` (possible: POST)"),
        ("path: /offrs", "no operation matches the path `/offrs`; did you mean `/offers`?"),
        ("path: /offers, body.amuont_currency: x", "there is no field `amuont_currency` in the body of such a request"),
    ],
)
def test_impossible_request_is_found(where: str, message: str) -> None:
    (one,) = rule(f"on: request, where: {{{where}}}, answer: {{code: payment_failed}}")
    assert one.startswith(f"3: {message}")


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        (
            "on: order.completed, where: {type: purchase}, do: [{action: complete}]",
            ["3: `complete` will be skipped: the purchase is completed or refunded by then; possible actions: refund"],
        ),
        (
            "on: created, where: {type: gift, status: pending}, do: [{action: fail}, {action: complete}]",
            ["3: `complete` will be skipped: the gift is completed or failed by then; no action is possible then"],
        ),
        ("on: order.processing, do: [{after: 5s, action: complete}, {after: 1m, action: refund}]", []),
        ("on: order.awaiting_payment, do: [{action: payment_arrives}, {action: payment_declined}]", []),
        ("on: shelf.created, do: [{action: parcel_arrives, asset: INK, amount: '5'}]", []),
        ("on: order.failed, probability: 0, do: []", ["3: with a probability of 0 this rule never fires"]),
    ],
)
def test_illegal_step_is_found(text: str, messages: list[str]) -> None:
    assert rule(text) == messages


@pytest.mark.parametrize(
    ("first", "second", "dead"),
    [
        ("on: order.created", "on: order.created, where: {type: purchase}", True),
        (
            "on: order.created, where: {type: [purchase, buyback]}",
            "on: order.created, where: {type: purchase}",
            True,
        ),
        ("on: order.created, where: {type: purchase}", "on: order.created", False),
        ("on: order.created, times: 1", "on: order.created", False),
        ("on: order.created, probability: 0.5", "on: order.created", False),
        ("on: order.created", "on: [order.created, order.failed]", False),
        ("on: order.created, where: {rate: 1}", "on: order.created, where: {rate: {gt: 1}}", False),
    ],
)
def test_unreachable_rule_is_found(first: str, second: str, dead: bool) -> None:
    messages = found(f"name: x\nrules:\n  - {{{first}, do: []}}\n  - {{{second}, do: []}}\n")
    assert [one.partition(":")[2][:60] for one in messages] == [
        " this rule never fires: rules[0] in line 3 matches first in all cases"[:60]
    ] * dead


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (f"{{{OFFER}, amount: 50}}", "the call will be refused: `amount` must be a string; write it in quotes: '50'"),
        (f"{{{OFFER}}}", "the call will be refused: it needs amount"),
        (f"{{{OFFER}, amount: '50', amout: 1}}", "the call ignores `amout`; it has the fields type, network"),
        (f"{{{OFFER}, amount: '50'}}", None),
        (f"{{{OFFER}, amount: '${{world.seed}}'}}", None),
    ],
)
def test_invalid_body_of_a_call_is_found(body: str, message: str | None) -> None:
    messages = found(f"name: x\ndrive:\n  - offer: {{post: /offers, body: {body}}}\n")
    assert messages == [] if message is None else messages[0].startswith(f"3: {message}")


DRIVEN = f"""name: x
drive:
  - offer: {{post: /offers, body: {{{OFFER}, amount: "50"}}}}
expect:
"""


@pytest.mark.parametrize(
    ("expectation", "message"),
    [
        ('resource: "${offer.id}", where: {status: done}', "`status` is never `done`"),
        ('resource: "order-1", where: {status: done}', "`status` is never `done`; did you mean"),
        (
            'resource: "${offer.id}", where: {sttus: active}',
            "there is no field `sttus` in this resource; did you mean `status`?",
        ),
        (
            "answer: offer, where: {typ: x}",
            "there is no field `typ` in the response to POST /offers; did you mean `type`?",
        ),
        ("delivery: order.created, where: {status: delivered}", "`status` is never `delivered`"),
        (
            "delivery: order.created, where: {statsu: failed}",
            "there is no field `statsu` in a delivery; did you mean",
        ),
        ("event: order.completed, where: {status: failed}", "`status` is never `failed` (possible: completed)"),
        ('answer: offer, where: {cost.total: "1", expires_at: {exists: true}}', None),
    ],
)
def test_impossible_expectation_is_found(expectation: str, message: str | None) -> None:
    messages = found(f"{DRIVEN}  - {{{expectation}}}\n")
    assert messages == [] if message is None else messages[0].startswith(f"5: {message}")


def test_values_added_by_a_fault_can_be_expected() -> None:
    fault = "faults: [{match: {path: /offers}, unknown_enum: status}]\n"
    assert found(f"{DRIVEN}  - {{answer: offer, where: {{status: something_new}}}}\n{fault}") == []


def test_copies_next_to_deliver_is_one_finding() -> None:
    messages = found("name: x\nfaults:\n  - {webhook: {event: order.created}, copies: 2}\n")
    assert messages == ["3: `copies` belongs inside `deliver`"]


def check_example(vocabulary: Vocabulary, name: str) -> None:
    """The fields of a kind contain all fields of its example."""
    kind = vocabulary.kinds[name]

    def names(value: Any, fields: field_sets.FieldSet, at: str) -> None:
        if fields.is_open or not isinstance(value, dict):
            return
        for name, inner in value.items():
            assert name in fields.names, f"{at}.{name}"
            names(inner, fields.names[name], f"{at}.{name}")

    assert kind.example()
    names(kind.example(), field_sets.of_kind(vocabulary, name), name)


@pytest.mark.parametrize("name", KINDS)
def test_field_sets_contain_all_fields_of_examples(name: str) -> None:
    check_example(VOCABULARY, name)
