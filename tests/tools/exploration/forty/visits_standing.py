"""Beneficiaries, recurring payouts, and incoming transfers."""

from __future__ import annotations

import pytest

from simulator.testing import World
from tests.tools.exploration.forty.conftest import Payments

pytestmark = pytest.mark.scenario("autopilot")


def test_the_rent_is_paid(world: World, payments: Payments) -> None:
    rent = payments.rent()
    world.advance("35d")
    runs = payments.get(f"/recurring-payments/{rent['id']}/transactions")["data"]
    assert {run["status"] for run in runs} == {"completed"}


def test_the_rent_is_not_paid_while_it_rests(world: World, payments: Payments) -> None:
    rent, before = payments.rent(), payments.left()
    payments.post(f"/recurring-payments/{rent['id']}/pause", {"reason": "holidays"})
    world.advance("35d")
    assert payments.left() == before


def test_the_rent_ends(world: World, payments: Payments) -> None:
    rent, before = payments.rent(), payments.left()
    payments.delete(f"/recurring-payments/{rent['id']}")
    world.advance("35d")
    assert payments.left() == before


def test_paid_recipients_are_saved(payments: Payments) -> None:
    known = payments.beneficiary()
    assert [row["id"] for row in payments.get("/beneficiaries")["data"]] == [known["id"]]


def test_a_deposit_is_seen(world: World, payments: Payments) -> None:
    wallet = payments.post("/wallets", {"network": "bitcoin", "label": "Till"})
    world.act("deposit_arrives", wallet, asset="BTC", amount="0.001")
    world.advance("2h")
    assert len(payments.get(f"/wallets/{wallet['id']}/deposits")["data"]) == 1
