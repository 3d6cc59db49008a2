"""Random faults and calls: nothing breaks, nothing is done twice or partially, and every event arrives eventually."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from simulator.engine import webhooks
from simulator.engine.clients.asynchronous import AsgiClient
from simulator.engine.server.app import Application
from simulator.engine.server.runtime import Runtime
from simulator.engine.worlds.simulator import Blueprint
from simulator.kernel.world import World
from tests.fake_transport import FakeTransport
from tests.library import Simulator, application_of
from tests.seeds import walk_seed
from tests.toy.lending import BOOK_TABLE, RETURNED
from tests.unit.engine.webhooks.support import PROVIDER

DOWN = {"status": 503, "code": "service_unavailable"}
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
EVENTS = (None, RETURNED.name)
PATHS = ("/books", "/loans*")
STEPS = ("add", "add", "lend", "lend", "return", "advance", "lift")


def fault(rng: Random, paths: Sequence[str] = PATHS, events: Sequence[str | None] = EVENTS) -> dict[str, Any]:
    """A fault that does not last for ever."""
    lasts: dict[str, Any] = rng.choice([{"times": 1}, {"times": 3}, {"probability": 0.5}])
    if rng.random() < 0.4:
        keyed: dict[str, int] = rng.choice([{}, {"first_per_key": 1}, {"first_per_key": 2}])
        return {"match": {"path": rng.choice(paths)}, **rng.choice(EFFECTS), **keyed, **lasts}
    chosen = rng.sample(sorted(DELIVERIES), rng.randint(1, 2))
    event = rng.choice(events)
    deliver = {name: rng.choice(DELIVERIES[name]) for name in chosen}
    return {"webhook": {} if event is None else {"event": event}, "deliver": deliver, **lasts}


class Integrator:
    """Calls with a key until it is answered well, and keeps count of the books that were added, and that never were."""

    def __init__(self, application: Application) -> None:
        self.client = AsgiClient(application)
        self.world: World = application.runtime.simulator.default
        self.keys = self.done = self.unanswered = 0
        self.token = ""
        self.orders: list[str] = []

    async def sign_in(self) -> None:
        self.token = PROVIDER.identity.credentials(self.world)["practice"]["secret_key"]

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

    async def counted(self, path: str, body: Any) -> Any:
        """A call whose success is counted."""
        answer = await self.call("POST", path, body)
        self.done += answer is not None
        self.unanswered += answer is None
        return answer

    async def step(self, what: str) -> None:
        if what == "add":
            await self.counted("/books", {"title": "Emma"})
        elif what == "lend":
            book = await self.counted("/books", {"title": "Middlemarch"})
            loan = None if book is None else await self.call("POST", "/loans", {"book_id": book["id"]})
            self.orders += [] if loan is None else [loan["id"]]
        elif what == "return" and self.orders:
            await self.control("POST", "/actions/bring_back", {"target": self.orders[-1]})
        elif what == "advance":
            await self.control("POST", "/clock/advance", {"by": "2h"})
        elif what == "lift":
            await self.control("DELETE", "/faults")

    async def total(self) -> int:
        """How often the counted work was done."""
        return len(self.world.store[BOOK_TABLE.of("practice")])


def failing_receiver(rng: Random) -> FakeTransport:
    """A receiver that fails one delivery in five."""
    transport = FakeTransport()
    transport.answer = lambda url, body: 500 if b"webhook.test" not in body and rng.random() < 0.2 else 200
    return transport


async def walk(integrator: Integrator, rng: Random, faults: Sequence[dict[str, Any]], steps: Sequence[str]) -> None:
    """Walk under faults, then lift them and look whether anything broke, doubled or got lost."""
    world = integrator.world
    await integrator.sign_in()
    await integrator.register()
    forgetful = [await integrator.disturb(one) for one in faults]
    for what in rng.choices(steps, k=15):
        await integrator.step(what)
    await integrator.control("DELETE", "/faults")
    await integrator.control("POST", "/clock/advance", {"by": "4d"})
    await integrator.sign_in()
    total = await integrator.total()
    assert total >= integrator.done
    if not any(forgetful):
        assert total <= integrator.done + integrator.unanswered
    assert not any(world.ledger.totals().values())
    for event in world.journal.events_newest_first():
        attempts = webhooks.all_deliveries(world, event_id=event.id)
        assert any(one.was_dropped or one.status == "succeeded" for one in attempts), (event.type, attempts)


@pytest.mark.parametrize("seed", range(40))
def test_nothing_breaks_doubles_or_gets_lost(seed: int) -> None:
    rng = Random(walk_seed(seed))

    async def play() -> None:
        simulator = Simulator(PROVIDER)
        simulator.create_world(Blueprint("default", 1))
        application = application_of(Runtime(simulator, failing_receiver(rng)))
        await walk(Integrator(application), rng, [fault(rng) for _ in range(5)], STEPS)
        await application.runtime.close()

    asyncio.run(play())
