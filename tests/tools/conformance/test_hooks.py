"""Changes that the hooks make to requests."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from simulator.conformance import hooks
from simulator.providers.ramp.laws import requests

PUBLIC, SECRET = "pk_test_simulator", "sk_test_simulator"


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    for known in (requests._beneficiaries, requests._quotes, requests._entries, requests._calls):
        known.clear()
    monkeypatch.setenv("RAMPSIM_PUBLIC_KEY", PUBLIC)
    monkeypatch.setenv("RAMPSIM_SECRET_KEY", SECRET)
    monkeypatch.delenv("RAMPSIM_WEBHOOK_URL", raising=False)


def call(method: str, path: str, body: Any = None, *, positive: bool = True, **more: Any) -> Any:
    """Return a case after the hook."""
    case = SimpleNamespace(
        method=method,
        path=path,
        body=body,
        headers=more.get("headers", {}),
        path_parameters=more.get("path_parameters", {}),
        query=more.get("query"),
        operation=SimpleNamespace(base_url="http://127.0.0.1:9999/v1"),
        meta=SimpleNamespace(generation=SimpleNamespace(mode=SimpleNamespace(is_positive=positive))),
    )
    hooks.before_call(None, case, {})
    return case


def answered(method: str, path: str, status: int, answer: Any = None, **path_parameters: str) -> None:
    case = SimpleNamespace(method=method, path=path, path_parameters=path_parameters)
    content = json.dumps(answer).encode() if answer is not None else b""
    hooks.after_call(None, case, SimpleNamespace(status_code=status, content=content))


def a_beneficiary(name: str = "ben_1", fiat: str | None = "KES", kind: str = "phone_number") -> None:
    answered("POST", "/beneficiaries", 201, {"id": name, "fiat_currency": fiat, "type": kind})


def a_quote(path: str, name: str, **fields: str) -> None:
    answered("POST", path, 201, {"id": name, **fields})


@pytest.mark.parametrize("limit", ["-4991", "0", "101", "x", "1.5"])
def test_a_wrong_limit_is_sent_without_size(limit: str) -> None:
    assert call("GET", "/wallets", query={"limit": limit, "size": 70}, positive=False).query == {"limit": limit}


@pytest.mark.parametrize("query", [{"limit": 5, "size": 1000}, {"limit": "x"}, {"size": 0}, {}, None])
def test_other_page_sizes_are_unchanged(query: dict[str, Any] | None) -> None:
    assert call("GET", "/wallets", query=query, positive=False).query == query


def test_a_key_is_used_once() -> None:
    keys = {call("POST", "/quotes", {}, headers={"Idempotency-Key": "same"}).headers["Idempotency-Key"] for _ in "ab"}
    assert len(keys) == 2
    assert "same" not in keys
    assert call("POST", "/quotes", {}).headers == {}


def test_an_invalid_request_is_unchanged() -> None:
    case = call("POST", "/wallet/withdraw", {"quote_id": 1}, positive=False, headers={"Idempotency-Key": ""})
    assert (case.body, case.headers) == ({"quote_id": 1}, {"Idempotency-Key": ""})


@pytest.mark.parametrize("positive", [True, False])
def test_webhooks_go_to_the_inbox(positive: bool) -> None:
    case = call("POST", "/webhooks", {"url": "https://shop.example.com", "events": []}, positive=positive)
    assert case.body == {"url": "http://127.0.0.1:9999/_simulator/inbox/conformance", "events": []}
    assert call("POST", "/webhooks", {"url": 7}, positive=positive).body == {"url": 7}


def test_webhooks_go_to_the_url_of_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAMPSIM_WEBHOOK_URL", "https://mine.example/hook")
    assert call("PATCH", "/webhooks/{id}", {"url": "https://a.example"}).body == {"url": "https://mine.example/hook"}


def test_every_second_token_request_has_the_real_pair() -> None:
    made_up = {"public_key": "pk_test_x", "secret_key": "sk_test_x"}
    bodies = [call("POST", "/auth/token", dict(made_up)).body for _ in range(3)]
    assert bodies == [
        {"public_key": PUBLIC, "secret_key": SECRET},
        made_up,
        {"public_key": PUBLIC, "secret_key": SECRET},
    ]


@pytest.mark.parametrize(
    ("body", "amount"),
    [
        ({"amount_currency": "KES"}, "5000"),
        ({"amount_currency": "fiat", "fiat_currency": "ZAR", "symbol": "USDC"}, "500"),
        ({"amount_currency": "crypto", "fiat_currency": "ZAR", "symbol": "BTC"}, "0.001"),
        ({"symbol": "CELO"}, "60"),
        ({"amount_side": "to", "from": {"symbol": "BTC"}, "to": {"symbol": "USDC"}}, "20"),
        ({"symbol": "UNKNOWN"}, "0"),
    ],
)
def test_every_second_amount_is_within_the_limits(body: dict[str, Any], amount: str) -> None:
    amounts = [call("POST", "/anything", {"amount": "0", **body}).body["amount"] for _ in "ab"]
    assert amounts == [amount, "0"]


@pytest.mark.parametrize("body", [{"amount": "0", "currency": ["KES"]}, {"amount": "0", "amount_side": {}}])
def test_a_body_of_unknown_form_is_unchanged(body: dict[str, Any]) -> None:
    assert call("POST", "/anything", dict(body)).body == body
    assert call("POST", "/wallet/withdraw/quote", dict(body)).body == body


@pytest.mark.parametrize("wrapped", [True, False], ids=["recurring", "send"])
def test_the_amount_of_an_invoice_is_unchanged(wrapped: bool) -> None:
    destination = {"destination": {"type": "lightning", "invoice": "lnbc50u1"}}
    body = {"amount": "0.00005", "amount_currency": "BTC", **({"recipient": destination} if wrapped else destination)}
    assert call("POST", "/recurring-payments", body).body == body


def test_a_withdrawal_goes_to_a_live_beneficiary_of_its_currency() -> None:
    body = {"fiat_currency": "KES", "beneficiary_id": "ben_none"}
    path = "/wallet/withdraw/quote"
    assert call("POST", path, body).body == body
    a_beneficiary("ben_ke")
    a_beneficiary("ben_tz", "TZS")
    a_beneficiary("ben_address", None, "wallet_address")
    call("POST", path, body)
    assert call("POST", path, body).body["beneficiary_id"] == "ben_ke"
    answered("DELETE", "/beneficiaries/{id}", 204, id="ben_ke")
    call("POST", path, body)
    assert call("POST", path, body).body == body


def test_a_recurring_withdrawal_goes_to_a_live_beneficiary() -> None:
    a_beneficiary()
    withdraw = {"amount_currency": "USDC", "recipient": {"beneficiary_id": "ben_none"}}
    assert call("POST", "/recurring-payments", withdraw).body["recipient"] == {"beneficiary_id": "ben_1"}
    call("POST", "/recurring-payments", withdraw)
    send = {"amount_currency": "USDC", "recipient": {"destination": {}}}
    assert call("POST", "/recurring-payments", send).body == send


def test_a_quote_is_used_once_with_the_payer_it_asks_for() -> None:
    a_quote("/wallet/buy/quote", "bq_1", method="mobile_money", fiat_currency="KES")
    a_quote("/wallet/swap/quote", "sq_1")
    assert call("POST", "/wallet/buy", {}).body == {"quote_id": "bq_1", "payer": {"phone_number": "+254712345678"}}
    assert call("POST", "/wallet/swap", {}).body == {"quote_id": "sq_1"}
    call("POST", "/wallet/swap", {})
    assert call("POST", "/wallet/swap", {"quote_id": "own"}).body == {"quote_id": "own"}


def test_a_ramp_quote_is_confirmed_with_what_its_type_asks_for() -> None:
    path = "/quotes/{id}/confirm"
    a_beneficiary()
    common = {"network": "celo", "fiat_currency": "KES"}
    a_quote("/quotes", "qt_on", type="onramp", method="bank_transfer", **common)
    onramp = call("POST", path, {"reference": "r", "beneficiary_id": "x"}, path_parameters={"id": "other"})
    assert onramp.path_parameters == {"id": "qt_on"}
    assert onramp.body.keys() == {"reference", "wallet_address", "payer"}
    assert onramp.body["payer"] == {"account_name": "Amina Otieno"}
    call("POST", path, {})
    a_quote("/quotes", "qt_off", type="offramp", method="mobile_money", **common)
    assert call("POST", path, {}).body.keys() == {"beneficiary_id", "refund_address"}
    call("POST", path, {})
    a_quote("/quotes", "qt_off2", type="offramp", method="bank_transfer", **common)
    assert call("POST", path, {"own": 1}).body == {"own": 1}, "nobody to pay out to by bank"
    call("POST", path, {})
    assert call("POST", path, {"own": 1}).body == {"own": 1}, "no quote is left"


def test_a_live_lightning_entry_is_disabled_once() -> None:
    path = "/wallets/{id}/lightning/{lightning_id}"
    answered("POST", "/wallets/{id}/lightning", 201, {"id": "ln_1", "wallet_id": "wal_1"})
    live = {"id": "wal_1", "lightning_id": "ln_1"}
    assert call("DELETE", path).path_parameters == live
    answered("DELETE", path, 204, **live)
    call("DELETE", path)
    assert call("DELETE", path).path_parameters == {}


def test_a_malformed_response_is_not_remembered() -> None:
    answered("POST", "/beneficiaries", 201, {"id": "ben_1"})
    answered("POST", "/beneficiaries", 201, "text")
    answered("POST", "/beneficiaries", 201)
    assert requests._beneficiaries == {}
