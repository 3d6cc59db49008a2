"""Events that the service reports in webhooks."""

from __future__ import annotations

import pytest

from simulator.testing import World
from tests.tools.exploration.forty.conftest import Inbox, Payments

pytestmark = pytest.mark.scenario("autopilot")


def test_all_events_of_an_onramp_arrive(world: World, payments: Payments, inbox: Inbox) -> None:
    bought = payments.onramp()
    world.advance("5m")
    assert "transaction.completed" in inbox.types(bought)


def test_all_events_of_an_offramp_arrive(world: World, payments: Payments, inbox: Inbox) -> None:
    sold = payments.offramp()
    world.advance("5m")
    assert "transaction.completed" in inbox.types(sold)


def test_a_send_is_reported(world: World, payments: Payments, inbox: Inbox) -> None:
    sent = payments.send()
    world.advance("2m")
    assert "transaction.completed" in inbox.types(sent)


def test_a_withdrawal_is_reported(world: World, payments: Payments, inbox: Inbox) -> None:
    withdrawn = payments.withdraw()
    world.advance("5m")
    assert "transaction.completed" in inbox.types(withdrawn)


def test_a_repeated_notification_counts_once(world: World, payments: Payments, inbox: Inbox) -> None:
    world.fault(webhook={"event": "transaction.completed"}, deliver={"copies": 3})
    bought = payments.onramp()
    world.advance("5m")
    assert inbox.types(bought).count("transaction.completed") == 1


def test_a_refused_delivery_is_repeated(world: World, payments: Payments, inbox: Inbox) -> None:
    world.fault(webhook={"event": "transaction.completed"}, deliver={"acknowledgement_lost": True})
    bought = payments.onramp()
    world.advance("1d")
    assert inbox.types(bought).count("transaction.completed") == 1
