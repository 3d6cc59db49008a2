"""Steps of an integrator in one line each."""

from __future__ import annotations

from typing import Any

from simulator.testing import World
from tests.support import CELO, QUOTE


def onramp(world: World) -> dict[str, Any]:
    """A confirmed onramp that waits for its payer."""
    quote = world.client.post("/quotes", json=QUOTE).raise_for_status().json()
    body = {"wallet_address": CELO, "payer": {"phone_number": "+254712345678"}}
    ramp: dict[str, Any] = world.client.post(f"/quotes/{quote['id']}/confirm", json=body).raise_for_status().json()
    return ramp
