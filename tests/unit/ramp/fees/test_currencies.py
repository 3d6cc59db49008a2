"""GET /currencies: one record per symbol and network, filtered, searched and paged like every list."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from simulator.engine.rows.error import ApiError
from simulator.engine.text.json import dumps
from simulator.kernel.world import World
from simulator.providers.ramp import fees, reference
from simulator.providers.ramp.fees.catalogue import products
from tests.support import act, find_operation, invoke, make_world

ROOMS = (reference.ROOM, fees.ROOM)
CURRENCIES = find_operation(ROOMS, "GET", "/currencies")
IN_ORDER = [
    ("XLM", "STELLAR"),
    ("USDC", "STELLAR"),
    ("CELO", "CELO"),
    ("USDT", "CELO"),
    ("USDC", "CELO"),
    ("CUSD", "CELO"),
    ("BTC", "BITCOIN"),
]


@pytest.fixture
def world() -> World:
    return make_world(*ROOMS)


def listed(world: World, **query: str) -> list[tuple[str, str]]:
    return [(row["symbol"], row["network"]) for row in invoke(world, CURRENCIES, query=query)["data"]]


def test_there_is_one_record_per_symbol_and_network(world: World) -> None:
    """Decision R7."""
    answer = invoke(world, CURRENCIES)
    assert [(row["symbol"], row["network"]) for row in answer["data"]] == IN_ORDER
    assert answer["pagination"] == {"page": 1, "size": 20, "total": 7, "total_pages": 1}
    assert world.store.tables() == {}


def test_a_record_has_exactly_these_fields(world: World) -> None:
    """Decision R7."""
    (record,) = invoke(world, CURRENCIES, query={"symbol": "BTC"})["data"]
    assert dumps(record) == (
        b'{"symbol":"BTC","network":"BITCOIN","name":"Bitcoin","decimals":8,"status":"active",'
        b'"price":{"currency":"USD","amount":"90250.00"},"min_withdraw":"0.00001","max_withdraw":"5.00",'
        b'"send_fees":"0.000005","deposit_fees":"0.00","swap_fees":"0.50","buy_fees":"1.00","slippage":0.5,'
        b'"confirmations":3}'
    )


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"symbol": "USDC"}, [("USDC", "STELLAR"), ("USDC", "CELO")]),
        ({"network": "STELLAR"}, [("XLM", "STELLAR"), ("USDC", "STELLAR")]),
        ({"symbol": "USDC", "network": "CELO"}, [("USDC", "CELO")]),
        ({"status": "active"}, IN_ORDER),
        ({"status": "inactive"}, []),
        ({"status": "inactive,active"}, IN_ORDER),
        ({"search": "celo d"}, [("CUSD", "CELO")]),
        ({"search": "bitc"}, [("BTC", "BITCOIN")]),
        ({"sort_order": "asc"}, IN_ORDER[::-1]),
        ({"sort_by": "updated_at"}, IN_ORDER),
        ({"size": "2", "page": "2"}, IN_ORDER[2:4]),
        ({"limit": "3"}, IN_ORDER[:3]),
        ({"page": "9"}, []),
        ({"start_date": "2026-01-06"}, []),
        ({"end_date": "2026-01-05"}, IN_ORDER),
        ({"symbol": ""}, IN_ORDER),
    ],
)
def test_filters_search_order_and_pages(world: World, query: dict[str, str], found: list[tuple[str, str]]) -> None:
    """Decision R7: filters symbol, network, status."""
    assert listed(world, **query) == found


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ({"symbol": "cUSD"}, "symbol"),
        ({"network": "stellar"}, "network"),
        ({"status": "enabled"}, "status"),
        ({"size": "101"}, "size"),
        ({"sort_by": "amount"}, "sort_by"),
        ({"search": "x"}, "search"),
    ],
)
def test_values_outside_their_set_are_malformed(world: World, query: dict[str, str], param: str) -> None:
    with pytest.raises(ApiError) as refusal:
        listed(world, **query)
    assert (refusal.value.code, refusal.value.param) == ("invalid_parameter", param)


def prices(world: World) -> dict[Any, Decimal]:
    rows = invoke(world, CURRENCIES)["data"]
    return {(row["symbol"], row["network"]): Decimal(row["price"]["amount"]) for row in rows}


def test_prices_move_with_the_rates(world: World) -> None:
    before = prices(world)
    act(world, ROOMS, "move_rates", percent=50)
    assert prices(world) == {key: price * Decimal("1.5") for key, price in before.items()}


def test_s22_a_network_that_is_down_makes_its_assets_inactive(world: World) -> None:
    act(world, ROOMS, "set_network", network="celo", status="down")
    on_celo = [row for row in IN_ORDER if row[1] == "CELO"]
    assert listed(world, status="inactive") == on_celo
    assert listed(world, status="active") == [row for row in IN_ORDER if row not in on_celo]
    assert "inactive" not in {row["status"] for row in invoke(world, CURRENCIES, environment="production")["data"]}


def record(world: World, symbol: str = "USDC", network: str = "CELO") -> Any:
    (found,) = invoke(world, CURRENCIES, query={"symbol": symbol, "network": network})["data"]
    return found


@pytest.mark.parametrize(("symbol", "network"), IN_ORDER)
def test_m13_the_least_send_costs_less_than_it_sends(world: World, symbol: str, network: str) -> None:
    shown = record(world, symbol, network)
    assert Decimal(shown["min_withdraw"]) > Decimal(shown["send_fees"])
    assert Decimal(shown["max_withdraw"]) > Decimal(shown["min_withdraw"])


def product_id(world: World, product: str, *, asset: str = "", fiat_currency: str = "") -> str:
    table = products(world, "sandbox").values()
    return next(
        row.id
        for row in table
        if row.product == product and (row.asset or "") == asset and (row.fiat_currency or "") == fiat_currency
        if row.network in (None, "celo")
    )


def test_m15_listing_follows_the_active_products(world: World) -> None:
    network_fee = {"amount": "0.25", "currency": "USDC"}
    limits = {"min_amount": "3", "max_amount": "500"}
    act(
        world,
        ROOMS,
        "set_fee_product",
        product_id(world, "send", asset="USDC"),
        network_fee=network_fee,
        limits=limits,
    )
    act(world, ROOMS, "set_fee_product", product_id(world, "swap", asset="USDC"), percentage="0.75")
    act(world, ROOMS, "set_fee_product", product_id(world, "buy", fiat_currency="KES"), percentage="2.5")
    shown = record(world)
    assert [shown[name] for name in ("min_withdraw", "max_withdraw", "send_fees", "swap_fees", "buy_fees")] == [
        "3.00",
        "500.00",
        "0.25",
        "0.75",
        "2.50",
    ]
    assert record(world, network="STELLAR")["min_withdraw"] == "1.00"


def test_m15_operation_without_active_product_has_no_fee_or_limit(world: World) -> None:
    for product, inputs in (
        ("send", {"asset": "USDC"}),
        ("swap", {"asset": "USDC"}),
        ("buy", {"fiat_currency": "KES"}),
    ):
        act(world, ROOMS, "set_fee_product", product_id(world, product, **inputs), status="inactive")
    shown = record(world)
    assert [shown[name] for name in ("min_withdraw", "max_withdraw", "send_fees", "swap_fees", "buy_fees")] == [
        None
    ] * 5
    assert record(world, network="STELLAR")["send_fees"] == "0.01"
