"""Length limits of strings (decision H20): names, references, descriptions, reasons, and pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.remote import Answer, Remote
from tests.support import CELO

CUSD = {"symbol": "CUSD", "network": "CELO"}
TO_CELO = {"type": "address", "address": CELO}
Field = Callable[[Remote, Any], Answer]


def wallet(world: Remote, **fields: Any) -> Answer:
    return world.api("POST", "/wallets", {"network": "bitcoin", **fields})


def wallet_changed(world: Remote, **fields: Any) -> Answer:
    return world.api("PATCH", f"/wallets/{wallet(world).body['id']}", fields)


def lightning(world: Remote, **fields: Any) -> Answer:
    path = f"/wallets/{wallet(world).body['id']}/lightning"
    return world.api("POST", path, {"type": "invoice", "amount_sats": 1000, **fields})


def phone_beneficiary(world: Remote, **fields: Any) -> Answer:
    phone = {"phone_number": "+254722000000", "provider": "mpesa"}
    country = {"country": "KE", "fiat_currency": "KES"}
    body = {"type": "phone_number", "name": "Wanjiru", **country, "phone_number": phone, **fields}
    return world.api("POST", "/beneficiaries", body)


def account_name(world: Remote, value: Any) -> Answer:
    account = {"bank_code": "01", "account_number": "1234567890", "account_name": value}
    country = {"country": "KE", "fiat_currency": "KES"}
    body = {"type": "bank_account", "name": "Wanjiru", **country, "bank_account": account}
    return world.api("POST", "/beneficiaries", body)


def confirm(world: Remote, **fields: Any) -> Answer:
    quote = {"type": "onramp", "network": "celo", "asset": "CUSD", "fiat_currency": "KES", "amount": "5000"}
    made = world.api("POST", "/quotes", {**quote, "amount_currency": "KES", "method": "bank_transfer"}).body
    body = {"wallet_address": CELO, "payer": {"account_name": "Wanjiru"}, **fields}
    return world.api("POST", f"/quotes/{made['id']}/confirm", body)


def send(world: Remote, **fields: Any) -> Answer:
    return world.api("POST", "/wallet/send", {**CUSD, "amount": "10", "destination": TO_CELO, **fields})


def swap(world: Remote, **fields: Any) -> Answer:
    quote = {"from": CUSD, "to": {"symbol": "USDC", "network": "CELO"}, "amount": "20", "amount_side": "from"}
    quote_id = world.api("POST", "/wallet/swap/quote", quote).body["id"]
    return world.api("POST", "/wallet/swap", {"quote_id": quote_id, **fields})


def recurring(world: Remote, **fields: Any) -> Answer:
    body = {"name": "Rent", "type": "send", "source": CUSD, "amount": "10", "amount_currency": "CUSD"}
    return world.api("POST", "/recurring-payments", {**body, "recipient": {"destination": TO_CELO}, **fields})


def pause(world: Remote, **fields: Any) -> Answer:
    path = f"/recurring-payments/{recurring(world).body['id']}"
    end = {"type": "never"}
    world.api("PUT", f"{path}/schedule", {"frequency": "daily", "start_date": "2026-01-06", "end": end})
    world.api("GET", f"{path}/review")
    world.api("POST", f"{path}/activate")
    return world.api("POST", f"{path}/pause", fields)


def webhook(world: Remote, **fields: Any) -> Answer:
    inbox = f"{world.origin}/_simulator/inbox/bounds"
    return world.api("POST", "/webhooks", {"url": inbox, "events": ["*"], **fields})


def profile(world: Remote, **fields: Any) -> Answer:
    return world.api("PATCH", "/profile", fields)


def named(call: Callable[..., Answer], name: str) -> Field:
    return lambda world, value: call(world, **{name: value})


NAMES: dict[str, tuple[str, Field]] = {
    "label of a wallet": ("label", named(wallet, "label")),
    "reference of a wallet": ("reference", named(wallet, "reference")),
    "new label of a wallet": ("label", named(wallet_changed, "label")),
    "name of a beneficiary": ("name", named(phone_beneficiary, "name")),
    "name of an account": ("bank_account.account_name", account_name),
    "reference of a ramp": ("reference", named(confirm, "reference")),
    "name of a payer": (
        "payer.account_name",
        lambda world, value: confirm(world, payer={"account_name": value}),
    ),
    "reference of a send": ("reference", named(send, "reference")),
    "reference of a swap": ("reference", named(swap, "reference")),
    "name of a recurring payment": ("name", named(recurring, "name")),
    "reference of a recurring payment": ("reference", named(recurring, "reference")),
    "first name": ("first_name", named(profile, "first_name")),
    "last name": ("last_name", named(profile, "last_name")),
}
NOTES: dict[str, tuple[str, Field]] = {
    "description of an invoice": ("description", named(lightning, "description")),
    "description of a send": ("description", named(send, "description")),
    "description of a recurring payment": ("description", named(recurring, "description")),
    "reason of a pause": ("reason", named(pause, "reason")),
    "description of a webhook": ("description", named(webhook, "description")),
}


@pytest.mark.parametrize("what", NAMES)
def test_h20_names_have_1_to_255_characters_and_not_only_blanks(world: Remote, what: str) -> None:
    param, call = NAMES[what]
    for value in ("", "   ", "\u00a0\t", "x" * 256):
        assert call(world, value).refusal == (400, "invalid_parameter", param)
    for value in ("x", " x ", "é" * 255):
        assert call(world, value).status in (200, 201)


@pytest.mark.parametrize("what", NOTES)
def test_h20_notes_have_at_most_1000_characters_and_not_only_blanks(world: Remote, what: str) -> None:
    param, call = NOTES[what]
    for value in ("", "   ", "\n", "x" * 1001):
        assert call(world, value).refusal == (400, "invalid_parameter", param)
    for value in ("x", "é" * 1000):
        assert call(world, value).status in (200, 201)


@pytest.mark.parametrize("username", [" ", "x" * 65])
def test_h20_usernames_have_bounds_too(world: Remote, username: str) -> None:
    path = f"/wallets/{wallet(world).body['id']}/lightning"
    answer = world.api("POST", path, {"type": "lightning_address", "username": username})
    assert answer.refusal == (400, "invalid_parameter", "username")


def test_h20_the_reason_of_a_failed_deposit_and_the_label_of_a_key_have_bounds(world: Remote) -> None:
    deposit = world.act("deposit_arrives", wallet(world).body["id"], asset="BTC", amount="1").body["resource"]["id"]
    assert world.act("deposit_fails", deposit, reason="  ").refusal == (400, "invalid_parameter", "reason")
    assert world.act("deposit_fails", deposit, reason="x" * 1001).refusal == (400, "invalid_parameter", "reason")
    assert world.act("create_key", label=" ").refusal == (400, "invalid_parameter", "label")
    assert world.act("create_key", label="x" * 256).refusal == (400, "invalid_parameter", "label")


@pytest.mark.parametrize("page", [1, 7, 2**31, 2**63 - 1, 2**63, 2**64, 10**30, 10**500])
def test_h20_a_page_is_any_whole_number_from_1(world: Remote, page: int) -> None:
    for path in ("/transactions", "/fees", "/currencies", "/webhooks", "/wallet/assets"):
        answer = world.api("GET", path, params={"page": str(page)})
        assert answer.status == 200
        assert answer.body["pagination"]["page"] == page
        assert (answer.body["data"] == []) or page == 1
        if page > 2**53:
            assert f'"page":{page},'.encode() in answer.raw


@pytest.mark.parametrize("page", ["-1", "1.0", "1e3", "+1", "x"])
def test_h20_anything_else_is_no_page(world: Remote, page: str) -> None:
    refused = world.api("GET", "/transactions", params={"page": page})
    assert refused.refusal == (400, "invalid_parameter", "page")
