"""Wallet balances: sends to an address, swaps, buys with shillings, withdrawals in shillings."""

from __future__ import annotations

from decimal import Decimal

import pytest

from simulator.testing import World
from tests.tools.exploration.forty.conftest import USDC, WALLET, Payments, Refused

pytestmark = pytest.mark.scenario("autopilot")


def test_a_send_is_completed(world: World, payments: Payments) -> None:
    sent = payments.send()
    world.advance("2m")
    assert payments.status(sent) == "completed"


def test_a_send_leaves_the_balance(world: World, payments: Payments) -> None:
    before = payments.left()
    payments.send("20")
    world.advance("2m")
    assert payments.left() <= before - 20


def test_a_send_shows_its_cost(payments: Payments) -> None:
    wanted = {**USDC, "amount": "20", "destination": {"type": "address", "address": WALLET}}
    estimate = payments.post("/wallet/send/estimate", wanted)
    assert Decimal(estimate["net_amount"]) <= 20


def test_more_than_there_is_cannot_be_sent(payments: Payments) -> None:
    with pytest.raises(Refused, match="insufficient_balance"):
        payments.send("5000")


def test_salaries_go_out_once_each(world: World, payments: Payments) -> None:
    salaries = [payments.send(amount, key=f"salary-{amount}") for amount in ("10", "11", "12")]
    world.advance("5m")
    assert [payments.status(salary) for salary in salaries] == ["completed"] * 3


def test_a_send_requested_twice_is_sent_once(world: World, payments: Payments) -> None:
    first, second = payments.send(key="gift"), payments.send(key="gift")
    world.advance("5m")
    assert first["id"] == second["id"]


def test_a_swap_is_completed(world: World, payments: Payments) -> None:
    swapped = payments.swap()
    world.advance("2m")
    assert payments.status(swapped) == "completed"


def test_a_swap_fills_the_other_side(world: World, payments: Payments) -> None:
    before = world.balance("CUSD", "CELO")
    payments.swap("25")
    world.advance("2m")
    assert world.balance("CUSD", "CELO") > before


def test_a_purchase_is_credited(world: World, payments: Payments) -> None:
    bought = payments.buy()
    world.advance("5m")
    assert payments.status(bought) == "completed"


@pytest.mark.scenario("autopilot", "buy-declined")
def test_a_purchase_that_is_declined_is_not(world: World, payments: Payments) -> None:
    before = payments.left()
    payments.buy()
    world.advance("5m")
    assert payments.left() == before


def test_a_withdrawal_is_paid_out(world: World, payments: Payments) -> None:
    withdrawn = payments.withdraw()
    world.advance("5m")
    assert payments.status(withdrawn) == "completed"


@pytest.mark.scenario("autopilot", "withdraw-fails-and-refunds")
def test_a_withdrawal_that_fails_is_given_back(world: World, payments: Payments) -> None:
    before = payments.left()
    payments.withdraw()
    world.advance("1h")
    assert payments.left() == before


def test_a_bought_asset_can_be_sent(world: World, payments: Payments) -> None:
    payments.buy()
    world.advance("5m")
    sent = payments.send("1010")
    world.advance("5m")
    assert payments.status(sent) == "completed"
