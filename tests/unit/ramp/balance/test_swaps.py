"""Swaps: quotes in both directions, slippage, holds and credits (decisions M8, M11, M12, S8)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.unit.ramp.balance.support import BTC, CUSD, USDC_STELLAR, XLM, WalletWorld, refusal


def test_a_quote_shows_every_field_of_its_table_and_no_other() -> None:
    made = WalletWorld().swap_quote("50", slippage=1.5)
    assert list(made) == [
        "id", "from", "to", "rate", "minimum_received", "fee", "slippage", "expires_at", "created_at",
    ]  # fmt: skip
    assert made["from"] == {"symbol": "USDC", "network": "STELLAR", "amount": "50.00"}
    assert made["to"]["symbol"] == "XLM"
    assert made["fee"] == {"total": "0.26", "currency": "USDC", "app_fee": "0.25", "network_fee": "0.01"}
    assert made["slippage"] == Decimal("1.5")


def test_a_transaction_shows_both_sides_and_neither_symbol_nor_network() -> None:
    """Decisions H19 and M8: amount is from.amount, net_amount is it less the fee."""
    wallets = WalletWorld()
    made = wallets.swap()
    assert not {"symbol", "network", "payment_instructions", "beneficiary_id", "failure_code"} & set(made)
    assert (made["amount"], made["net_amount"]) == ("50.00", "49.74")
    assert (made["status"], made["tx_hash"], made["order_id"]) == ("pending", None, "ORD-00000001")


def test_completing_takes_from_amount_and_credits_to_amount() -> None:
    """Decisions M8, M11 and S8: held at creation, taken out at completion."""
    wallets = WalletWorld()
    made = wallets.swap()
    assert (wallets.available("USDC.stellar"), wallets.held("USDC.stellar")) == (Decimal(950), Decimal(50))
    assert wallets.available("XLM.stellar") == 5000
    done = wallets.act("complete", made["id"])
    assert len(done["tx_hash"]) == 64
    assert (wallets.available("USDC.stellar"), wallets.held("USDC.stellar")) == (Decimal(950), Decimal(0))
    assert wallets.available("XLM.stellar") == 5000 + Decimal(made["to"]["amount"])
    assert wallets.fees("USDC.stellar") == Decimal(made["fee"]["total"])
    wallets.books()


def test_failing_gives_everything_back() -> None:
    """Decision M11: a failed swap releases its hold at once."""
    wallets = WalletWorld()
    before = wallets.books()
    wallets.act("fail", wallets.swap()["id"], failure_code="slippage_exceeded")
    after = wallets.books()
    assert {key: amount for key, amount in after.items() if amount} == before


def test_swap_hash_is_on_the_target_network() -> None:
    """Decision S16: at `complete`."""
    wallets = WalletWorld()
    quote = wallets.swap_quote(to=CUSD)
    made = wallets.post("/wallet/swap", quote_id=quote["id"])
    assert refusal(wallets.act, "complete", made["id"], tx_hash="ab" * 32) == (400, "invalid_parameter", "tx_hash")
    assert wallets.act("complete", made["id"])["tx_hash"].startswith("0x")


def test_both_networks_must_be_up() -> None:
    wallets = WalletWorld()
    quote = wallets.swap_quote(to=CUSD)
    wallets.act("set_network", network="celo", status="down")
    assert refusal(wallets.post, "/wallet/swap", quote_id=quote["id"])[0] == 503
    assert refusal(wallets.swap_quote, to=CUSD)[0] == 503
    assert wallets.swap_quote()["id"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"from": None}, (400, "missing_parameter", "from")),
        ({"from": {"symbol": "USDC"}}, (400, "missing_parameter", "from.network")),
        ({"to": {"network": "CELO"}}, (400, "missing_parameter", "to.symbol")),
        ({"to": "XLM"}, (400, "invalid_parameter", "to")),
        ({"amount_side": None}, (400, "missing_parameter", "amount_side")),
        ({"amount_side": "source"}, (400, "invalid_parameter", "amount_side")),
        ({"slippage": "0.5"}, (400, "invalid_parameter", "slippage")),
        ({"slippage": True}, (400, "invalid_parameter", "slippage")),
        ({"slippage": 0}, (400, "invalid_parameter", "slippage")),
        ({"slippage": -1}, (400, "invalid_parameter", "slippage")),
        ({"slippage": 50.01}, (400, "invalid_parameter", "slippage")),
        ({"to": USDC_STELLAR}, (400, "invalid_parameter", "to")),
        ({"amount": "1.12345678"}, (400, "invalid_parameter", "amount")),
        ({"amount": "1.12345678", "amount_side": "to"}, (400, "invalid_parameter", "amount")),
        ({"from": {"symbol": "USDC", "network": "stellar"}}, (422, "unsupported_network", "from.network")),
        ({"to": {"symbol": "XLM", "network": "Stellar"}}, (422, "unsupported_network", "to.network")),
        ({"from": {"symbol": "USDT", "network": "STELLAR"}}, (422, "unsupported_asset", "from.symbol")),
        ({"to": {"symbol": "BTC", "network": "CELO"}}, (422, "unsupported_asset", "to.symbol")),
        ({"amount": "0.49"}, (422, "amount_too_low", "amount")),
        ({"amount": "100000.01"}, (422, "amount_too_high", "amount")),
        ({"amount": "1000.0000001"}, (422, "insufficient_balance", "amount")),
        ({"amount": "5000", "amount_side": "to"}, (422, "insufficient_balance", "amount")),
    ],
)
def test_refusals(change: dict[str, Any], expected: tuple[int, str, str]) -> None:
    """Decisions H5, M8 and M12: slippage, the same asset on both sides, the balance at the quote."""
    wallets = WalletWorld()
    before = wallets.world.store.tables()
    assert refusal(wallets.swap_quote, **change) == expected
    assert wallets.world.store.tables() == before


def test_decimals_are_those_of_the_side_that_the_amount_is_on() -> None:
    wallets = WalletWorld()
    assert wallets.swap_quote("1.1234567", to=CUSD)["from"]["amount"] == "1.1234567"
    assert refusal(wallets.swap_quote, "1.1234567", to=CUSD, amount_side="to")[2] == "amount"
    assert wallets.swap_quote("0.00001234", to=BTC, amount_side="to", **{"from": XLM})["to"]["amount"] == "0.00001234"


def test_default_slippage_comes_from_the_listing() -> None:
    """Decision M8."""
    wallets = WalletWorld()
    assert wallets.swap_quote()["slippage"] == Decimal("0.5")
    assert wallets.swap_quote(slippage=None)["slippage"] == Decimal("0.5")
    assert str(wallets.swap_quote(slippage=1)["slippage"]) == "1"


@pytest.mark.parametrize(("percent", "passes"), [(-0.4, True), (3.0, True), (-0.6, False), (-50, False)])
def test_a_rate_that_moves_beyond_the_slippage_stops_the_swap(percent: float, passes: bool) -> None:
    """Decision M8: else the quote's to.amount is credited."""
    wallets = WalletWorld()
    quote = wallets.swap_quote(slippage=0.5)
    wallets.act("move_rates", percent=percent)
    if passes:
        made = wallets.post("/wallet/swap", quote_id=quote["id"])
        assert made["to"]["amount"] == quote["to"]["amount"]
    else:
        assert refusal(wallets.post, "/wallet/swap", quote_id=quote["id"])[:2] == (422, "slippage_exceeded")
        wallets.act("move_rates", percent=1000.0)
        assert wallets.post("/wallet/swap", quote_id=quote["id"])["status"] == "pending"


def test_slippage_is_exceeded_only_below_the_minimum() -> None:
    """A swap of 100 XLM at a rate that delivers exactly the minimum passes; one unit less does not. (Decision M8.)"""
    wallets = WalletWorld()
    pair: dict[str, Any] = {"from": XLM, "to": USDC_STELLAR}
    quote = wallets.swap_quote("100", slippage=1, **pair)
    net = Decimal(100) - Decimal(quote["fee"]["total"])
    minimum = Decimal(quote["minimum_received"])
    exact = (minimum / net).quantize(Decimal("1e-10"), rounding="ROUND_UP")
    wallets.act("set_rate", rate=f"{exact:f}", **pair)
    assert wallets.post("/wallet/swap", quote_id=quote["id"])["status"] == "pending"
    again = WalletWorld()
    quote = again.swap_quote("100", slippage=1, **pair)
    below = ((minimum - Decimal("1e-7")) / net).quantize(Decimal("1e-10"), rounding="ROUND_DOWN")
    again.act("set_rate", rate=f"{below:f}", **pair)
    assert refusal(again.post, "/wallet/swap", quote_id=quote["id"])[1] == "slippage_exceeded"


def test_a_tiny_slippage_is_kept_exactly() -> None:
    made = WalletWorld().swap_quote(slippage=1e-7)
    assert f"{made['slippage']:f}" == "0.0000001"
    assert Decimal(made["minimum_received"]) < Decimal(made["to"]["amount"])


def test_balance_is_checked_again_when_the_swap_is_executed() -> None:
    """Decision M12: param `quote_id`."""
    wallets = WalletWorld()
    quote = wallets.swap_quote("600")
    other = wallets.swap_quote("600")
    wallets.post("/wallet/swap", quote_id=other["id"])
    assert refusal(wallets.post, "/wallet/swap", quote_id=quote["id"]) == (422, "insufficient_balance", "quote_id")


def test_amount_not_above_the_fee_is_too_low() -> None:
    wallets = WalletWorld()
    wallets.act("set_fee_product", "fee_swap_usdc_stellar", fixed="20.00", min_fee="20.00")
    assert refusal(wallets.swap_quote, "20") == (422, "amount_too_low", "amount")


def test_a_target_worth_less_than_its_unit_is_too_low() -> None:
    wallets = WalletWorld()
    pair: dict[str, Any] = {"from": XLM, "to": BTC}
    wallets.act("set_rate", rate="0.000000001", **pair)
    assert refusal(wallets.swap_quote, "5", **pair) == (422, "amount_too_low", "amount")
