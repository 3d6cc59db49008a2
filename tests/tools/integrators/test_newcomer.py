"""The first tests that integrators write, with the test kit. They test an integration, not the simulator."""

from __future__ import annotations

import pytest

from simulator.testing import World
from tests.tools.integrators.rig import Rig

pytestmark = pytest.mark.scenario("autopilot")


def test_an_onramp_is_delivered(world: World, my_shop: Rig) -> None:
    my_shop.onramp("A-1")
    world.advance("1m")
    assert my_shop.shown("A-1") == ("completed", "37.892536 USDC")


@pytest.mark.scenario("autopilot", "payout-fails-and-refunds")
def test_a_payout_that_fails_is_refunded(world: World, my_shop: Rig) -> None:
    my_shop.offramp("A-1")
    world.advance("1h")
    assert my_shop.shown("A-1") == ("refunded", "0 KES")


def test_a_quote_that_has_expired_is_renewed(world: World, my_shop: Rig) -> None:
    with world.fault("POST /quotes/*/confirm", drop=True):
        my_shop.onramp("A-1")
    world.advance("31m")
    my_shop.onramp("A-1")
    assert my_shop.shown("A-1") == ("awaiting_payment", "0 USDC")
    assert len(world.events("quote.expired")) == 1


def test_webhooks_that_come_twice_and_out_of_order_count_once(world: World, my_shop: Rig) -> None:
    world.fault(webhook={"event": "transaction.processing"}, deliver={"reorder": True})
    world.fault(webhook={"event": "transaction.completed"}, deliver={"copies": 3})
    my_shop.onramp("A-1")
    world.advance("1m")
    assert my_shop.shown("A-1") == ("completed", "37.892536 USDC")


def test_an_answer_that_is_lost_is_asked_for_with_the_same_key(world: World, my_shop: Rig) -> None:
    with world.fault("POST /quotes/*/confirm", after_commit=True, drop=True, times=1):
        my_shop.onramp("A-1")
    world.advance("1h")
    assert my_shop.shown("A-1") == ("completed", "37.892536 USDC")
    assert len(world.events("transaction.completed")) == 1


def test_a_rate_limited_call_waits(world: World, my_shop: Rig) -> None:
    begin = world.now
    with world.fault("POST /quotes", respond={"status": 429, "code": "rate_limited", "retry_after": 40}, times=1):
        my_shop.onramp("A-1")
    assert (world.now - begin).seconds == 40
    assert my_shop.state("A-1") == "awaiting_payment"


def test_the_rent_is_paid_three_months_long(world: World, my_shop: Rig) -> None:
    my_shop.standing_payout("rent", times=3)
    world.advance("70d")
    assert [my_shop.state(f"rent-{month}") for month in (1, 2, 3)] == ["completed"] * 3
    assert world.balance("USDC", "CELO") == 1000 - 3 * 20


def test_a_token_that_has_lapsed_is_renewed(world: World, my_shop: Rig) -> None:
    my_shop.onramp("A-1")
    world.advance("2h")
    assert my_shop.onramp("B-2").status_code == 200
    assert len(world.requests(status=401)) == 1
