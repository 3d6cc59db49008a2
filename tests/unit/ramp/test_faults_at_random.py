"""Random faults and calls of the ramp: nothing breaks, no money doubles, and every event is delivered eventually."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from simulator.engine.server.runtime import Runtime
from simulator.engine.worlds.simulator import Blueprint
from simulator.host import Simulator, application_of
from tests.seeds import walk_seed
from tests.support import KEYS
from tests.unit.engine.server.test_faults_at_random import Integrator, failing_receiver, fault, walk

SEND = {"symbol": "USDC", "network": "CELO", "amount": "5", "destination": {"type": "platform_user",
        "email": "amina@example.test"}}  # fmt: skip
ONRAMP = {"type": "onramp", "network": "celo", "asset": "USDC", "fiat_currency": "KES", "amount": "5000",
          "amount_currency": "KES", "method": "mobile_money"}  # fmt: skip
CONFIRM = {"wallet_address": "0x52908400098527886E0F7030069857D2E4169EE7", "payer": {"phone_number": "+254722000000"}}
EVENTS = (
    None,
    "transaction.created",
    "transaction.processing",
    "transaction.completed",
    "transaction.awaiting_payment",
)
PATHS = ("/wallet/*", "/quotes*")
STEPS = ("send", "send", "onramp", "onramp", "pay", "complete", "advance", "lift")


class Payer(Integrator):
    """Sends and onramps, and keeps count of the sends."""

    async def sign_in(self) -> None:
        self.token = (await self.client.request("POST", "/v1/auth/token", KEYS)).body["access_token"]

    async def step(self, what: str) -> None:
        if what == "send":
            await self.counted("/wallet/send", SEND)
        elif what == "onramp":
            quote = await self.call("POST", "/quotes", ONRAMP)
            if quote is not None:
                made = await self.call("POST", f"/quotes/{quote['id']}/confirm", CONFIRM)
                self.orders += [] if made is None else [made["id"]]
        elif what in ("pay", "complete") and self.orders:
            action = {"pay": "payment_arrives", "complete": "complete"}[what]
            await self.control("POST", f"/actions/{action}", {"target": self.orders[-1]})
        else:
            await super().step(what)

    async def total(self) -> int:
        sends = await self.call("GET", "/transactions?type=send&size=100")
        total: int = sends["pagination"]["total"]
        return total


@pytest.mark.parametrize("seed", range(40))
def test_nothing_breaks_doubles_or_gets_lost(seed: int) -> None:
    rng = Random(walk_seed(seed))

    async def play() -> None:
        simulator = Simulator()
        simulator.create_world(Blueprint("default", 1))
        application = application_of(Runtime(simulator, failing_receiver(rng)))
        await walk(Payer(application), rng, [fault(rng, PATHS, EVENTS) for _ in range(5)], STEPS)
        await application.runtime.close()

    asyncio.run(play())
