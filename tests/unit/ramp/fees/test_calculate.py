"""POST /fees/calculate (chapter "Fees", decisions H4, H5, H7, M2, M9, M13)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from simulator.engine.rows.error import ApiError
from simulator.providers.ramp import reference
from tests.unit.ramp.fees.support import act, calculate, change, fresh

OFFRAMP = {"product": "offramp", "amount": "100", "currency": "USDC", "network": "stellar", "fiat_currency": "KES"}
ONRAMP = {"product": "onramp", "amount": "5000", "currency": "KES", "network": "stellar", "fiat_currency": "KES"}
SWAP = {"product": "swap", "amount": "10", "currency": "USDC", "network": "stellar", "to_asset": "XLM"}
BUY = {"product": "buy", "amount": "5000", "currency": "KES", "fiat_currency": "KES"}
WITHDRAW = {"product": "withdraw", "amount": "10", "currency": "USDC", "fiat_currency": "KES"}
SEND = {"product": "send", "amount": "10", "currency": "XLM", "network": "stellar"}


def refusal(**body: Any) -> tuple[str, str | None]:
    with pytest.raises(ApiError) as refused:
        calculate(fresh(), **body)
    return refused.value.code, refused.value.param


def test_response_contains_the_fee_and_its_parts() -> None:
    assert calculate(fresh(), **ONRAMP) == {
        "fee_product_id": "fee_onramp_stellar_kes",
        "product": "onramp",
        "amount": "5000.00",
        "currency": "KES",
        "fee": {"total": "52.00", "currency": "KES", "processing_fee": "50.00", "network_fee": "2.00"},
        "net_amount": "4948.00",
        "breakdown": {
            "percentage": "1.00",
            "percentage_fee": "50.00",
            "fixed": "0.00",
            "min_fee_applied": False,
            "max_fee_applied": False,
        },
    }


def test_the_fee_of_an_asset_is_in_the_asset() -> None:
    """Decision M2: the fee is in the source side's currency, all three parts always present."""
    answer = calculate(fresh(), **OFFRAMP)
    assert answer["fee"] == {"total": "0.81", "currency": "USDC", "processing_fee": "0.80", "network_fee": "0.01"}
    assert answer["net_amount"] == "99.19"


def test_a_small_amount_pays_the_minimum_and_a_great_one_the_maximum() -> None:
    world = fresh()
    small = calculate(world, **ONRAMP | {"amount": "500"})
    assert small["fee"]["processing_fee"] == "10.00"
    assert small["breakdown"] | {"percentage": "", "fixed": ""} == {
        "percentage": "",
        "fixed": "",
        "percentage_fee": "5.00",
        "min_fee_applied": True,
        "max_fee_applied": False,
    }
    great = calculate(world, **ONRAMP | {"amount": "900000"})
    assert great["fee"]["processing_fee"] == "5000.00"
    assert great["breakdown"]["percentage_fee"] == "9000.00"
    assert (great["breakdown"]["min_fee_applied"], great["breakdown"]["max_fee_applied"]) == (False, True)


@pytest.mark.parametrize(("amount", "floor", "cap"), [("1000", False, False), ("500000", False, False)])
def test_at_the_bounds_themselves_nothing_is_clamped(amount: str, floor: bool, cap: bool) -> None:
    shown = calculate(fresh(), **ONRAMP | {"amount": amount})["breakdown"]
    assert (shown["min_fee_applied"], shown["max_fee_applied"]) == (floor, cap)


def test_the_percentage_fee_is_rounded_up() -> None:
    """Decisions H9 and M9."""
    answer = calculate(fresh(), **ONRAMP | {"amount": "5000.01"})
    assert answer["breakdown"]["percentage_fee"] == answer["fee"]["processing_fee"] == "50.01"
    assert answer["net_amount"] == "4948.00"


def test_a_network_fee_in_another_currency_is_converted_at_mid_and_rounded_up() -> None:
    """Decision M2."""
    world = fresh()
    act(world, "set_rate", asset="CELO", fiat_currency="NGN", rate="431.333")
    body = {"product": "onramp", "amount": "20000", "currency": "NGN", "network": "celo", "fiat_currency": "NGN"}
    assert calculate(world, **body)["fee"]["network_fee"] == "4.32"


def test_a_network_fee_in_another_asset_follows_the_swap_rate() -> None:
    world = fresh()
    celo, usdc = reference.ASSETS["CELO", "celo"], reference.ASSETS["USDC", "celo"]
    rate = reference.swap_rate(world, "sandbox", celo, usdc)
    answer = calculate(world, **OFFRAMP | {"network": "celo"})
    assert answer["fee"]["network_fee"] == usdc.format(usdc.round_up(Decimal("0.01") * rate))


def test_a_network_fee_that_the_service_pays_costs_the_customer_nothing() -> None:
    """Decision M2."""
    answer = calculate(fresh(), **OFFRAMP | {"currency": "CUSD", "network": "celo"})
    assert answer["fee"] == {"total": "0.80", "currency": "CUSD", "processing_fee": "0.80", "network_fee": "0.00"}


def test_sends_cost_the_network_fee_and_transfers_and_deposits_nothing() -> None:
    world = fresh()
    assert calculate(world, **SEND)["fee"]["total"] == "0.01"
    bitcoin = calculate(world, product="send", amount="0.001", currency="BTC", network="btc")
    assert bitcoin["fee"] == {
        "total": "0.000005",
        "currency": "BTC",
        "processing_fee": "0.00",
        "network_fee": "0.000005",
    }
    assert bitcoin["net_amount"] == "0.000995"
    for product in ("internal_transfer", "deposit"):
        answer = calculate(world, product=product, amount="10", currency="USDC")
        assert answer["fee"]["total"] == "0.00"
        assert answer["net_amount"] == "10.00"


def test_swaps_buys_and_withdrawals() -> None:
    world = fresh()
    assert calculate(world, **SWAP)["fee"]["total"] == "0.06"
    assert calculate(world, **BUY)["fee"]["total"] == "50.00"
    assert calculate(world, **BUY, asset="BTC", network="btc")["fee"]["total"] == "50.00"
    assert calculate(world, **WITHDRAW)["fee"]["total"] == "0.08"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (OFFRAMP, "product"),
        (OFFRAMP, "amount"),
        (OFFRAMP, "currency"),
        (OFFRAMP, "network"),
        (OFFRAMP, "fiat_currency"),
        (ONRAMP, "network"),
        (ONRAMP, "fiat_currency"),
        (BUY, "fiat_currency"),
        (WITHDRAW, "fiat_currency"),
        (SWAP, "network"),
        (SWAP, "to_asset"),
        (SEND, "network"),
    ],
)
@pytest.mark.parametrize("absent", [True, False])
def test_a_required_field_that_is_absent_or_null_is_missing(body: dict[str, str], field: str, absent: bool) -> None:
    sent: dict[str, Any] = {name: value for name, value in body.items() if name != field}
    if not absent:
        sent[field] = None
    assert refusal(**sent) == ("missing_parameter", field)


def test_missing_fields_come_before_malformed_ones() -> None:
    assert refusal(product="offramp", amount="x", currency="USDC", network="celo") == (
        "missing_parameter",
        "fiat_currency",
    )


def test_the_payment_method_is_required_where_prices_differ_by_it() -> None:
    world = fresh()
    body = ONRAMP | {"currency": "ZMW", "fiat_currency": "ZMW", "amount": "1000"}
    assert refusal(**body) == ("missing_parameter", "payment_method")
    by_phone = calculate(world, **body, payment_method="phone_number")
    by_bank = calculate(world, **body, payment_method="bank_account")
    assert by_phone["fee"]["processing_fee"] == by_bank["fee"]["processing_fee"] == "15.00"
    assert by_phone["fee_product_id"] != by_bank["fee_product_id"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("product", "loan"),
        ("product", 5),
        ("product", ["offramp"]),
        ("amount", "abc"),
        ("amount", "-5"),
        ("amount", "1e3"),
        ("amount", ""),
        ("amount", 100),
        ("amount", "1.00000000"),
        ("currency", 5),
        ("network", "bitcoin"),
        ("network", "STELLAR"),
        ("fiat_currency", 5),
        ("payment_method", "mobile_money"),
        ("payment_method", "cash"),
        ("asset", 5),
        ("to_asset", 5),
    ],
)
def test_a_malformed_value_is_refused_by_name(field: str, value: object) -> None:
    assert refusal(**OFFRAMP | {field: value}) == ("invalid_parameter", field)


def test_trailing_zeros_beyond_the_precision_are_malformed() -> None:
    assert refusal(**ONRAMP | {"amount": "5000.000"}) == ("invalid_parameter", "amount")


@pytest.mark.parametrize(
    "body",
    [
        OFFRAMP | {"fiat_currency": "USD"},
        OFFRAMP | {"currency": "DOGE"},
        OFFRAMP | {"currency": "CUSD"},
        OFFRAMP | {"currency": "KES"},
        OFFRAMP | {"asset": "XLM"},
        OFFRAMP | {"currency": "BTC", "network": "btc"},
        OFFRAMP | {"fiat_currency": "ZAR", "payment_method": "phone_number"},
        ONRAMP | {"currency": "USDC"},
        ONRAMP | {"currency": "TZS"},
        ONRAMP | {"network": "btc"},
        ONRAMP | {"asset": "USDT"},
        ONRAMP | {"asset": "KES"},
        BUY | {"network": "btc", "asset": "USDC"},
        BUY | {"asset": "DOGE"},
        BUY | {"currency": "ZAR", "fiat_currency": "ZAR", "payment_method": "phone_number"},
        WITHDRAW | {"currency": "XLM"},
        WITHDRAW | {"currency": "USDT", "network": "stellar"},
        WITHDRAW | {"fiat_currency": "EUR"},
        SWAP | {"to_asset": "DOGE"},
        SWAP | {"currency": "XLM"},
        SEND | {"currency": "CELO"},
        SEND | {"currency": "KES"},
        {"product": "deposit", "amount": "10", "currency": "KES"},
    ],
)
def test_a_pair_without_an_active_product_is_unsupported(body: dict[str, str]) -> None:
    assert refusal(**body)[0] == "unsupported_pair"


@pytest.mark.parametrize("amount", ["0", "0.00", "0.99"])
def test_below_the_limits_an_amount_is_too_low(amount: str) -> None:
    assert refusal(**OFFRAMP | {"amount": amount}) == ("amount_too_low", "amount")


@pytest.mark.parametrize("amount", ["100000.01", "999999999999999999"])
def test_above_the_limits_an_amount_is_too_high(amount: str) -> None:
    assert refusal(**OFFRAMP | {"amount": amount}) == ("amount_too_high", "amount")


@pytest.mark.parametrize("amount", ["1", "100000"])
def test_the_limits_themselves_are_inside(amount: str) -> None:
    """Decision M13: inclusive."""
    assert calculate(fresh(), **OFFRAMP | {"amount": amount})["amount"] == f"{amount}.00"


def test_zero_is_too_low_even_where_the_least_amount_is_zero() -> None:
    assert refusal(product="deposit", amount="0", currency="USDC") == ("amount_too_low", "amount")


def test_a_pair_is_looked_at_before_the_limits() -> None:
    assert refusal(**OFFRAMP | {"amount": "0", "fiat_currency": "USD"})[0] == "unsupported_pair"


def test_a_fee_that_is_the_whole_amount_is_too_low() -> None:
    """Decision M9."""
    world = fresh()
    change(world, "fee_offramp_usdc_stellar_kes", min_fee="9.99")
    with pytest.raises(ApiError) as refused:
        calculate(world, **OFFRAMP | {"amount": "10"})
    assert (refused.value.code, refused.value.param) == ("amount_too_low", "amount")
    assert calculate(world, **OFFRAMP | {"amount": "10.01"})["net_amount"] == "0.01"


def test_an_inactive_product_cannot_be_used() -> None:
    world = fresh()
    change(world, "fee_offramp_usdc_stellar_kes", status="inactive")
    with pytest.raises(ApiError) as refused:
        calculate(world, **OFFRAMP)
    assert (refused.value.code, refused.value.status) == ("unsupported_pair", 422)
    assert calculate(world, "production", **OFFRAMP)["fee_product_id"] == "fee_live_offramp_usdc_stellar_kes"


def test_fields_that_a_product_does_not_look_at_change_nothing() -> None:
    world = fresh()
    extra = {"fiat_currency": "KES", "payment_method": "phone_number", "to_asset": "CELO"}
    assert calculate(world, **SEND, **extra) == calculate(world, **SEND)


def test_an_amount_on_the_wrong_side_is_refused_as_its_currency() -> None:
    assert refusal(**ONRAMP | {"currency": "USDC"}) == ("unsupported_pair", "currency")
    assert refusal(**OFFRAMP | {"currency": "KES"}) == ("unsupported_pair", "currency")
