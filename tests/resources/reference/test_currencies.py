"""GET /currencies: one record per symbol and network, filtered, searched and paged like every list."""

from __future__ import annotations

import tomllib
from decimal import Decimal
from importlib.resources import files
from typing import Any

import pytest

from simulator.kernel.world import World
from simulator.resources.reference import ROOM, listing
from simulator.wire.errors import ApiError
from simulator.wire.json import dumps
from tests.support import find_operation, invoke, make_world, push

ROOMS = (ROOM,)
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
    return make_world(ROOM)


def listed(world: World, **query: str) -> list[tuple[str, str]]:
    return [(row["symbol"], row["network"]) for row in invoke(world, CURRENCIES, query=query)["data"]]


def test_there_is_one_record_per_symbol_and_network(world: World) -> None:
    answer = invoke(world, CURRENCIES)
    assert [(row["symbol"], row["network"]) for row in answer["data"]] == IN_ORDER
    assert answer["pagination"] == {"page": 1, "size": 20, "total": 7, "total_pages": 1}
    assert world.store.tables() == {}


def test_a_record_has_exactly_these_fields(world: World) -> None:
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
    push(world, ROOMS, "move_rates", percent=50)
    assert prices(world) == {key: price * Decimal("1.5") for key, price in before.items()}


def test_a_network_that_is_down_stays_active_in_the_listing(world: World) -> None:
    push(world, ROOMS, "set_network", network="celo", status="down")
    assert listed(world, status="active") == IN_ORDER


@pytest.mark.parametrize(("symbol", "network"), IN_ORDER)
def test_what_is_shown_is_what_the_rooms_work_with(world: World, symbol: str, network: str) -> None:
    (record,) = invoke(world, CURRENCIES, query={"symbol": symbol, "network": network})["data"]
    row = listing(symbol, network.lower())
    for name in ("min_withdraw", "max_withdraw", "send_fees", "deposit_fees", "swap_fees", "buy_fees"):
        assert Decimal(record[name]) == getattr(row, name)
    assert (record["slippage"], record["decimals"]) == (row.slippage, row.decimals)


def fee_products(product: str) -> list[dict[str, Any]]:
    """The active entries of the fee table for one product, as its data file has them."""
    data = tomllib.loads((files("simulator.resources.fees") / "fees.toml").read_text("utf-8"))
    return [row for row in data["products"] if row["product"] == product and row.get("status", "active") == "active"]


@pytest.mark.parametrize(("symbol", "network"), IN_ORDER)
def test_the_fees_shown_are_those_of_the_fee_table(symbol: str, network: str) -> None:
    row = listing(symbol, network.lower())
    spelling = "btc" if network == "BITCOIN" else network.lower()
    for product, shown in (("send", row.send_fees), ("swap", row.swap_fees)):
        (priced,) = (
            entry for entry in fee_products(product) if symbol in entry["assets"] and spelling in entry["networks"]
        )
        charged = priced["network_fee"]["amount"] if product == "send" else priced["percentage"]
        assert Decimal(charged) == shown
    (bought,) = (entry for entry in fee_products("buy") if entry["fiat_currencies"] == ["KES"])
    assert Decimal(bought["percentage"]) == row.buy_fees
