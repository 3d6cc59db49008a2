"""Tests that inject faults themselves, unlike the other tests, into which explore injects them."""

from __future__ import annotations

import pytest

from simulator.testing import World
from tests.tools.exploration.forty.conftest import Payments

pytestmark = pytest.mark.scenario("autopilot")


def test_an_answer_that_is_lost_pays_once(world: World, payments: Payments) -> None:
    before = payments.left()
    with world.fault("POST /wallet/send", after_commit=True, drop=True, times=1):
        payments.send("20")
    world.advance("5m")
    assert before - payments.left() < 40


def test_a_rate_limited_call_waits(world: World, payments: Payments) -> None:
    with world.fault("POST /quotes", respond={"status": 429, "code": "rate_limited", "retry_after": 1}, times=1):
        bought = payments.onramp()
    world.advance("5m")
    assert payments.status(bought) == "completed"
