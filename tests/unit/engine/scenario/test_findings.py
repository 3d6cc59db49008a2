"""Findings of `scenario validate`: each file has one typical mistake and gets one message."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.engine.scenario.files.library import Library
from simulator.engine.scenario.files.loader import Loader, ScenarioError
from simulator.engine.scenario.language import field_sets
from simulator.host import Simulator, vocabulary

LOADER = Loader(Simulator(library=Library()).vocabulary)
QUOTE = "type: offramp, network: celo, asset: USDC, fiat_currency: KES, amount_currency: USDC, method: mobile_money"


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
            "transaction.created, where: {typ: onramp}",
            "unknown field `typ` of transaction.created; did you mean `type`?",
        ),
        ("transaction.created, where: {type: onrmp}", "`type` is never `onrmp`; did you mean `onramp`?"),
        ("transaction.completed, where: {status: failed}", "`status` is never `failed` (possible: completed)"),
        (
            "transaction.created, where: {type: onramp, status: awaiting_deposit}",
            "`status` is never `awaiting_deposit`; did you mean `awaiting_payment`?",
        ),
        (
            "transaction.awaiting_deposit, where: {type: onramp}",
            "transaction.awaiting_deposit never concerns the type onramp, only offramp",
        ),
        ("transaction.created, where: {type: onramp, deposit.memo: x}", "the field `deposit` does not exist in onramp"),
        (
            "transaction.created, where: {type: offramp, deposit.mmo: x}",
            "there is no field `mmo` in `deposit`; did you mean `memo`?",
        ),
        ("transaction.created, where: {type: {ends_with: rmp}}", "`type` never passes these tests; its values are"),
        ("transaction.created, where: {type: []}", "no value can match, because the list of `type` is empty"),
        (
            "transaction.created, where: {source_amount: {gt: 5, lt: 4}}",
            "no number is above 5 and below 4",
        ),
        (
            "transaction.created, where: {request.pyer.phone_number: x}",
            "there is no field `pyer` in the body of any creating request; did you mean `payer`?",
        ),
        (
            "transaction.created, where: {beneficiary.detail.phone_number: x}",
            "there is no field `detail` in a beneficiary; did you mean `details`?",
        ),
        ("transaction.created, where: {quote.type: onrmp}", "`type` is never `onrmp`; did you mean `onramp`?"),
        ("transaction.created, where: {quote: onrmp}", "`quote` is an object; name a field of it"),
        (
            "created, where: {typ: swap}",
            "unknown field `typ` of objects created without an event; did you mean `type`?",
        ),
        ("created, where: {type: onramp}", "created never concerns the type onramp, only"),
        ("created, where: {amount_sats: '100'}", "`amount_sats` is a number, not a string; write it without quotes"),
        ("deposit.confirmed, where: {fee: true}", "unknown field `fee` of deposit.confirmed"),
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
        ("method: DELETE, path: /quotes", "no matching call has the method `DELETE` (possible: POST)"),
        ("path: /quots", "no operation matches the path `/quots`; did you mean `/quotes`?"),
        ("path: /quotes, body.amuont_currency: x", "there is no field `amuont_currency` in the body of such a request"),
    ],
)
def test_impossible_request_is_found(where: str, message: str) -> None:
    (one,) = rule(f"on: request, where: {{{where}}}, answer: {{code: payment_failed}}")
    assert one.startswith(f"3: {message}")


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        (
            "on: transaction.completed, where: {type: onramp}, do: [{action: complete}]",
            ["3: `complete` will be skipped: the onramp is completed or refunded by then, and possible then: refund"],
        ),
        (
            "on: created, where: {type: send, status: pending}, do: [{action: fail}, {action: complete}]",
            ["3: `complete` will be skipped: the send is completed or failed by then, and no action is possible then"],
        ),
        ("on: transaction.processing, do: [{after: 5s, action: complete}, {after: 1m, action: refund}]", []),
        ("on: transaction.awaiting_payment, do: [{action: payment_arrives}, {action: payment_declined}]", []),
        ("on: wallet.created, do: [{action: deposit_arrives, asset: USDC, amount: '5'}]", []),
        ("on: transaction.failed, probability: 0, do: []", ["3: with a probability of 0 this rule never fires"]),
    ],
)
def test_illegal_step_is_found(text: str, messages: list[str]) -> None:
    assert rule(text) == messages


@pytest.mark.parametrize(
    ("first", "second", "dead"),
    [
        ("on: transaction.created", "on: transaction.created, where: {type: onramp}", True),
        (
            "on: transaction.created, where: {type: [onramp, offramp]}",
            "on: transaction.created, where: {type: onramp}",
            True,
        ),
        ("on: transaction.created, where: {type: onramp}", "on: transaction.created", False),
        ("on: transaction.created, times: 1", "on: transaction.created", False),
        ("on: transaction.created, probability: 0.5", "on: transaction.created", False),
        ("on: transaction.created", "on: [transaction.created, transaction.failed]", False),
        ("on: transaction.created, where: {rate: 1}", "on: transaction.created, where: {rate: {gt: 1}}", False),
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
        (f"{{{QUOTE}, amount: 50}}", "the call will be refused: `amount` must be a string; write it in quotes: '50'"),
        (f"{{{QUOTE}}}", "the call will be refused: it needs amount"),
        (f"{{{QUOTE}, amount: '50', amout: 1}}", "the call ignores `amout`; it has the fields type, network"),
        (f"{{{QUOTE}, amount: '50'}}", None),
        (f"{{{QUOTE}, amount: '${{world.seed}}'}}", None),
    ],
)
def test_invalid_body_of_a_call_is_found(body: str, message: str | None) -> None:
    messages = found(f"name: x\ndrive:\n  - quote: {{post: /quotes, body: {body}}}\n")
    assert messages == [] if message is None else messages[0].startswith(f"3: {message}")


DRIVEN = f"""name: x
drive:
  - quote: {{post: /quotes, body: {{{QUOTE}, amount: "50"}}}}
expect:
"""


@pytest.mark.parametrize(
    ("expectation", "message"),
    [
        ('resource: "${quote.id}", where: {status: done}', "`status` is never `done`"),
        ('resource: "txn_1", where: {status: done}', "`status` is never `done`; did you mean"),
        (
            'resource: "${quote.id}", where: {sttus: active}',
            "there is no field `sttus` in this resource; did you mean `status`?",
        ),
        (
            "answer: quote, where: {typ: x}",
            "there is no field `typ` in the response to POST /quotes; did you mean `type`?",
        ),
        ("delivery: transaction.created, where: {status: delivered}", "`status` is never `delivered`"),
        (
            "delivery: transaction.created, where: {statsu: failed}",
            "there is no field `statsu` in a delivery; did you mean",
        ),
        ("event: transaction.completed, where: {status: failed}", "`status` is never `failed` (possible: completed)"),
        ('answer: quote, where: {fee.total: "1", expires_at: {exists: true}}', None),
    ],
)
def test_impossible_expectation_is_found(expectation: str, message: str | None) -> None:
    messages = found(f"{DRIVEN}  - {{{expectation}}}\n")
    assert messages == [] if message is None else messages[0].startswith(f"5: {message}")


def test_values_added_by_a_fault_can_be_expected() -> None:
    fault = "faults: [{match: {path: /quotes}, unknown_enum: status}]\n"
    assert found(f"{DRIVEN}  - {{answer: quote, where: {{status: something_new}}}}\n{fault}") == []


def test_copies_beside_deliver_is_one_finding() -> None:
    messages = found("name: x\nfaults:\n  - {webhook: {event: transaction.created}, copies: 2}\n")
    assert messages == ["3: `copies` belongs inside `deliver`"]


@pytest.mark.parametrize("name", ["onramp", "offramp", "beneficiary", "deposit", "recurring_payment", "wallet"])
def test_field_sets_contain_all_fields_of_examples(name: str) -> None:
    kind = vocabulary().kinds[name]

    def names(value: Any, fields: field_sets.FieldSet, at: str) -> None:
        if fields.is_open or not isinstance(value, dict):
            return
        for name, inner in value.items():
            assert name in fields.names, f"{at}.{name}"
            names(inner, fields.names[name], f"{at}.{name}")

    names(kind.example(), field_sets.of_kind(vocabulary(), name), name)
