"""GET /transactions and GET /transactions/{id}: every kind as shown by its own operations, filters, search, sorting."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.engine.rows.error import ApiError
from simulator.engine.text.json import loads
from tests.support import CELO, act
from tests.unit.ramp.history.support import credited, everything, offramp, onramp, send, swap, withdraw
from tests.unit.ramp.recurring.world import ROOMS, active, call, fresh, go


def listed(world: Any, **query: str) -> Any:
    return call(world, "GET", "/transactions", query=query)["data"]


def kinds(world: Any, **query: str) -> list[str]:
    return sorted(row["type"] for row in listed(world, **query))


def test_every_transaction_is_shown_as_the_operation_that_made_it_answered() -> None:
    """Decision L3: `order_id` is part of every transaction, in answers and lists."""
    world = fresh()
    made = everything(world)
    shown = {row["type"]: row for row in listed(world)}
    assert set(shown) == set(made)
    for kind, transaction in made.items():
        if kind != "send":  # completed meanwhile
            assert shown[kind] == transaction
        assert call(world, "GET", "/transactions/{id}", id=transaction["id"]) == shown[kind]
        assert shown[kind]["order_id"].startswith("ORD-")


def test_the_newest_come_first() -> None:
    world = fresh()
    swap(world)
    send(world)
    assert [row["type"] for row in listed(world)] == ["send", "swap"]
    assert [row["type"] for row in listed(world, sort_order="asc")] == ["swap", "send"]


def test_an_unknown_transaction_is_not_found() -> None:
    world = fresh()
    made = swap(world)
    for transaction_id, environment in (
        ("txn_none", "sandbox"),
        (made["order_id"], "sandbox"),
        (made["id"], "production"),
    ):
        with pytest.raises(ApiError, match="not_found"):
            call(world, "GET", "/transactions/{id}", id=transaction_id, environment=environment)


def test_receipts_of_another_user_are_not_found() -> None:
    world = fresh()
    send(world)
    (table,) = (rows for name, rows in world.store.tables().items() if name.startswith("sandbox:transactions@"))
    (received,) = table
    with pytest.raises(ApiError, match="not_found"):
        call(world, "GET", "/transactions/{id}", id=received)
    assert kinds(world) == ["send"]


def test_the_list_filters() -> None:
    """Decision L3: `pending` too; a swap matches on either side's currency."""
    world = fresh()
    everything(world)
    assert kinds(world, type="deposit") == ["deposit"]
    assert kinds(world, status="pending") == ["buy", "swap"]
    assert kinds(world, status="awaiting_payment,awaiting_deposit") == ["offramp", "onramp"]
    assert kinds(world, status="refunded") == []
    assert kinds(world, network="stellar") == ["buy", "send", "swap", "withdraw"]
    assert kinds(world, network="celo") == ["offramp", "onramp"]
    assert kinds(world, network="bitcoin") == ["deposit"]
    assert kinds(world, currency="KES") == ["buy", "offramp", "onramp", "withdraw"]
    assert kinds(world, currency="XLM") == ["swap"]
    assert kinds(world, currency="USDC") == ["buy", "offramp", "send", "swap", "withdraw"]
    assert kinds(world, currency="BTC") == ["deposit"]


def test_the_bounds_of_the_amount_are_inclusive_numbers() -> None:
    """Decision L3: which amount counts, compared as a number."""
    world = fresh()
    everything(world)  # onramp 5000 KES, offramp 50, send 12, swap 10, buy about 38 USDC, withdraw 20, deposit 0.001
    assert kinds(world, min_amount="12", max_amount="20.00") == ["send", "withdraw"]
    assert kinds(world, min_amount="12.0000001", max_amount="19.9") == []
    assert kinds(world, min_amount="100") == ["onramp"]
    assert kinds(world, max_amount="0.001") == ["deposit"]
    assert kinds(world, min_amount="20", max_amount="12") == []
    assert kinds(world, sort_by="amount")[:1] == ["buy"]
    assert [row["type"] for row in listed(world, sort_by="amount", sort_order="asc")] == [
        "deposit",
        "swap",
        "send",
        "withdraw",
        "buy",
        "offramp",
        "onramp",
    ]


@pytest.mark.parametrize(
    "query",
    [
        {"type": "loan"},
        {"status": "successful"},
        {"network": "CELO"},
        {"network": "btc"},
        {"currency": "EUR"},
        {"currency": "usdc"},
        {"min_amount": "ten"},
        {"min_amount": "-1"},
        {"max_amount": "1e3"},
        {"sort_by": "status"},
        {"sort_order": "up"},
        {"start_date": "yesterday"},
        {"size": "101"},
    ],
)
def test_a_malformed_parameter_is_refused(query: dict[str, str]) -> None:
    with pytest.raises(ApiError) as refused:
        listed(fresh(), **query)
    assert (refused.value.code, refused.value.param) == ("invalid_parameter", next(iter(query)))


def test_the_search_matches_every_listed_field() -> None:
    world = fresh()
    paid = withdraw(world, reference="Salary-4")
    bought, sold = onramp(world), offramp(world)
    send(world)
    act(world, ROOMS, "deposit_arrives", sold["id"])
    tx_hash = call(world, "GET", "/transactions/{id}", id=sold["id"])["tx_hash"]

    def found(text: str) -> list[str]:
        return sorted(row["id"] for row in listed(world, search=text))

    assert found(paid["id"][4:12]) == [paid["id"]]
    assert found(paid["order_id"].lower()) == [paid["id"]]
    assert found("salary") == [paid["id"]]
    assert found("722000000") == [paid["id"]]  # the beneficiary's number
    assert found("112233") == [bought["id"]]  # the payer's account
    assert found(sold["deposit"]["address"][:20]) == [sold["id"]]
    assert found(CELO.lower()) == sorted([bought["id"], sold["id"]])
    assert found(tx_hash[2:20]) == [sold["id"]]
    assert found("no such text") == []


def test_the_transactions_of_a_recurring_payment_are_filtered() -> None:
    world = fresh()
    payment_id = active(world)
    withdraw(world)
    go(world, "2026-01-07T07:00:00Z")
    assert [row["reference"] for row in listed(world, recurring_payment_id=payment_id)] == ["rent-2", "rent-1"]
    assert listed(world, recurring_payment_id="rp_other") == []


def test_pages_are_cut_and_counted() -> None:
    world = fresh()
    for _ in range(3):
        send(world)
    answer = call(world, "GET", "/transactions", query={"size": "2", "page": "2"})
    assert len(answer["data"]) == 1
    assert answer["pagination"] == {"page": 2, "size": 2, "total": 3, "total_pages": 2}
    beyond = call(world, "GET", "/transactions", query={"limit": "2", "page": "9"})
    assert beyond["data"] == []
    assert beyond["pagination"]["total_pages"] == 2


def test_a_swap_between_networks_is_found_under_both() -> None:
    """Decision L3: a swap matches on either side's network and currency."""
    world = fresh()
    sides = {"from": {"symbol": "USDC", "network": "STELLAR"}, "to": {"symbol": "CUSD", "network": "CELO"}}
    quote = call(world, "POST", "/wallet/swap/quote", {**sides, "amount": "10", "amount_side": "from"})
    made = call(world, "POST", "/wallet/swap", {"quote_id": quote["id"]})
    for query in ({"network": "stellar"}, {"network": "celo"}, {"currency": "USDC"}, {"currency": "CUSD"}):
        assert [row["id"] for row in listed(world, **query)] == [made["id"]]
    assert listed(world, network="bitcoin") == listed(world, currency="XLM") == []


def test_the_object_of_a_transactions_event_carries_its_order() -> None:
    """Decision L3: `order_id` is part of every transaction wherever it is shown."""
    world = fresh()
    made = everything(world)
    told = [loads(event.raw)["data"]["object"] for event in world.journal.events() if event.type.startswith("tran")]
    assert {row["id"]: row["order_id"] for row in told} == {
        made[kind]["id"]: made[kind]["order_id"] for kind in ("onramp", "offramp", "send", "withdraw")
    }


def test_a_deposit_is_shown_in_the_shape_of_wallet_transactions() -> None:
    """Decision S12: completed, network in upper case, with the id of its deposit."""
    world = fresh()
    made = credited(world)
    (wallet,) = call(world, "GET", "/wallets")["data"]
    (deposit,) = call(world, "GET", "/wallets/{id}/deposits", id=wallet["id"])["data"]
    known = ("type", "status", "symbol", "network", "amount", "net_amount", "deposit_id", "tx_hash", "reference")
    assert {name: made[name] for name in known} == {
        "type": "deposit",
        "status": "completed",
        "symbol": "BTC",
        "network": "BITCOIN",
        "amount": "0.001",
        "net_amount": "0.001",
        "deposit_id": deposit["id"],
        "tx_hash": deposit["tx_hash"],
        "reference": "till-3",
    }
