"""The shop's customers at work. These tests assert little, because explore checks the money."""

from __future__ import annotations

from uuid import uuid4

import pytest

from tests.tools.exploration.shops.conftest import Shop

pytestmark = pytest.mark.scenario("autopilot")


def test_onramp(shop: Shop) -> None:
    shop.onramp("A-1")
    shop.world.advance("5m")


def test_offramp(shop: Shop) -> None:
    shop.offramp("A-1", "2048.18", "KES")
    shop.world.advance("5m")


def test_standing_payout(shop: Shop) -> None:
    shop.standing_payout("rent")
    shop.world.advance("5d")


def test_customer_tries_again(shop: Shop) -> None:
    shop.offramp("A-1")
    shop.world.advance("2h")
    shop.try_again("A-1")
    shop.world.advance("10m")


def test_orders_that_are_called_alike(shop: Shop) -> None:
    shop.onramp("A-10")
    shop.world.advance("5m")
    shop.onramp("A-1")
    shop.onramp("A-1")
    shop.world.advance("5m")


def test_job_runs_meanwhile(shop: Shop) -> None:
    shop.offramp("A-1")
    shop.world.advance("30s")
    shop.shop.reconcile()
    shop.world.advance("5m")


def test_standing_payout_that_the_owner_ends(shop: Shop) -> None:
    shop.standing_payout("wages")
    shop.world.advance("2d")
    shop.end_in_the_dashboard("wages")


def test_order_that_is_called_like_a_run(shop: Shop) -> None:
    shop.standing_payout("rent-1")
    shop.world.advance("2d")
    shop.offramp("rent-1", "31")
    shop.world.advance("5m")


def test_onramp_under_a_random_reference(shop: Shop) -> None:
    """Most shops name their orders so: no two runs have the same references."""
    shop.onramp(f"buy-{uuid4()}")
    shop.world.advance("5m")
