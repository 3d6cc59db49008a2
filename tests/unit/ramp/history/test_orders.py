"""GET /orders and GET /orders/{order_id}: every field present, exact numbers, legs, filters, search, sorting."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from simulator.engine.rows.error import ApiError
from simulator.engine.text.json import dumps
from simulator.providers.ramp.history.legs import OrderLeg
from simulator.providers.ramp.history.shapes import Order
from tests.support import act
from tests.unit.ramp.history.support import buy, credited, everything, offramp, onramp, send, swap, withdraw
from tests.unit.ramp.recurring.world import ROOMS, active, call, fresh, go

ORDER_FIELDS = """
    id order_id user_id order_type status asset asset_id network network_to network_id from_network to_network
    from_asset from_asset_id to_asset to_asset_id amount total_amount from_amount from_asset_amount to_amount
    to_asset_amount receive_amount network_fee exchange_fee total_fees exchange_rate slippage sender_address
    recipient_address memo fiat_currency country mode_of_payment payment_method_id account_number payment_details
    channel_id provider_network_id provider_channel_id reason cancelled_by cancel_reason cancel_date
    recurring_payment created_at updated_at deleted_at transactions
""".split()  # noqa: SIM905
LEG_FIELDS = """
    id transaction_id recurring_payment_invoice_id order_id user_id transaction_type transfer_type amount currency
    base_currency quote_currency sell_amount buy_amount exchange_rate ico_unit_price to_wallet from_wallet
    account_number tx_hash status transaction_description service_type memo approved_by cancelled_by
    transaction_fee_system transaction_fee transaction_fee_ico transaction_error transaction_admin_info
    transaction_message third_party_status payment_object request_obj deleted_at created_at updated_at
""".split()  # noqa: SIM905
NUMBERS = """
    amount total_amount from_amount from_asset_amount to_amount to_asset_amount receive_amount network_fee
    exchange_fee total_fees
""".split()  # noqa: SIM905


def order(world: Any, order_id: str) -> Any:
    return call(world, "GET", "/orders/{order_id}", order_id=order_id)


def test_every_listed_field_is_present_on_every_kind_of_order() -> None:
    world = fresh()
    for transaction in everything(world).values():
        shown = order(world, transaction["order_id"])
        assert list(shown) == ORDER_FIELDS == [*Order.__annotations__]
        assert len(shown["transactions"]) >= 2
        for leg in shown["transactions"]:
            assert list(leg) == LEG_FIELDS == [*OrderLeg.__annotations__]
        for name in NUMBERS:
            assert isinstance(shown[name], Decimal)
        assert shown["total_fees"] == shown["network_fee"] + shown["exchange_fee"]


def test_an_order_is_found_by_its_number_and_by_its_transaction() -> None:
    world = fresh()
    made = swap(world)
    assert made["order_id"] == "ORD-00000001"
    assert order(world, made["order_id"]) == order(world, made["id"])


@pytest.mark.parametrize("order_id", ["ORD-00000009", "txn_none", "ORD-1", "x"])
def test_an_unknown_order_is_not_found(order_id: str) -> None:
    world = fresh()
    swap(world)
    with pytest.raises(ApiError) as refused:
        order(world, order_id)
    assert (refused.value.code, refused.value.status) == ("order_not_found", 404)


def test_orders_of_another_environment_are_not_found() -> None:
    world = fresh()
    made = swap(world)
    for order_id in (made["order_id"], made["id"]):
        with pytest.raises(ApiError, match="order_not_found"):
            call(world, "GET", "/orders/{order_id}", order_id=order_id, environment="production")


def test_swap_is_rendered_as_an_order() -> None:
    world = fresh()
    made = swap(world)
    shown = order(world, made["id"])
    paid, delivered = Decimal(made["from"]["amount"]), Decimal(made["to"]["amount"])
    assert (shown["order_type"], shown["status"]) == ("swap", "pending")
    assert (shown["asset"], shown["from_asset"], shown["to_asset"]) == ("USDC", "USDC", "XLM")
    assert (shown["network"], shown["network_to"]) == ("stellar", "stellar")
    assert shown["amount"] == shown["total_amount"] == shown["from_amount"] == shown["from_asset_amount"] == paid
    assert shown["to_amount"] == shown["to_asset_amount"] == shown["receive_amount"] == delivered
    assert shown["exchange_fee"] == Decimal(made["fee"]["app_fee"])
    assert shown["exchange_rate"] > 0
    assert shown["slippage"] == Decimal("0.5")
    assert (shown["fiat_currency"], shown["country"], shown["mode_of_payment"]) == (None, None, "")
    act(world, ROOMS, "complete", made["id"])
    assert order(world, made["id"])["status"] == "successful"


def test_withdrawal_is_rendered_as_an_order() -> None:
    world = fresh()
    made = withdraw(world)
    shown = order(world, made["id"])
    assert (shown["network"], shown["network_to"], shown["fiat_currency"], shown["country"]) == (
        "stellar",
        "kes",
        "KES",
        "KE",
    )
    assert shown["receive_amount"] == Decimal(made["destination_amount"])
    assert (shown["mode_of_payment"], shown["account_number"]) == ("mobile_money", "+254722000000")
    assert (shown["recurring_payment"], shown["memo"], shown["reason"]) == ("", "", None)
    act(world, ROOMS, "fail", made["id"], failure_code="payout_failed")
    assert (order(world, made["id"])["status"], order(world, made["id"])["reason"]) == ("failed", "payout_failed")
    act(world, ROOMS, "refund", made["id"])
    assert order(world, made["id"])["status"] == "refunded"


def test_buy_order_uses_the_paid_fiat_amount() -> None:
    world = fresh()
    shown = order(world, buy(world)["id"])
    assert (shown["asset"], shown["from_asset"], shown["to_asset"]) == ("USDC", "KES", "USDC")
    assert (shown["amount"], shown["total_amount"]) == (5000, 5000)
    assert shown["payment_details"]["phone_number"] == "+254722000000"


def test_legs_belong_to_customer_and_service() -> None:
    world = fresh()
    made = withdraw(world)
    customer, service = order(world, made["id"])["transactions"]
    owner = call(world, "GET", "/profile")["user_id"]
    assert (customer["user_id"], customer["transaction_type"], customer["currency"]) == (owner, "debit", "USDC")
    assert (service["user_id"], service["transaction_type"], service["currency"]) == (
        "0000-0000-0000-0000",
        "credit",
        "KES",
    )
    assert (customer["transfer_type"], service["transfer_type"]) == ("token", "fiat")
    assert (customer["amount"], service["amount"]) == (20, Decimal(made["destination_amount"]))
    assert isinstance(customer["exchange_rate"], str)
    assert customer["transaction_fee"] == Decimal(made["fee"]["total"])
    assert service["transaction_fee"] == 0
    assert customer["transaction_fee_ico"] == "USDC"
    assert customer["id"] != service["id"]
    assert customer["status"] == service["status"] == "processing"


def test_numbers_are_written_exactly() -> None:
    world = fresh()
    raw = dumps(order(world, swap(world, amount="10.0000001")["id"]))
    assert b'"amount":10.0000001,' in raw
    assert b"E-" not in raw


def test_the_order_of_a_run_names_its_recurring_payment() -> None:
    world = fresh()
    payment_id = active(world)
    go(world, "2026-01-06T06:00:00Z")
    shown = order(world, "ORD-00000001")
    assert shown["recurring_payment"] == payment_id
    assert {leg["recurring_payment_invoice_id"] for leg in shown["transactions"]} == {f"{payment_id}-1"}
    assert [row["order_id"] for row in listed(world, recurring_payment=payment_id)] == ["ORD-00000001"]
    assert listed(world, recurring_payment="rp_other") == []


def listed(world: Any, **query: str) -> Any:
    return call(world, "GET", "/orders", query=query)["data"]


def test_list_items_are_orders_without_legs() -> None:
    world = fresh()
    made = swap(world)
    whole = order(world, made["id"])
    del whole["transactions"]
    assert listed(world) == [whole]


def test_the_list_filters() -> None:
    world = fresh()
    made = everything(world)

    def kinds(**query: str) -> set[str]:
        return {row["order_type"] for row in listed(world, **query)}

    assert kinds() == set(made)
    assert kinds(order_type="swap") == {"swap"}
    assert kinds(order_type="swap,buy") == {"swap", "buy"}
    assert kinds(asset="XLM") == {"swap"}
    assert kinds(asset="CELO") == {"onramp"}
    assert kinds(network="celo") == {"onramp", "offramp"}
    assert kinds(network="bitcoin") == {"deposit"}
    assert kinds(fiat_currency="KES") == {"onramp", "offramp", "buy", "withdraw"}
    assert kinds(fiat_currency="NGN") == set()
    assert kinds(status="pending") == {"onramp", "offramp", "buy", "swap"}
    assert kinds(status="processing") == {"withdraw"}
    assert kinds(status="successful,processing") == {"send", "deposit", "withdraw"}


@pytest.mark.parametrize(
    "query",
    [
        {"order_type": "loan"},
        {"asset": "KES"},
        {"asset": "DOGE"},
        {"network": "STELLAR"},
        {"network": "btc"},
        {"fiat_currency": "USDC"},
        {"status": "completed"},
        {"status": "pending,"},
        {"sort_by": "total_amount"},
        {"search": "x"},
    ],
)
def test_an_unknown_filter_value_is_refused(query: dict[str, str]) -> None:
    with pytest.raises(ApiError) as refused:
        listed(fresh(), **query)
    assert (refused.value.code, refused.value.param) == ("invalid_parameter", next(iter(query)))


def test_the_list_searches_number_transaction_and_reference() -> None:
    """Decision L4."""
    world = fresh()
    made = withdraw(world, reference="Invoice-77")
    swap(world)
    for text in ("ord-00000001", made["id"].upper(), "voice-7"):
        assert [row["order_id"] for row in listed(world, search=text)] == ["ORD-00000001"]
    assert listed(world, search="254722") == []


def test_the_list_sorts_by_the_orders_amount() -> None:
    world = fresh()
    buy(world)
    send(world)
    swap(world)
    assert [row["amount"] for row in listed(world, sort_by="amount", sort_order="asc")] == [10, 12, 5000]
    assert [row["order_type"] for row in listed(world)] == ["swap", "send", "buy"]


def test_transfers_to_other_users_are_not_listed_as_orders() -> None:
    world = fresh()
    send(world)
    assert [row["order_type"] for row in listed(world)] == ["send"]


def test_a_deposit_is_a_successful_order() -> None:
    world = fresh()
    shown = order(world, credited(world)["id"])
    assert (shown["order_type"], shown["status"], shown["exchange_rate"], shown["slippage"]) == (
        "deposit",
        "successful",
        None,
        None,
    )
    assert shown["total_fees"] == 0


def test_ramps_carry_their_addresses_and_memos() -> None:
    world = fresh()
    bought, sold = onramp(world), offramp(world)
    assert order(world, bought["id"])["recipient_address"] == bought["wallet_address"]
    assert order(world, sold["id"])["recipient_address"] == sold["deposit"]["address"]


SYSTEM = "0000-0000-0000-0000"


def legs_of(world: Any, transaction: Any) -> Any:
    return order(world, transaction["id"])["transactions"]


def test_s18_the_exchange_rate_leads_from_the_paid_asset_to_the_received_one() -> None:
    world = fresh()
    for transaction in (buy(world), onramp(world)):
        shown = order(world, transaction["id"])
        worth = shown["to_amount"] / (shown["amount"] - shown["total_fees"])
        assert abs(shown["exchange_rate"] / worth - 1) < Decimal("0.001")
        assert len(shown["exchange_rate"].as_tuple().digits) <= 10
        assert {leg["exchange_rate"] for leg in shown["transactions"]} == {f"{shown['exchange_rate']:f}"}
        assert {(leg["base_currency"], leg["quote_currency"]) for leg in shown["transactions"]} == {
            ("KES", shown["to_asset"])
        }
    sold = offramp(world)
    assert order(world, sold["id"])["exchange_rate"] == Decimal(sold["rate"])
    assert {leg["exchange_rate"] for leg in legs_of(world, sold)} == {sold["rate"]}


def totals(world: Any, transaction: Any) -> Any:
    shown = order(world, transaction["id"])
    return shown["total_amount"], shown["receive_amount"]


def test_s18_unsuccessful_order_has_no_received_amount() -> None:
    world = fresh()
    unpaid, short, swapped, paid_out = buy(world), buy(world), swap(world), withdraw(world)
    assert totals(world, unpaid) == (5000, Decimal(unpaid["amount"]))
    act(world, ROOMS, "payment_declined", unpaid["id"])
    act(world, ROOMS, "payment_arrives", short["id"], amount="4000")
    act(world, ROOMS, "fail", swapped["id"])
    act(world, ROOMS, "fail", paid_out["id"])
    assert totals(world, unpaid) == (None, None)
    assert totals(world, short) == (4000, None)
    assert totals(world, swapped) == (None, None)
    assert totals(world, paid_out) == (20, None)


def test_s18_a_ramp_that_expired_debited_nothing_and_a_refunded_one_did() -> None:
    world = fresh()
    bought, sold = onramp(world), offramp(world)
    act(world, ROOMS, "deposit_arrives", sold["id"])
    act(world, ROOMS, "refund", sold["id"])
    go(world, "2026-01-05T08:30:00Z")
    assert totals(world, bought) == (None, None)
    assert totals(world, sold) == (50, None)


def test_s18_hash_and_addresses_are_on_the_token_leg() -> None:
    world = fresh()
    bought, sold = onramp(world), offramp(world)
    act(world, ROOMS, "payment_arrives", bought["id"])
    act(world, ROOMS, "complete", bought["id"])
    act(world, ROOMS, "deposit_arrives", sold["id"])
    for made, fiat_leg, token_leg in ((bought, 0, 1), (sold, 1, 0)):
        legs = legs_of(world, made)
        assert legs[token_leg]["tx_hash"] == call(world, "GET", "/transactions/{id}", id=made["id"])["tx_hash"]
        assert legs[token_leg]["to_wallet"] in (made.get("wallet_address"), made.get("deposit", {}).get("address"))
        assert (legs[fiat_leg]["tx_hash"], legs[fiat_leg]["to_wallet"], legs[fiat_leg]["from_wallet"]) == (None, "", "")


def test_s18_each_network_of_a_swap_has_its_own_hash() -> None:
    world = fresh()
    quote = call(
        world,
        "POST",
        "/wallet/swap/quote",
        {
            "from": {"symbol": "USDC", "network": "STELLAR"},
            "to": {"symbol": "CUSD", "network": "CELO"},
            "amount": "10",
            "amount_side": "from",
        },
    )
    made = call(world, "POST", "/wallet/swap", {"quote_id": quote["id"]})
    act(world, ROOMS, "complete", made["id"])
    sent, received = legs_of(world, made)
    assert len(sent["tx_hash"]) == 64
    assert received["tx_hash"].startswith("0x")
    assert received["tx_hash"] == call(world, "GET", "/transactions/{id}", id=made["id"])["tx_hash"]
    inside = swap(world)
    act(world, ROOMS, "complete", inside["id"])
    assert len({leg["tx_hash"] for leg in legs_of(world, inside)}) == 1


def test_s18_customer_owns_the_legs_that_debit_or_credit_them() -> None:
    world = fresh()
    owner = call(world, "GET", "/profile")["user_id"]
    expected = {
        "onramp": [owner, SYSTEM],
        "offramp": [owner, SYSTEM],
        "send": [owner, SYSTEM],
        "withdraw": [owner, SYSTEM],
        "swap": [owner, owner],
        "buy": [owner, owner],
        "deposit": [SYSTEM, owner],
    }
    made = everything(world)
    assert {kind: [leg["user_id"] for leg in legs_of(world, row)] for kind, row in made.items()} == expected
