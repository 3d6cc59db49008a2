"""Withdrawals: quotes, beneficiaries, holds, refunds and account limits (decisions M6, M11, M14, S5, S10, S23)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.support import CELO, find_operation, invoke
from tests.unit.ramp.balance.support import BTC, ROOMS, XLM, WalletWorld, refusal


def used_today(wallets: WalletWorld) -> Decimal:
    return Decimal(wallets.get("/profile/limits")["limits"]["daily"]["used"])


def test_a_quote_shows_every_field_of_its_table_and_no_other() -> None:
    made = WalletWorld().withdraw_quote("20")
    assert list(made) == [
        "id", "symbol", "network", "fiat_currency", "rate", "source_amount", "destination_amount", "fee",
        "expires_at", "created_at",
    ]  # fmt: skip
    assert made["fee"] == {"total": "0.16", "currency": "CUSD", "app_fee": "0.16", "network_fee": "0.00"}


def test_a_transaction_shows_where_the_fiat_goes() -> None:
    """Decisions M6 and S10: amount is source_amount, net_amount is it less the fee; no hash."""
    wallets = WalletWorld()
    quote = wallets.withdraw_quote("20", beneficiary_id=wallets.save_phone())
    made = wallets.post("/wallet/withdraw", quote_id=quote["id"], reference="salary")
    assert (made["status"], made["tx_hash"], made["reference"]) == ("processing", None, "salary")
    assert (made["amount"], made["net_amount"]) == ("20.00", "19.84")
    assert (made["fiat_currency"], made["destination_amount"]) == ("KES", quote["destination_amount"])
    assert made["beneficiary_id"].startswith("ben_")
    assert not {"from", "to", "payment_instructions", "failure_code"} & set(made)


def test_the_amount_is_held_until_the_payout_is_done() -> None:
    """Decision M11."""
    wallets = WalletWorld()
    made = wallets.withdraw()
    assert (wallets.available("CUSD.celo"), wallets.held("CUSD.celo")) == (Decimal(980), Decimal(20))
    done = wallets.act("complete", made["id"])
    assert done["tx_hash"] is None
    assert (wallets.available("CUSD.celo"), wallets.held("CUSD.celo")) == (Decimal(980), Decimal(0))
    assert wallets.fees("CUSD.celo") == Decimal("0.16")
    wallets.books()


def test_a_failed_withdrawal_stays_held_until_it_is_refunded() -> None:
    """Decisions M11 and S10."""
    wallets = WalletWorld()
    made = wallets.withdraw()
    wallets.act("fail", made["id"], failure_code="payout_failed")
    assert (wallets.available("CUSD.celo"), wallets.held("CUSD.celo")) == (Decimal(980), Decimal(20))
    wallets.act("refund", made["id"])
    assert (wallets.available("CUSD.celo"), wallets.held("CUSD.celo")) == (Decimal(1000), Decimal(0))
    wallets.books()


@pytest.mark.parametrize("walk", [(), ("complete",), ("fail",)])
def test_a_refund_gives_the_full_amount_back_fee_and_limits_included(walk: tuple[str, ...]) -> None:
    """Decisions M14 and S5: from processing, completed and failed."""
    wallets = WalletWorld()
    before = {key: amount for key, amount in wallets.books().items() if amount}
    made = wallets.withdraw()
    assert used_today(wallets) == Decimal(made["destination_amount"])
    for action in walk:
        wallets.act(action, made["id"])
    wallets.act("refund", made["id"])
    assert {key: amount for key, amount in wallets.books().items() if amount} == before
    assert used_today(wallets) == 0


def test_a_failure_gives_the_limits_back_once() -> None:
    wallets = WalletWorld()
    first, second = wallets.withdraw(), wallets.withdraw()
    wallets.act("fail", first["id"])
    assert used_today(wallets) == Decimal(second["destination_amount"])
    wallets.act("refund", first["id"])
    assert used_today(wallets) == Decimal(second["destination_amount"])


def save_bank(wallets: WalletWorld, country: str, fiat: str, bank_code: str, number: str) -> str:
    made = wallets.post(
        "/beneficiaries",
        type="bank_account",
        name="A Person",
        country=country,
        fiat_currency=fiat,
        bank_account={"bank_code": bank_code, "account_number": number, "account_name": "A Person"},
    )
    return str(made["id"])


def test_a_bank_account_in_another_country_is_paid_in_its_currency() -> None:
    wallets = WalletWorld()
    bank = save_bank(wallets, "ZA", "ZAR", "250655", "1234567890")
    quote = wallets.withdraw_quote("100", beneficiary_id=bank, fiat_currency="ZAR", amount_currency="ZAR")
    assert (quote["destination_amount"], quote["fiat_currency"]) == ("100.00", "ZAR")
    assert wallets.post("/wallet/withdraw", quote_id=quote["id"])["status"] == "processing"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"amount_currency": "USD"}, (400, "invalid_parameter", "amount_currency")),
        ({"amount_currency": "fiat"}, (400, "invalid_parameter", "amount_currency")),
        ({"amount": "20.1234567"}, (400, "invalid_parameter", "amount")),
        ({"amount": "20.123", "amount_currency": "KES"}, (400, "invalid_parameter", "amount")),
        ({"beneficiary_id": "ben_nobody"}, (404, "not_found", "beneficiary_id")),
        ({"beneficiary_id": "ben_nobody", "network": "celo"}, (404, "not_found", "beneficiary_id")),
        ({"network": "celo"}, (422, "unsupported_network", "network")),
        ({"symbol": "DAI", "amount_currency": "DAI"}, (422, "unsupported_asset", "symbol")),
        ({"symbol": "CELO", "amount_currency": "CELO"}, (422, "unsupported_asset", "symbol")),
        ({**XLM, "amount_currency": "XLM"}, (422, "unsupported_asset", "symbol")),
        ({**BTC, "amount_currency": "BTC"}, (422, "unsupported_asset", "symbol")),
        ({"fiat_currency": "USD"}, (422, "unsupported_pair", "fiat_currency")),
        ({"fiat_currency": "TZS"}, (422, "beneficiary_mismatch", "beneficiary_id")),
        ({"amount": "0.5"}, (422, "amount_too_low", "amount")),
        ({"amount": "100000.01"}, (422, "amount_too_high", "amount")),
        ({"amount": "10000"}, (422, "amount_too_high", "amount")),
    ],
)
def test_refusals(change: dict[str, Any], expected: tuple[int, str, str]) -> None:
    """Decisions H5, M6 and S23: only dollars can be withdrawn; an unknown beneficiary is 404."""
    wallets = WalletWorld()
    saved = wallets.save_phone()
    before = wallets.world.store.tables()
    assert refusal(wallets.withdraw_quote, **{"beneficiary_id": saved, **change}) == expected
    assert wallets.world.store.tables() == before


def test_wallet_address_cannot_receive_a_withdrawal() -> None:
    wallets = WalletWorld()
    saved = wallets.post(
        "/beneficiaries",
        type="wallet_address",
        name="Cold",
        wallet_address={"wallet_address": CELO, "network": "celo", "asset": "USDC"},
    )
    assert refusal(wallets.withdraw_quote, beneficiary_id=saved["id"])[1:] == ("beneficiary_mismatch", "beneficiary_id")


def test_a_deleted_beneficiary_is_not_paid_but_past_withdrawals_are() -> None:
    """Decision S23: a deleted beneficiary is 404."""
    wallets = WalletWorld()
    saved = wallets.save_phone()
    early, late = (wallets.withdraw_quote(beneficiary_id=saved) for _ in range(2))
    made = wallets.post("/wallet/withdraw", quote_id=early["id"])
    invoke(wallets.world, find_operation(ROOMS, "DELETE", "/beneficiaries/{id}"), id=saved)
    assert refusal(wallets.withdraw_quote, beneficiary_id=saved)[:2] == (404, "not_found")
    assert refusal(wallets.post, "/wallet/withdraw", quote_id=late["id"]) == (404, "not_found", "beneficiary_id")
    assert wallets.act("complete", made["id"])["beneficiary_id"] == saved


def test_a_withdrawal_checks_the_balance_at_execution_not_at_the_quote() -> None:
    """Decision M12."""
    wallets = WalletWorld()
    quote = wallets.withdraw_quote("1000.01")
    assert refusal(wallets.post, "/wallet/withdraw", quote_id=quote["id"]) == (422, "insufficient_balance", "quote_id")
    wallets.act("set_balance", symbol="CUSD", network="CELO", amount="1000.01")
    assert wallets.post("/wallet/withdraw", quote_id=quote["id"])["status"] == "processing"


def test_the_limits_count_what_is_paid_out() -> None:
    """Decision M14: payouts count with destination_amount."""
    wallets = WalletWorld()
    quote, other = wallets.withdraw_quote(), wallets.withdraw_quote()
    wallets.act("set_limits", daily=quote["destination_amount"])
    wallets.post("/wallet/withdraw", quote_id=quote["id"])
    assert refusal(wallets.post, "/wallet/withdraw", quote_id=other["id"])[:2] == (422, "amount_too_high")
    wallets.act("set_limits", per_transaction="2000")
    assert refusal(wallets.withdraw_quote) == (422, "amount_too_high", "amount")


def test_a_payout_has_no_hash() -> None:
    """Decision S10."""
    wallets = WalletWorld()
    made = wallets.withdraw()
    assert wallets.act("complete", made["id"], tx_hash="0x" + "ab" * 32)["tx_hash"] is None
