"""Fee products: the one that applies if several match (decision M9)."""

from __future__ import annotations

from decimal import Decimal

import pytest

from simulator.engine.rows.error import ApiError
from simulator.kernel.world import World
from simulator.providers.ramp import fees, reference
from simulator.providers.ramp.fees.catalogue import product_of
from tests.unit.ramp.fees.support import calculate, change, fresh, price

KES, ZMW = reference.FIATS["KES"], reference.FIATS["ZMW"]
AMOUNT = Decimal(5000)


def found(world: World, **inputs: str) -> str:
    return price(world, "sandbox", "onramp", AMOUNT, KES, **inputs).product.id


def test_product_with_the_fewest_nulls_wins_at_any_position() -> None:
    """Decision M9."""
    world = fresh()
    change(world, "fee_onramp_stellar_kes_2024", status="active", asset="XLM")
    assert found(world, network="stellar", asset="XLM") == "fee_onramp_stellar_kes_2024"
    assert found(world, network="stellar", asset="USDC") == "fee_onramp_stellar_kes"


def test_between_equals_the_first_of_the_table_wins() -> None:
    """Decision M9: then table order."""
    world = fresh()
    change(world, "fee_onramp_stellar_kes_2024", status="active")
    assert found(world, network="stellar") == "fee_onramp_stellar_kes"
    change(world, "fee_onramp_stellar_kes", status="inactive")
    assert found(world, network="stellar") == "fee_onramp_stellar_kes_2024"


def test_without_an_asset_the_product_of_all_assets_is_used_or_the_first() -> None:
    world = fresh()
    change(world, "fee_onramp_stellar_kes_2024", status="active", asset="XLM")
    assert found(world, network="stellar") == "fee_onramp_stellar_kes"
    change(world, "fee_onramp_stellar_kes", asset="USDC")
    assert found(world, network="stellar") == "fee_onramp_stellar_kes"


@pytest.mark.parametrize(("method", "same"), [("mobile_money", "phone_number"), ("bank_transfer", "bank_account")])
def test_both_spellings_of_a_payment_method_find_the_same_product(method: str, same: str) -> None:
    world = fresh()
    ids = {
        price(world, "sandbox", "buy", AMOUNT, ZMW, payment_method=spelling).product.id for spelling in (method, same)
    }
    assert ids == {f"fee_buy_zmw_{same}"}


def test_product_for_one_method_coexists_with_product_for_all() -> None:
    world = fresh()
    change(world, "fee_onramp_stellar_kes_2024", status="active", payment_method="phone_number")
    assert found(world, network="stellar", payment_method="mobile_money") == "fee_onramp_stellar_kes_2024"
    assert found(world, network="stellar", payment_method="bank_transfer") == "fee_onramp_stellar_kes"
    with pytest.raises(ApiError) as refused:
        found(world, network="stellar")
    assert (refused.value.code, refused.value.param) == ("missing_parameter", "payment_method")


def test_the_calculator_and_a_quote_agree() -> None:
    world = fresh()
    priced = price(
        world,
        "sandbox",
        "onramp",
        Decimal("5000"),
        KES,
        network="celo",
        asset="CUSD",
        fiat_currency="KES",
        payment_method="mobile_money",
    )
    shown = calculate(
        world,
        product="onramp",
        amount="5000",
        currency="KES",
        network="celo",
        fiat_currency="KES",
        payment_method="phone_number",
    )
    assert shown["fee"] == fees.show_processing_fee(priced.fee)
    assert shown["fee_product_id"] == priced.product.id


def test_the_two_ways_to_show_a_fee_differ_in_one_name() -> None:
    """Decision M2: processing_fee or app_fee."""
    fee = price(fresh(), "sandbox", "buy", AMOUNT, KES).fee
    assert fees.show_processing_fee(fee) == {
        "total": "50.00",
        "currency": "KES",
        "processing_fee": "50.00",
        "network_fee": "0.00",
    }
    assert fees.show_app_fee(fee) == {"total": "50.00", "currency": "KES", "app_fee": "50.00", "network_fee": "0.00"}
    assert fees.show_app_fee(fees.no_fee(KES))["total"] == "0.00"


def test_the_network_is_that_of_the_asset_when_none_is_named() -> None:
    bitcoin = reference.ASSETS["BTC", "bitcoin"]
    assert price(fresh(), "sandbox", "send", Decimal("0.001"), bitcoin).fee.total == Decimal("0.000005")


def test_a_swap_to_the_very_same_asset_has_no_price() -> None:
    lumens = reference.ASSETS["XLM", "stellar"]
    with pytest.raises(ApiError) as refused:
        price(fresh(), "sandbox", "swap", Decimal(10), lumens, to_asset="XLM")
    assert (refused.value.code, refused.value.param) == ("unsupported_pair", "to_asset")
    dollars = reference.ASSETS["USDC", "stellar"]
    assert price(fresh(), "sandbox", "swap", Decimal(10), dollars, to_asset="USDC").fee.total > 0


@pytest.mark.parametrize(
    ("amount", "code"), [("0", "amount_too_low"), ("1000000.01", "amount_too_high"), ("1000000", None)]
)
def test_limits_can_be_checked_without_a_fee_and_name_the_amount(amount: str, code: str | None) -> None:
    product = product_of(fresh(), "sandbox", "fee_deposit_usdc")
    assert product is not None
    if code is None:
        fees.check_limits(product, Decimal(amount))
        return
    with pytest.raises(ApiError) as refused:
        fees.check_limits(product, Decimal(amount))
    assert (refused.value.code, refused.value.param) == (code, "amount")
