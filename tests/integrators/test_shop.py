"""The shop's own flows, as its owner tests them with the kit."""

from __future__ import annotations

import pytest

from tests.integrators.rig import Rig

pytestmark = pytest.mark.scenario("autopilot")


def test_an_onramp_is_paid_delivered_and_booked(shop: Rig) -> None:
    assert shop.onramp("A-1").json()["state"] == "awaiting_payment"
    shop.world.advance("1m")
    assert shop.customer.get("/orders/A-1").json() == {
        "order": "A-1", "state": "completed", "amount": "37.892536", "currency": "USDC",
    }  # fmt: skip
    assert shop.judged() == []


def test_an_offramp_is_deposited_paid_out_and_booked(shop: Rig) -> None:
    assert shop.offramp("A-1").json()["state"] == "awaiting_deposit"
    shop.world.advance("2m")
    assert shop.state("A-1") == "completed"
    assert shop.judged() == []


def test_a_standing_payout_is_booked_run_by_run(shop: Rig) -> None:
    assert shop.standing_payout("rent", times=3).json()["state"] == "active"
    shop.world.advance("70d")
    assert [(order.reference, order.state) for order in shop.books.orders()] == [
        (f"rent-{number}", "completed") for number in (1, 2, 3)
    ]
    assert shop.judged() == []
