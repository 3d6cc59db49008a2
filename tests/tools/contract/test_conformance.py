"""All responses and events match the contract, and deviations are detected."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import pytest

from contracts.generator.evidence import ObservedCall
from contracts.generator.openapi import operations
from simulator.engine.text.json import JsonObject
from simulator.host import vocabulary
from tests.contract_judge import ContractJudge
from tests.shipped import shown

Calls = Sequence[ObservedCall]
Events = Sequence[JsonObject]


def _judged(judge: ContractJudge, call: ObservedCall) -> list[str]:
    found = judge.answer(call.method, call.path, call.status, call.headers, call.answer)
    return [str(finding) for finding in found]


def test_every_response_matches_the_contract(calls: Calls, judge: ContractJudge) -> None:
    """Decision H19: the schemas are closed, so an answer has the specified and assumed fields and nothing else."""
    assert [finding for call in calls for finding in _judged(judge, call)] == []


def test_every_event_matches_the_contract(events: Events, judge: ContractJudge) -> None:
    assert [str(finding) for event in events for finding in judge.event(event)] == []


def test_every_operation_succeeded_and_every_event_type_was_seen(calls: Calls, events: Events) -> None:
    succeeded = {call.operation for call in calls if call.status < 400}
    assert {row.name for row in operations()} - succeeded == set()
    assert set(vocabulary().events) - {event["type"] for event in events} == set()


CREATES = {
    *("create_quote", "confirm_quote", "create_beneficiary", "create_wallet", "create_lightning_entry", "send"),
    *("quote_swap", "swap", "quote_buy", "buy", "quote_withdraw", "withdraw"),
    *("create_recurring_payment", "create_webhook"),
}


def test_success_is_201_for_creation_204_for_deletion_else_200(calls: Calls) -> None:
    """Decision H1."""
    answered = {call.operation: (call.status, call.answer is None) for call in calls if call.status < 400}
    assert answered == {
        row.name: (204, True) if row.method == "DELETE" else (201 if row.name in CREATES else 200, False)
        for row in operations()
    }


def test_every_list_returns_data_and_pagination(calls: Calls) -> None:
    """Decision L6."""
    lists = {row.name for row in operations() if row.name.startswith("list_")}
    shown = [call for call in calls if call.operation in lists and call.status == 200]
    assert {call.operation for call in shown} == lists
    assert {tuple(call.answer) for call in shown} == {("data", "pagination")}


def test_undeclared_method_returns_405() -> None:
    """Decision H3."""
    outside = {(call.method, call.path): call for one in shown().values() for call in one.calls if not call.operation}
    refused = outside["DELETE", "/profile"]
    assert (refused.status, refused.code, refused.headers["allow"]) == (405, "invalid_request", "GET, PATCH, HEAD")


@pytest.fixture
def quote(calls: Calls) -> ObservedCall:
    return next(call for call in calls if (call.operation, call.status) == ("create_quote", 201))


def _findings(judge: ContractJudge, call: ObservedCall, **changes: Any) -> list[str]:
    parts = {"status": call.status, "headers": call.headers, "body": call.answer, **changes}
    return [
        finding.message
        for finding in judge.answer(call.method, call.path, parts["status"], parts["headers"], parts["body"])
    ]


def test_undeclared_status_is_reported(judge: ContractJudge, quote: ObservedCall) -> None:
    assert _findings(judge, quote, status=202) == ["this status is not declared"]


def test_undeclared_field_is_reported(judge: ContractJudge, quote: ObservedCall) -> None:
    (message,) = _findings(judge, quote, body={**quote.answer, "surprise": 1})
    assert "surprise" in message


def test_missing_field_is_reported(judge: ContractJudge, quote: ObservedCall) -> None:
    without = {name: value for name, value in quote.answer.items() if name != "rate"}
    (message,) = _findings(judge, quote, body=without)
    assert "rate" in message


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("id", "q_1"),
        ("rate", 130.5),
        ("source_amount", "5000"),
        ("status", "open"),
        ("expires_at", "2026-01-05T08:30:00Z"),
        ("asset", None),
        ("network", "STELLAR"),
    ],
)
def test_malformed_value_is_reported(name: str, value: Any, judge: ContractJudge, quote: ObservedCall) -> None:
    messages = _findings(judge, quote, body={**quote.answer, name: value})
    assert messages
    assert all(message.startswith(f"{name}: ") for message in messages)


def test_missing_or_malformed_header_is_reported(judge: ContractJudge, quote: ObservedCall) -> None:
    assert _findings(judge, quote, headers={}) == ["the header X-Request-Id is missing"]
    (message,) = _findings(judge, quote, headers={**quote.headers, "x-request-id": "7"})
    assert message.startswith("header X-Request-Id: ")


def test_undeclared_error_code_is_reported(judge: ContractJudge, calls: Calls) -> None:
    refused = next(call for call in calls if (call.operation, call.status) == ("create_quote", 422))
    body = copy.deepcopy(refused.answer)
    body["error"]["code"] = "slippage_exceeded"
    (message,) = _findings(judge, refused, body=body)
    assert message.startswith("error/code: ")


def test_unexpected_or_missing_body_is_reported(judge: ContractJudge, calls: Calls) -> None:
    deleted = next(call for call in calls if (call.operation, call.status) == ("delete_beneficiary", 204))
    assert _findings(judge, deleted) == []
    assert _findings(judge, deleted, body={}) == ["a body, where there is to be none"]
    shown = next(call for call in calls if (call.operation, call.status) == ("get_profile", 200))
    assert _findings(judge, shown, body=None) == ["no body"]


def test_operation_outside_the_contract_is_reported(judge: ContractJudge) -> None:
    (finding,) = judge.answer("GET", "/nowhere", 200, {}, {})
    assert str(finding) == "GET /nowhere 200: the contract has no such operation"
    assert judge.request("GET", "/nowhere", {}) == []


def test_event_that_differs_from_the_contract_is_reported(judge: ContractJudge, events: Events) -> None:
    created = copy.deepcopy(next(event for event in events if event["type"] == "transaction.created"))
    assert judge.event(created) == []
    created["data"]["object"]["status"] = "completed"
    assert judge.event(created)
    (finding,) = judge.event({"type": "transaction.paid"})
    assert finding.message == "the contract has no such event type"
    assert judge.event(None)


def test_named_schema_works_on_its_own(judge: ContractJudge, quote: ObservedCall) -> None:
    assert judge.named("RampQuote", quote.answer) == []
    assert judge.named("PhoneNumberBeneficiary", quote.answer)


def test_calls_fail_against_a_broken_contract(strict: dict[str, Any], calls: Calls, events: Events) -> None:
    broken = copy.deepcopy(strict)
    del broken["components"]["schemas"]["RampQuote"]["properties"]["rate"]
    del broken["paths"]["/profile"]["get"]["responses"]["401"]
    broken["webhooks"].pop("quote.expired")
    judge = ContractJudge(broken)
    answers = {call.operation for call in calls if _judged(judge, call)}
    assert answers == {"create_quote", "get_quote", "get_profile"}
    assert {event["type"] for event in events if judge.event(event)} == {"quote.expired"}
