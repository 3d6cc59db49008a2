"""Orders between shillings and USDC."""

from __future__ import annotations

import pytest

from simulator.testing import World
from tests.tools.exploration.forty.conftest import PHONE, RAMP, WALLET, Payments, Refused

pytestmark = pytest.mark.scenario("autopilot")


def test_an_onramp_is_delivered(world: World, payments: Payments) -> None:
    bought = payments.onramp()
    world.advance("5m")
    assert payments.status(bought) == "completed"


def test_an_onramp_waits_for_its_payment(payments: Payments) -> None:
    assert payments.onramp()["status"] == "awaiting_payment"


def test_an_onramp_carries_our_reference(world: World, payments: Payments) -> None:
    bought = payments.onramp(reference="order-7")
    world.advance("5m")
    found = payments.get("/transactions", search="order-7")["data"]
    assert [row["id"] for row in found] == [bought["id"]]


def test_two_customers_buy_at_a_time(world: World, payments: Payments) -> None:
    first, second = payments.onramp("5000", reference="a"), payments.onramp("7000", reference="b")
    world.advance("5m")
    assert [payments.status(first), payments.status(second)] == ["completed", "completed"]


@pytest.mark.scenario
def test_a_payer_who_never_pays_gets_nothing(world: World, payments: Payments) -> None:
    bought = payments.onramp()
    world.advance("2h")
    assert payments.status(bought) == "expired"


@pytest.mark.scenario
def test_a_payment_is_taken_when_it_comes(world: World, payments: Payments) -> None:
    bought = payments.onramp()
    world.act("payment_arrives", bought)
    world.act("complete", bought)
    assert payments.status(bought) == "completed"


@pytest.mark.scenario
def test_a_payment_that_is_declined_delivers_nothing(world: World, payments: Payments) -> None:
    bought = payments.onramp()
    world.act("payment_declined", bought)
    assert payments.status(bought) == "failed"


def test_an_offramp_is_paid_out(world: World, payments: Payments) -> None:
    sold = payments.offramp()
    world.advance("5m")
    assert payments.status(sold) == "completed"


def test_an_offramp_says_where_to_deposit(payments: Payments) -> None:
    sold = payments.offramp()
    assert sold["status"] == "awaiting_deposit"
    assert sold["deposit"]["address"]


@pytest.mark.scenario
def test_a_deposit_is_paid_out_when_it_comes(world: World, payments: Payments) -> None:
    sold = payments.offramp()
    world.act("deposit_arrives", sold)
    world.act("complete", sold)
    assert payments.status(sold) == "completed"


@pytest.mark.scenario("autopilot", "payout-fails-and-refunds")
def test_a_payout_that_bounces_is_refunded(world: World, payments: Payments) -> None:
    sold = payments.offramp()
    world.advance("1h")
    assert payments.status(sold) == "refunded"


def test_a_quote_can_be_looked_at_again(world: World, payments: Payments) -> None:
    bought = payments.onramp()
    quote = payments.get(f"/quotes/{bought['quote_id']}")
    assert quote["id"] == bought["quote_id"]


def test_a_quote_that_is_too_old_is_refused(world: World, payments: Payments) -> None:
    quote = payments.post("/quotes", {**RAMP, "type": "onramp", "amount": "5000", "amount_currency": "KES"})
    world.advance("31m")
    with pytest.raises(Refused, match="quote_expired"):
        payments.post(f"/quotes/{quote['id']}/confirm", {"wallet_address": WALLET, "payer": {"phone_number": PHONE}})


def test_the_same_order_twice_is_one_order(world: World, payments: Payments) -> None:
    body = {**RAMP, "type": "onramp", "amount": "5000", "amount_currency": "KES"}
    assert payments.post("/quotes", body, "order-1") == payments.post("/quotes", body, "order-1")
