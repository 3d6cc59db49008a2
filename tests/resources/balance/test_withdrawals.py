"""Withdrawals: quotes, beneficiaries, holds, refunds and account limits (decisions M6, M11, M14, S5, S10, S23)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.resources.balance.house import BTC, CELO_ADDRESS, ROOMS, XLM, House, refusal
from tests.support import find_operation, invoke


def used_today(house: House) -> Decimal:
    return Decimal(house.get("/profile/limits")["limits"]["daily"]["used"])


def test_a_quote_shows_every_field_of_its_table_and_no_other() -> None:
    made = House().withdraw_quote("20")
    assert list(made) == [
        "id", "symbol", "network", "fiat_currency", "rate", "source_amount", "destination_amount", "fee",
        "expires_at", "created_at",
    ]  # fmt: skip
    assert made["fee"] == {"total": "0.16", "currency": "CUSD", "app_fee": "0.16", "network_fee": "0.00"}


def test_a_transaction_shows_where_the_fiat_goes() -> None:
    """Decisions M6 and S10: amount is source_amount, net_amount is it less the fee; no hash."""
    house = House()
    quote = house.withdraw_quote("20", beneficiary_id=house.save_phone())
    made = house.post("/wallet/withdraw", quote_id=quote["id"], reference="salary")
    assert (made["status"], made["tx_hash"], made["reference"]) == ("processing", None, "salary")
    assert (made["amount"], made["net_amount"]) == ("20.00", "19.84")
    assert (made["fiat_currency"], made["destination_amount"]) == ("KES", quote["destination_amount"])
    assert made["beneficiary_id"].startswith("ben_")
    assert not {"from", "to", "payment_instructions", "failure_code"} & set(made)


def test_the_amount_is_held_until_the_payout_is_done() -> None:
    """Decision M11."""
    house = House()
    made = house.withdraw()
    assert (house.available("CUSD.celo"), house.held("CUSD.celo")) == (Decimal(980), Decimal(20))
    done = house.act("complete", made["id"])
    assert done["tx_hash"] is None
    assert (house.available("CUSD.celo"), house.held("CUSD.celo")) == (Decimal(980), Decimal(0))
    assert house.fees("CUSD.celo") == Decimal("0.16")
    house.books()


def test_a_failed_withdrawal_stays_held_until_it_is_refunded() -> None:
    """Decisions M11 and S10."""
    house = House()
    made = house.withdraw()
    house.act("fail", made["id"], failure_code="payout_failed")
    assert (house.available("CUSD.celo"), house.held("CUSD.celo")) == (Decimal(980), Decimal(20))
    house.act("refund", made["id"])
    assert (house.available("CUSD.celo"), house.held("CUSD.celo")) == (Decimal(1000), Decimal(0))
    house.books()


@pytest.mark.parametrize("walk", [(), ("complete",), ("fail",)])
def test_a_refund_gives_the_full_amount_back_fee_and_limits_included(walk: tuple[str, ...]) -> None:
    """Decisions M14 and S5: from processing, completed and failed."""
    house = House()
    before = {key: amount for key, amount in house.books().items() if amount}
    made = house.withdraw()
    assert used_today(house) == Decimal(made["destination_amount"])
    for action in walk:
        house.act(action, made["id"])
    house.act("refund", made["id"])
    assert {key: amount for key, amount in house.books().items() if amount} == before
    assert used_today(house) == 0


def test_a_failure_gives_the_limits_back_once() -> None:
    house = House()
    first, second = house.withdraw(), house.withdraw()
    house.act("fail", first["id"])
    assert used_today(house) == Decimal(second["destination_amount"])
    house.act("refund", first["id"])
    assert used_today(house) == Decimal(second["destination_amount"])


def save_bank(house: House, country: str, fiat: str, bank_code: str, number: str) -> str:
    made = house.post(
        "/beneficiaries",
        type="bank_account",
        name="A Person",
        country=country,
        fiat_currency=fiat,
        bank_account={"bank_code": bank_code, "account_number": number, "account_name": "A Person"},
    )
    return str(made["id"])


def test_a_bank_account_in_another_country_is_paid_in_its_currency() -> None:
    house = House()
    bank = save_bank(house, "ZA", "ZAR", "250655", "1234567890")
    quote = house.withdraw_quote("100", beneficiary_id=bank, fiat_currency="ZAR", amount_currency="ZAR")
    assert (quote["destination_amount"], quote["fiat_currency"]) == ("100.00", "ZAR")
    assert house.post("/wallet/withdraw", quote_id=quote["id"])["status"] == "processing"


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
    house = House()
    saved = house.save_phone()
    before = house.world.store.tables()
    assert refusal(house.withdraw_quote, **{"beneficiary_id": saved, **change}) == expected
    assert house.world.store.tables() == before


def test_a_crypto_address_is_no_payee() -> None:
    house = House()
    saved = house.post(
        "/beneficiaries",
        type="wallet_address",
        name="Cold",
        wallet_address={"wallet_address": CELO_ADDRESS, "network": "celo", "asset": "USDC"},
    )
    assert refusal(house.withdraw_quote, beneficiary_id=saved["id"])[1:] == ("beneficiary_mismatch", "beneficiary_id")


def test_a_deleted_beneficiary_is_not_paid_but_past_withdrawals_are() -> None:
    """Decision S23: a deleted beneficiary is 404."""
    house = House()
    saved = house.save_phone()
    early, late = (house.withdraw_quote(beneficiary_id=saved) for _ in range(2))
    made = house.post("/wallet/withdraw", quote_id=early["id"])
    invoke(house.world, find_operation(ROOMS, "DELETE", "/beneficiaries/{id}"), id=saved)
    assert refusal(house.withdraw_quote, beneficiary_id=saved)[:2] == (404, "not_found")
    assert refusal(house.post, "/wallet/withdraw", quote_id=late["id"]) == (404, "not_found", "beneficiary_id")
    assert house.act("complete", made["id"])["beneficiary_id"] == saved


def test_the_balance_is_looked_at_when_the_withdrawal_is_executed_not_when_it_is_quoted() -> None:
    """Decision M12."""
    house = House()
    quote = house.withdraw_quote("1000.01")
    assert refusal(house.post, "/wallet/withdraw", quote_id=quote["id"]) == (422, "insufficient_balance", "quote_id")
    house.act("set_balance", symbol="CUSD", network="CELO", amount="1000.01")
    assert house.post("/wallet/withdraw", quote_id=quote["id"])["status"] == "processing"


def test_the_limits_count_what_is_paid_out() -> None:
    """Decision M14: payouts count with destination_amount."""
    house = House()
    quote, other = house.withdraw_quote(), house.withdraw_quote()
    house.act("set_limits", daily=quote["destination_amount"])
    house.post("/wallet/withdraw", quote_id=quote["id"])
    assert refusal(house.post, "/wallet/withdraw", quote_id=other["id"])[:2] == (422, "amount_too_high")
    house.act("set_limits", per_transaction="2000")
    assert refusal(house.withdraw_quote) == (422, "amount_too_high", "amount")


def test_a_payout_has_no_hash() -> None:
    """Decision S10."""
    house = House()
    made = house.withdraw()
    assert house.act("complete", made["id"], tx_hash="0x" + "ab" * 32)["tx_hash"] is None
