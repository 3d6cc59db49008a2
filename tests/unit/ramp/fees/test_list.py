"""GET /fees and GET /fees/{id} (decisions L2, L5, L6, S25)."""

from __future__ import annotations

import pytest

from simulator.engine.rows.error import ApiError
from tests.unit.ramp.fees.support import change, fresh, listed, one, pages

FIELDS = [
    "id",
    "product",
    "name",
    "network",
    "asset",
    "fiat_currency",
    "payment_method",
    "fee_currency",
    "percentage",
    "fixed",
    "min_fee",
    "max_fee",
    "network_fee",
    "limits",
    "status",
    "updated_at",
]


def test_a_product_is_shown_with_all_its_fields() -> None:
    assert one(fresh(), "fee_onramp_stellar_kes") == {
        "id": "fee_onramp_stellar_kes",
        "product": "onramp",
        "name": "Onramp, Kenyan shilling",
        "network": "stellar",
        "asset": None,
        "fiat_currency": "KES",
        "payment_method": None,
        "fee_currency": "KES",
        "percentage": "1.00",
        "fixed": "0.00",
        "min_fee": "10.00",
        "max_fee": "5000.00",
        "network_fee": {"amount": "2.00", "currency": "KES", "paid_by": "customer"},
        "limits": {"min_amount": "100.00", "max_amount": "10000000.00", "currency": "KES"},
        "status": "active",
        "updated_at": "2026-01-05T08:00:00.000Z",
    }


def test_every_listed_product_has_every_field_and_is_found_by_its_id() -> None:
    world = fresh()
    for row in listed(world, status="all"):
        assert list(row) == FIELDS
        assert one(world, row["id"]) == row


def test_bitcoin_is_spelled_btc_and_amounts_have_its_precision() -> None:
    row = one(fresh(), "fee_send_btc_btc")
    assert row["network"] == "btc"
    assert row["network_fee"] == {"amount": "0.000005", "currency": "BTC", "paid_by": "customer"}
    assert (row["min_fee"], row["max_fee"]) == ("0.00", None)


@pytest.mark.parametrize("product_id", ["fee_nothing", "fee_live_onramp_stellar_kes", ""])
def test_an_id_that_is_not_of_this_environment_is_not_found(product_id: str) -> None:
    with pytest.raises(ApiError) as refused:
        one(fresh(), product_id)
    assert (refused.value.code, refused.value.status) == ("not_found", 404)


def test_the_list_is_paged_in_the_order_of_the_table() -> None:
    """Decision L5: table order by default."""
    world = fresh()
    everything = listed(world)
    first, second = pages(world), pages(world, page="2")
    assert first["pagination"]["size"] == len(first["data"]) == 20
    assert first["data"] + second["data"] == everything[:40]
    assert everything[0]["id"] == "fee_onramp_stellar_kes"
    assert pages(world, limit="3")["data"] == everything[:3]
    assert pages(world, page="99")["data"] == []


def test_active_products_are_listed_by_default() -> None:
    world = fresh()
    active, inactive, everything = (listed(world, status=status) for status in ("active", "inactive", "all"))
    assert listed(world) == active
    assert {row["status"] for row in active} == {"active"}
    assert {row["status"] for row in inactive} == {"inactive"}
    assert len(everything) == len(active) + len(inactive)
    assert len(inactive) >= 1


def test_filters_narrow_the_list() -> None:
    world = fresh()
    assert {row["product"] for row in listed(world, product="buy,send")} == {"buy", "send"}
    assert {row["asset"] for row in listed(world, asset="USDC")} == {"USDC"}
    assert {row["fiat_currency"] for row in listed(world, fiat_currency="NGN")} == {"NGN"}
    assert {row["payment_method"] for row in listed(world, payment_method="phone_number")} == {"phone_number"}
    assert [row["id"] for row in listed(world, product="swap", asset="USDC", network="celo")] == ["fee_swap_usdc_celo"]


@pytest.mark.parametrize("network", ["stellar", "celo", "btc"])
def test_a_network_filter_also_lists_products_of_all_networks(network: str) -> None:
    """Decision L5."""
    assert {row["network"] for row in listed(fresh(), network=network)} == {network, None}


@pytest.mark.parametrize(
    "query",
    [
        {"product": "loan"},
        {"product": "buy,loan"},
        {"network": "bitcoin"},
        {"network": "STELLAR"},
        {"asset": "DOGE"},
        {"fiat_currency": "USD"},
        {"payment_method": "mobile_money"},
        {"status": "closed"},
        {"page": "0"},
        {"size": "101"},
        {"limit": "x"},
    ],
)
def test_a_filter_outside_its_values_is_refused_by_name(query: dict[str, str]) -> None:
    with pytest.raises(ApiError) as refused:
        pages(fresh(), **query)
    assert (refused.value.code, refused.value.param) == ("invalid_parameter", next(iter(query)))


def test_common_parameters_of_other_lists_are_unknown_here() -> None:
    """Decision L2: page, size, limit and its own filters only."""
    world = fresh()
    assert pages(world, sort_order="desc", sort_by="x", search="a", start_date="x") == pages(world)


def test_a_changed_product_keeps_its_place_in_the_list() -> None:
    world = fresh()
    before = [row["id"] for row in listed(world)]
    change(world, before[5], percentage="0.10")
    after = listed(world)
    assert [row["id"] for row in after] == before
    assert after[5]["percentage"] == "0.10"
