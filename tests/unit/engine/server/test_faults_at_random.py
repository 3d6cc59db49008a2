"""Any faults, any calls: nothing breaks, nothing is done twice or by halves, and every event arrives in the end."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

import pytest

from simulator.engine import webhooks
from simulator.engine.clients.asynchronous import AsgiClient
from simulator.engine.server.runtime import Runtime
from simulator.engine.worlds.simulator import Blueprint
from simulator.host import Simulator, application_of
from tests.fake_transport import FakeTransport
from tests.seeds import walk_seed

SEND = {"symbol": "USDC", "network": "CELO", "amount": "5", "destination": {"type": "platform_user",
        "email": "amina@example.test"}}  # fmt: skip
ONRAMP = {"type": "onramp", "network": "celo", "asset": "USDC", "fiat_currency": "KES", "amount": "5000",
          "amount_currency": "KES", "method": "mobile_money"}  # fmt: skip
CONFIRM = {"wallet_address": "0x52908400098527886E0F7030069857D2E4169EE7", "payer": {"phone_number": "+254722000000"}}
DOWN = {"status": 503, "code": "service_unavailable"}
EVENTS = [
    None,
    "transaction.created",
    "transaction.processing",
    "transaction.completed",
    "transaction.awaiting_payment",
]

EFFECTS: list[dict[str, Any]] = [
    {"respond": DOWN}, {"drop": True}, {"respond": DOWN, "after_commit": True}, {"drop": True, "after_commit": True},
    {"malformed": "truncate"}, {"key_forgotten": True}, {"unknown_enum": True}, {"extra_field": True},
    {"missing_field": True, "unknown_enum": True}, {"answer_delay": "1ms"},
]  # fmt: skip
DELIVERIES: dict[str, list[Any]] = {
    "hold": [1, 3, "terminal"], "copies": [2, 3], "delay": ["10s", "1h"],
    **{name: [True] for name in (
        "reorder", "drop", "before_answer", "two_at_once", "acknowledgement_lost", "alter_body", "unknown_type",
        "unknown_enum", "extra_field", "missing_field")},
}  # fmt: skip
STEPS = ["send", "send", "onramp", "onramp", "pay", "complete", "advance", "lift"]


def fault(rng: Random) -> dict[str, Any]:
    """A fault that does not last for ever."""
    lasts: dict[str, Any] = rng.choice([{"times": 1}, {"times": 3}, {"probability": 0.5}])
    if rng.random() < 0.4:
        keyed: dict[str, int] = rng.choice([{}, {"first_per_key": 1}, {"first_per_key": 2}])
        return {"match": {"path": rng.choice(["/wallet/*", "/quotes*"])}, **rng.choice(EFFECTS), **keyed, **lasts}
    chosen = rng.sample(sorted(DELIVERIES), rng.randint(1, 2))
    event = rng.choice(EVENTS)
    deliver = {name: rng.choice(DELIVERIES[name]) for name in chosen}
    return {"webhook": {} if event is None else {"event": event}, "deliver": deliver, **lasts}


class Integrator:
    """Calls with a key until it is answered well, and keeps count of the sends that were, and that never were."""

    def __init__(self, client: AsgiClient) -> None:
        self.client = client
        self.token = ""
        self.keys = self.sent = self.unanswered = 0
        self.onramps: list[str] = []

    async def sign_in(self) -> None:
        pair = {"public_key": "pk_test_simulator", "secret_key": "sk_test_simulator"}
        self.token = (await self.client.request("POST", "/v1/auth/token", pair)).body["access_token"]

    async def register(self) -> None:
        hook = {"url": "https://receiver.example.com/hooks", "events": ["*"]}
        assert (await self.call("POST", "/webhooks", hook))["status"] == "enabled"

    async def disturb(self, wanted: dict[str, Any]) -> bool:
        """Whether the fault is in force and lets work be done twice."""
        made = await self.control("POST", "/faults", wanted)
        return made.status == 201 and "key_forgotten" in wanted

    async def control(self, method: str, path: str, body: Any = None) -> Any:
        answer = await self.client.request(method, f"/_simulator{path}", body)
        assert answer.status < 500, answer.body
        return answer

    async def call(self, method: str, path: str, body: Any = None) -> Any:
        self.keys += 1
        headers = {"Authorization": f"Bearer {self.token}", "Idempotency-Key": f"key-{self.keys}"}
        for _ in range(12):
            try:
                answer = await self.client.request(method, f"/v1{path}", body, headers)
            except ConnectionError:
                continue
            assert answer.status != 500, answer.body
            if isinstance(answer.body, dict) and answer.status != 503:
                return answer.body if answer.status < 300 else None
        return None

    async def step(self, what: str) -> None:
        if what == "send":
            done = await self.call("POST", "/wallet/send", SEND) is not None
            self.sent += done
            self.unanswered += not done
        elif what == "onramp":
            quote = await self.call("POST", "/quotes", ONRAMP)
            if quote is not None:
                made = await self.call("POST", f"/quotes/{quote['id']}/confirm", CONFIRM)
                self.onramps += [] if made is None else [made["id"]]
        elif what in ("pay", "complete") and self.onramps:
            action = {"pay": "payment_arrives", "complete": "complete"}[what]
            await self.control("POST", f"/actions/{action}", {"target": self.onramps[-1]})
        elif what == "advance":
            await self.control("POST", "/clock/advance", {"by": "2h"})
        elif what == "lift":
            await self.control("DELETE", "/faults")


@pytest.mark.parametrize("seed", range(40))
def test_nothing_breaks_doubles_or_gets_lost(seed: int) -> None:
    rng, transport = Random(walk_seed(seed)), FakeTransport()
    transport.answer = lambda url, body: 500 if b"webhook.test" not in body and rng.random() < 0.2 else 200

    async def play() -> None:
        simulator = Simulator()
        world = simulator.create_world(Blueprint("default", 1))
        application = application_of(Runtime(simulator, transport))
        integrator = Integrator(AsgiClient(application))
        await integrator.sign_in()
        await integrator.register()
        forgetful = [await integrator.disturb(fault(rng)) for _ in range(5)]
        for what in rng.choices(STEPS, k=15):
            await integrator.step(what)
        await integrator.control("DELETE", "/faults")
        await integrator.control("POST", "/clock/advance", {"by": "4d"})
        await integrator.sign_in()
        sends = await integrator.call("GET", "/transactions?type=send&size=100")
        assert sends["pagination"]["total"] >= integrator.sent
        if not any(forgetful):
            assert sends["pagination"]["total"] <= integrator.sent + integrator.unanswered
        assert not any(world.ledger.totals().values())
        for event in world.journal.events_newest_first():
            attempts = webhooks.all_deliveries(world, event_id=event.id)
            assert any(one.was_dropped or one.status == "succeeded" for one in attempts), (event.type, attempts)
        await application.runtime.close()

    asyncio.run(play())
