"""Buys: quotes, payers, exact, partial and excess payments, credits and their reversal (M5, M14, R1, R4, R5, S7)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from simulator.engine.records.records import find
from simulator.providers.ramp.transactions.records import Transaction
from tests.unit.ramp.balance.support import BTC, CUSD, PAYER, XLM, WalletWorld, refusal


def used_today(wallets: WalletWorld) -> Decimal:
    return Decimal(wallets.get("/profile/limits")["limits"]["daily"]["used"])


def test_a_quote_shows_every_field_of_its_table_and_no_other() -> None:
    made = WalletWorld().buy_quote("5000")
    assert list(made) == [
        "id", "symbol", "network", "fiat_currency", "fiat_amount", "crypto_amount", "rate", "fee", "method",
        "expires_at", "created_at",
    ]  # fmt: skip
    assert (made["fiat_amount"], made["method"]) == ("5000.00", "mobile_money")
    assert made["fee"] == {"total": "50.00", "currency": "KES", "app_fee": "50.00", "network_fee": "0.00"}


@pytest.mark.parametrize(
    "asset", [CUSD, XLM, BTC, {"symbol": "CELO", "network": "CELO"}, {"symbol": "USDT", "network": "CELO"}]
)
def test_every_asset_can_be_bought(asset: dict[str, str]) -> None:
    """Decision M5."""
    made = WalletWorld().buy_quote("5000", **asset)
    assert Decimal(made["crypto_amount"]) > 0


def test_mobile_money_is_pushed_to_the_payers_phone() -> None:
    wallets = WalletWorld()
    made = wallets.buy()
    assert made["payment_instructions"] == {
        "method": "mobile_money",
        "phone_number": PAYER["phone_number"],
        "reference": made["order_id"],
    }
    assert (made["status"], made["amount"], made["net_amount"]) == ("pending", "37.941964", "37.941964")
    assert not {"from", "to", "beneficiary_id", "fiat_currency", "failure_code"} & set(made)


@pytest.mark.parametrize("payer", [{}, {"payer": {"account_name": "W. Kamau", "account_number": "0123456789"}}])
def test_a_bank_transfer_goes_to_an_account_of_the_service(payer: dict[str, Any]) -> None:
    wallets = WalletWorld()
    quote = wallets.buy_quote(method="bank_transfer")
    made = wallets.post("/wallet/buy", quote_id=quote["id"], **payer)
    assert list(made["payment_instructions"]) == ["method", "account_number", "bank_name", "reference"]
    row = find(wallets.world, made["id"])
    assert isinstance(row, Transaction)
    assert row.account_number == payer.get("payer", {}).get("account_number")


@pytest.mark.parametrize(
    ("payer", "expected"),
    [
        ({"account_number": "0123456789"}, (400, "missing_parameter", "payer.account_name")),
        ({"account_name": "Juma", "account_number": "01"}, (400, "invalid_parameter", "payer.account_number")),
        ({"account_name": "Juma", "bank_code": "NMB"}, (422, "invalid_bank_account", "payer.bank_code")),
    ],
)
def test_r5_a_payer_by_bank_transfer_that_is_given_is_checked(payer: Any, expected: tuple[int, str, str]) -> None:
    wallets = WalletWorld()
    quote = wallets.buy_quote(method="bank_transfer")
    assert refusal(wallets.post, "/wallet/buy", quote_id=quote["id"], payer=payer) == expected


@pytest.mark.parametrize(
    ("payer", "expected"),
    [
        (None, (400, "missing_parameter", "payer")),
        ({}, (400, "missing_parameter", "payer.phone_number")),
        ({"phone_number": None}, (400, "missing_parameter", "payer.phone_number")),
        ({"phone_number": 254}, (400, "invalid_parameter", "payer.phone_number")),
        ("+254712000009", (400, "invalid_parameter", "payer")),
        ({"phone_number": "0712000009"}, (422, "invalid_phone_number", "payer.phone_number")),
        ({"phone_number": "+2348031000002"}, (422, "invalid_phone_number", "payer.phone_number")),
    ],
)
def test_mobile_money_needs_a_phone_of_the_country(payer: Any, expected: tuple[int, str, str]) -> None:
    """Decisions R4 and R5: the payer's phone is valid for the fiat's country."""
    wallets = WalletWorld()
    quote = wallets.buy_quote()
    assert refusal(wallets.post, "/wallet/buy", quote_id=quote["id"], payer=payer) == expected
    assert wallets.post("/wallet/buy", quote_id=quote["id"], payer=PAYER)["status"] == "pending"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"method": None}, (400, "missing_parameter", "method")),
        ({"method": "card"}, (400, "invalid_parameter", "method")),
        ({"amount_currency": "KES"}, (400, "invalid_parameter", "amount_currency")),
        ({"amount": "5000.001"}, (400, "invalid_parameter", "amount")),
        ({"amount": "5.1234567", "amount_currency": "crypto"}, (400, "invalid_parameter", "amount")),
        ({"network": "celo"}, (422, "unsupported_network", "network")),
        ({"symbol": "BTC"}, (422, "unsupported_asset", "symbol")),
        ({"fiat_currency": "USD"}, (422, "unsupported_pair", "fiat_currency")),
        ({"fiat_currency": "ZAR"}, (422, "unsupported_pair", "method")),
        ({"amount": "99.99"}, (422, "amount_too_low", "amount")),
        ({"amount": "10000000.01"}, (422, "amount_too_high", "amount")),
        ({"amount": "1000000.01"}, (422, "amount_too_high", "amount")),
    ],
)
def test_refusals(change: dict[str, Any], expected: tuple[int, str, str]) -> None:
    """Decisions H5 and R1: refused values, and ZAR without mobile money."""
    wallets = WalletWorld()
    before = wallets.world.store.tables()
    assert refusal(wallets.buy_quote, **change) == expected
    assert wallets.world.store.tables() == before


def test_overpayment_credits_exactly_the_quoted_amount() -> None:
    """Decisions M5 and S6: what is paid over changes nothing."""
    wallets = WalletWorld()
    made = wallets.buy()
    wallets.act("payment_arrives", made["id"], amount="6000")
    assert wallets.available("CUSD.celo") == 1000 + Decimal(made["amount"])
    assert wallets.fees("KES") == 50
    wallets.act("complete", made["id"])
    assert wallets.available("CUSD.celo") == 1000 + Decimal(made["amount"])
    wallets.books()


def test_a_short_payment_fails_at_once_with_one_event_and_credits_nothing() -> None:
    """Decision S6: below the quote's fiat_amount."""
    wallets = WalletWorld()
    made = wallets.buy()
    assert used_today(wallets) == 5000
    shown = wallets.act("payment_arrives", made["id"], amount="4999.99")
    assert (shown["status"], shown["failure_code"]) == ("failed", "insufficient_payment")
    assert wallets.events() == ["transaction.failed"]
    assert (wallets.available("CUSD.celo"), used_today(wallets)) == (Decimal(1000), Decimal(0))


@pytest.mark.parametrize("amount", ["0", "5000.001", 5000, "-1"])
def test_a_payment_is_an_amount_of_the_fiat(amount: Any) -> None:
    wallets = WalletWorld()
    made = wallets.buy()
    assert refusal(wallets.act, "payment_arrives", made["id"], amount=amount) == (400, "invalid_parameter", "amount")


def test_a_declined_payer_fails_the_buy() -> None:
    """Decision S3."""
    wallets = WalletWorld()
    shown = wallets.act("payment_declined", wallets.buy()["id"])
    assert (shown["failure_code"], used_today(wallets)) == ("payment_failed", Decimal(0))


def test_failing_a_paid_buy_takes_the_credit_back() -> None:
    """Decision S7."""
    wallets = WalletWorld()
    before = {key: amount for key, amount in wallets.books().items() if amount}
    made = wallets.buy()
    wallets.act("payment_arrives", made["id"])
    wallets.act("fail", made["id"])
    assert {key: amount for key, amount in wallets.books().items() if amount} == before
    assert used_today(wallets) == 0


def test_a_credit_that_is_spent_cannot_be_taken_back() -> None:
    """Decision S7: `fail` is 409 when the credit is spent."""
    wallets = WalletWorld()
    made = wallets.buy()
    wallets.act("payment_arrives", made["id"])
    wallets.send("1000")
    assert wallets.available("CUSD.celo") == Decimal(made["amount"])
    wallets.send("1")
    assert refusal(wallets.act, "fail", made["id"])[:2] == (409, "invalid_transition")
    assert wallets.act("complete", made["id"])["status"] == "completed"


def test_exactly_sufficient_credit_can_be_taken_back() -> None:
    wallets = WalletWorld()
    made = wallets.buy()
    wallets.act("payment_arrives", made["id"])
    wallets.send("1000")
    assert wallets.act("fail", made["id"])["status"] == "failed"
    assert wallets.available("CUSD.celo") == 0


def test_a_buy_that_nobody_pays_stays_pending() -> None:
    """Decision S7."""
    wallets = WalletWorld()
    made = wallets.buy()
    wallets.pass_minutes(60 * 24 * 30)
    assert wallets.show(made["id"])["status"] == "pending"


def test_a_purchase_has_no_hash() -> None:
    wallets = WalletWorld()
    made = wallets.buy()
    wallets.act("payment_arrives", made["id"])
    assert wallets.act("complete", made["id"], tx_hash="0x" + "ab" * 32)["tx_hash"] is None


def test_the_account_limits_count_the_fiat_that_is_paid() -> None:
    """Decision M14."""
    wallets = WalletWorld()
    wallets.act("set_limits", daily="9000")
    wallets.buy()
    quote = wallets.buy_quote()
    assert refusal(wallets.post, "/wallet/buy", quote_id=quote["id"], payer=PAYER)[:2] == (422, "amount_too_high")
    assert used_today(wallets) == 5000
    wallets.act("set_limits", daily="10000")
    assert wallets.post("/wallet/buy", quote_id=quote["id"], payer=PAYER)["status"] == "pending"
    wallets.act("set_limits", per_transaction="4999.99")
    assert refusal(wallets.buy_quote)[:2] == (422, "amount_too_high")
