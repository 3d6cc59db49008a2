"""GET /wallet/assets, the opening balances and set_balance (decision R8)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.support import find_operation, invoke
from tests.unit.ramp.balance.support import ROOMS, WalletWorld, refusal


def assets(wallets: WalletWorld, **query: str) -> dict[tuple[str, str], Any]:
    return {(row["symbol"], row["network"]): row for row in wallets.get("/wallet/assets", **query)["data"]}


@pytest.mark.parametrize("environment", ["sandbox", "production"])
def test_a_fresh_account_has_its_opening_balances(environment: str) -> None:
    """Decision R8: the fields of a record."""
    found = assets(WalletWorld(environment))
    assert {key: row["balance"] for key, row in found.items()} == {
        ("USDC", "STELLAR"): "1000.00",
        ("XLM", "STELLAR"): "5000.00",
        ("CELO", "CELO"): "1000.00",
        ("CUSD", "CELO"): "1000.00",
        ("USDC", "CELO"): "1000.00",
        ("USDT", "CELO"): "1000.00",
        ("BTC", "BITCOIN"): "0.50",
    }
    assert found["BTC", "BITCOIN"] == {
        "symbol": "BTC",
        "network": "BITCOIN",
        "balance": "0.50",
        "available": "0.50",
        "held": "0.00",
        "address": None,
        "memo": None,
        "default": False,
        "updated_at": "2026-01-05T08:00:00.000Z",
    }


def test_held_amount_is_part_of_the_balance_and_updates_its_time() -> None:
    """Decision R8: balance is available + held."""
    wallets = WalletWorld()
    wallets.pass_minutes(5)
    wallets.send("10")
    row = assets(wallets)["CUSD", "CELO"]
    assert (row["balance"], row["available"], row["held"]) == ("1000.00", "990.00", "10.00")
    assert row["updated_at"] == "2026-01-05T08:05:00.000Z"
    assert assets(wallets)["USDC", "CELO"]["updated_at"] == "2026-01-05T08:00:00.000Z"


def test_the_wallet_of_the_network_is_shown_with_it() -> None:
    wallets = WalletWorld()
    wallet = wallets.post("/wallets", network="stellar")
    wallets.post("/wallets", network="stellar")
    found = assets(wallets)
    for key in (("USDC", "STELLAR"), ("XLM", "STELLAR")):
        assert (found[key]["address"], found[key]["memo"], found[key]["default"]) == (
            wallet["address"],
            wallet["memo"],
            True,
        )
    assert found["CELO", "CELO"]["default"] is False


def test_the_list_pages_sorts_and_searches() -> None:
    wallets = WalletWorld()
    answer = wallets.get("/wallet/assets", size="3", page="3")
    assert (len(answer["data"]), answer["pagination"]["total_pages"]) == (1, 3)
    by_amount = list(assets(wallets, sort_by="amount", sort_order="asc"))
    assert (by_amount[0], by_amount[-1]) == (("BTC", "BITCOIN"), ("XLM", "STELLAR"))
    assert set(assets(wallets, search="usdc")) == {("USDC", "STELLAR"), ("USDC", "CELO")}
    assert set(assets(wallets, search="stellar")) == {("USDC", "STELLAR"), ("XLM", "STELLAR")}
    assert assets(wallets, end_date="2026-01-04") == {}
    assert refusal(wallets.get, "/wallet/assets", sort_by="symbol") == (400, "invalid_parameter", "sort_by")
    assert refusal(wallets.get, "/wallet/assets", size="101") == (400, "invalid_parameter", "size")


def test_reading_changes_nothing() -> None:
    wallets = WalletWorld()
    before = wallets.world.store.tables()
    wallets.get("/wallet/assets")
    assert wallets.world.store.tables() == before


@pytest.mark.parametrize("amount", ["0", "12.5", "1000", "999999999.123456"])
def test_set_balance_sets_available_and_keeps_holds(amount: str) -> None:
    wallets = WalletWorld()
    wallets.send("10")
    row = wallets.act("set_balance", symbol="CUSD", network="CELO", amount=amount)
    assert row == assets(wallets)["CUSD", "CELO"]
    assert row["held"] == "10.00"
    assert Decimal(row["available"]) == Decimal(amount)
    wallets.books()


def test_set_balance_acts_in_one_environment() -> None:
    wallets = WalletWorld("production")
    wallets.act("set_balance", symbol="BTC", network="BITCOIN", amount="2")
    assert assets(wallets)["BTC", "BITCOIN"]["available"] == "2.00"
    wallets.environment = "sandbox"
    assert assets(wallets)["BTC", "BITCOIN"]["available"] == "0.50"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"symbol": None}, (400, "missing_parameter", "symbol")),
        ({"network": "celo"}, (400, "invalid_parameter", "network")),
        ({"symbol": "XLM"}, (400, "invalid_parameter", "symbol")),
        ({"amount": "1.1234567"}, (400, "invalid_parameter", "amount")),
        ({"amount": "-1"}, (400, "invalid_parameter", "amount")),
        ({"amount": 5}, (400, "invalid_parameter", "amount")),
    ],
)
def test_set_balance_refuses(change: dict[str, Any], expected: tuple[int, str, str]) -> None:
    values = {"symbol": "CUSD", "network": "CELO", "amount": "5", **change}
    assert refusal(WalletWorld().act, "set_balance", **values) == expected


def test_operations_check_the_right_gates() -> None:
    rows = [operation for operation in ROOMS[-1].operations if operation.path != "/wallet/assets"]
    assert all(operation.group == "wallet" for operation in ROOMS[-1].operations)
    assert [operation.path for operation in rows if not operation.money] == ["/wallet/send/estimate"]
    assert [operation.path for operation in rows if operation.reads] == ["/wallet/send/estimate"]
    assert find_operation(ROOMS, "GET", "/wallet/assets").reads
    assert {operation.status for operation in rows if operation.money} == {201}
    assert invoke(WalletWorld().world, find_operation(ROOMS, "GET", "/wallet/assets"))["pagination"]["total"] == 7
