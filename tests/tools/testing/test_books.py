"""The account's ledger: sums and entries, balanced in every currency after any event."""

from __future__ import annotations

from decimal import Decimal

import pytest

from simulator.testing import SimulatorError, World
from simulator.testing.books import Ledger, totals
from tests.tools.testing.orders import onramp


def summed(ledger: Ledger) -> dict[tuple[str, str], Decimal]:
    sums: dict[tuple[str, str], Decimal] = {}
    for entry in ledger.entries:
        for posting in entry["postings"]:
            place = posting["currency"], posting["account"]
            sums[place] = sums.get(place, Decimal(0)) + posting["amount"]
    return sums


@pytest.fixture
def busy(kit: World) -> World:
    """A world in which money moved in both environments."""
    kit.scenario("autopilot")
    for environment in ("sandbox", "production"):
        for event in ("transaction.completed", "transaction.refunded", "transaction.failed"):
            kit.trigger(event, environment=environment)
    kit.act("complete", kit.act("payment_arrives", onramp(kit))["resource"])
    return kit


def test_the_books_begin_with_what_an_account_has(kit: World) -> None:
    ledger = kit.ledger()
    assert ledger.amount("available", "USDC.celo") == Decimal(1000)
    assert ledger.amount("world", "USDC.celo") == Decimal(-1000)
    assert {entry["purpose"] for entry in ledger.entries} == {"opening"}
    assert all(entry["resource_id"] is None and entry["at"] == kit.now for entry in ledger.entries)


def test_the_sums_are_those_of_the_entries_and_zero_in_each_currency(busy: World) -> None:
    for environment in ("sandbox", "production"):
        ledger = busy.ledger(environment)
        assert {(row["currency"], row["account"]): row["amount"] for row in ledger.accounts} == summed(ledger)
        assert len(ledger.entries) > 7
        for entry in ledger.entries:
            balanced = Ledger([{**posting} for posting in entry["postings"]], [])
            assert set(totals(balanced).values()) == {Decimal(0)}
        assert set(totals(ledger).values()) == {Decimal(0)}


def test_every_entry_belongs_to_its_environment(busy: World) -> None:
    for environment in ("sandbox", "production"):
        for entry in busy.ledger(environment).entries:
            if entry["resource_id"]:
                assert busy.resource(entry["resource_id"])["environment"] == environment


def test_an_onramp_bypasses_balances_but_is_in_the_ledger(kit: World) -> None:
    ramp = onramp(kit)
    kit.act("payment_arrives", ramp)
    assert kit.ledger().amount("clearing", "KES") == Decimal(5000)
    kit.act("complete", ramp)
    ledger = kit.ledger()
    assert ledger.amount("clearing", "KES") == 0
    assert ledger.of(ramp["id"])[0]["purpose"] == "receipt"
    assert kit.balance("USDC", "CELO") == 1000


def test_balances_are_exact_and_include_holds(kit: World) -> None:
    before = kit.balance("usdc", "celo")
    kit.act("set_balance", symbol="USDC", network="CELO", amount="0.300001")
    assert before == Decimal(1000)
    assert kit.balance("USDC", "CELO") == Decimal("0.300001")
    assert kit.balance("KES") == 0


@pytest.mark.parametrize(("symbol", "network"), [("USDC", "BASE"), ("USCD", "CELO"), ("USDC", None)])
def test_the_balance_of_an_unknown_asset_is_an_error(kit: World, symbol: str, network: str | None) -> None:
    with pytest.raises(SimulatorError, match=r"there are XLM\.stellar, .*, and the fiat currencies KES"):
        kit.balance(symbol, network)


def test_other_users_show_what_they_had_from_this_account(kit: World) -> None:
    amina = kit.info["platform_users"][0]
    destination = {"type": "platform_user", "email": amina["email"]}
    body = {"symbol": "USDC", "network": "CELO", "amount": "20", "destination": destination}
    kit.client.post("/wallet/send", json=body).raise_for_status()
    ledger = kit.ledger()
    assert ledger.amount(f"{amina['user_id']}/available", "USDC.celo") == Decimal(20)
    assert kit.balance("USDC", "CELO") == Decimal(980)
    assert set(totals(ledger).values()) == {Decimal(0)}


def test_balances_of_other_users_are_not_shown(kit: World) -> None:
    assert {row["account"] for row in kit.ledger().accounts} == {"available", "world"}
