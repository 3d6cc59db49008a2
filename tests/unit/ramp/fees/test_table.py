"""The fee table: complete, legal, and within the bounds of decisions M2, M13 and R9."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest

from simulator.kernel.money import Currency
from simulator.providers.ramp import fees, reference
from simulator.providers.ramp.fees.catalogue import base, products
from simulator.providers.ramp.fees.records import IN_FIAT, WITH_FIAT, WITH_NETWORK_FEE, FeeProduct
from tests.unit.ramp.fees.support import fresh, listed, price

TABLE = list(base("sandbox").values())
SPAN = (Decimal(20), Decimal(50))
WITHDRAWABLE = [asset for asset in reference.ASSETS.values() if asset.code in ("USDC", "USDT", "CUSD")]


def test_every_product_has_a_unique_readable_id() -> None:
    """Decision R9."""
    ids = [product.id for product in TABLE] + [product.id for product in base("production").values()]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"fee_[0-9a-z_]+", product_id) for product_id in ids)


def test_both_environments_have_the_same_table_under_different_ids() -> None:
    world = fresh()
    sandbox, production = listed(world, status="all"), listed(world, "production", status="all")
    assert [row | {"id": ""} for row in sandbox] == [row | {"id": ""} for row in production]
    assert not {row["id"] for row in sandbox} & {row["id"] for row in production}


def test_there_are_products_of_every_type_and_both_statuses() -> None:
    assert {product.product for product in TABLE} == set(fees.records.PRODUCTS)
    assert {product.status for product in TABLE} == {"active", "inactive"}
    assert any(product.max_fee is not None for product in TABLE)
    assert any(product.network_fee and product.network_fee.paid_by == "peerpesa" for product in TABLE)
    assert any(product.network_fee and product.network_fee.currency != product.fee_currency for product in TABLE)


@pytest.mark.parametrize("product", TABLE, ids=lambda product: product.id)
def test_each_product_is_in_the_currency_of_its_amount(product: FeeProduct) -> None:
    """Decision M2: fee_currency and limits.currency are the amount's."""
    assert product.fee_currency == product.limits.currency
    assert product.fee_currency == (product.fiat_currency if product.product in IN_FIAT else product.asset)
    assert (product.fiat_currency is not None) == (product.product in WITH_FIAT)
    assert (product.network_fee is not None) == (product.product in WITH_NETWORK_FEE)
    assert product.percentage <= Decimal("1.5")
    for amount in (product.fixed, product.min_fee, product.limits.min_amount, product.limits.max_amount):
        assert product.currency.round_down(amount) == amount


@pytest.mark.parametrize("product", [row for row in TABLE if row.product == "send"], ids=lambda product: product.id)
def test_a_send_costs_its_network_fee_within_the_limits_of_the_currency_listing(product: FeeProduct) -> None:
    assert product.asset is not None
    assert product.network is not None
    listing = reference.LISTINGS[product.asset, product.network]
    assert product.network_fee is not None
    assert product.network_fee.currency == product.asset
    assert product.network_fee.amount < listing.min_withdraw
    assert product.percentage == product.fixed == product.min_fee == 0
    assert (product.limits.min_amount, product.limits.max_amount) == (listing.min_withdraw, listing.max_withdraw)


def _amounts(world: Any, currency: Currency) -> list[Decimal]:
    """The amounts that decision M13 promises to lie inside every limit, in one currency."""
    dollar = reference.asset("USDC", "stellar")
    assert dollar is not None
    worth = [currency.round_up(reference.convert_mid(world, "sandbox", amount, dollar, currency)) for amount in SPAN]
    if currency.code in ("USDC", "USDT", "CUSD"):
        worth += [Decimal(10), Decimal(50)]
    return worth + {
        "KES": [Decimal(5000)],
        "CELO": [Decimal(60)],
        "BTC": [Decimal("0.001"), Decimal("0.00001")],
    }.get(currency.code, [])


def _prices(currency: Currency, product: str, amount: Decimal, **inputs: Any) -> None:
    world = fresh()
    priced = price(world, "sandbox", product, amount, currency, **inputs)
    fees.check_limits(priced.product, amount, fee=priced.fee)
    assert priced.fee.currency == currency
    assert priced.fee.total == priced.fee.service_fee + priced.fee.network_fee


RAMPS = [
    (network, code, fiat)
    for network in reference.RAMP_ASSETS
    for code in reference.RAMP_ASSETS[network]
    for fiat in reference.FIATS
]


@pytest.mark.parametrize(("network", "code", "fiat_code"), RAMPS)
def test_every_ramp_is_priced(network: str, code: str, fiat_code: str) -> None:
    world = fresh()
    asset = reference.ASSETS[code, network]
    for method in ("mobile_money", "bank_transfer"):
        if not reference.has_method(fiat_code, method):
            continue
        inputs = {"network": network, "asset": code, "fiat_currency": fiat_code, "payment_method": method}
        for amount in _amounts(world, reference.FIATS[fiat_code]):
            _prices(reference.FIATS[fiat_code], "onramp", amount, **inputs)
        for amount in _amounts(world, asset):
            _prices(asset, "offramp", amount, **inputs)


@pytest.mark.parametrize("asset", list(reference.ASSETS.values()), ids=lambda asset: asset.key)
def test_every_wallet_operation_is_priced(asset: Currency) -> None:
    world = fresh()
    inputs = {"network": asset.network, "asset": asset.code}
    for amount in _amounts(world, asset):
        _prices(asset, "send", amount, **inputs)
        _prices(asset, "internal_transfer", amount, **inputs)
        _prices(asset, "deposit", amount, **inputs)
        for target in reference.ASSETS.values():
            if target != asset:
                _prices(asset, "swap", amount, to_asset=target.code, **inputs)
    for fiat in reference.FIATS.values():
        method = "bank_transfer"
        for amount in _amounts(world, fiat):
            _prices(fiat, "buy", amount, fiat_currency=fiat.code, payment_method=method, **inputs)
        for amount in _amounts(world, asset) if asset in WITHDRAWABLE else []:
            _prices(asset, "withdraw", amount, fiat_currency=fiat.code, payment_method=method, **inputs)


def test_everything_listed_can_be_calculated_and_is_the_product_that_is_found() -> None:
    world = fresh()
    for product in products(world, "sandbox").values():
        if product.status == "active":
            found = fees.match(
                world,
                "sandbox",
                product.product,
                product.currency,
                network=product.network,
                asset=product.asset,
                fiat_currency=product.fiat_currency,
                payment_method=product.payment_method,
            )
            assert found.id == product.id
