"""The ledger page reads only new entries."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from simulator.engine.control.objects import ledger
from simulator.engine.server.runtime import Runtime
from simulator.engine.worlds.simulator import Blueprint
from simulator.host import Simulator, application_of
from simulator.kernel.ledger import Entry
from simulator.kernel.world import World
from tests.fake_transport import FakeTransport
from tests.unit.ramp.test_faults_at_random import Payer


def test_the_ledger_adds_new_entries_to_its_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[Entry] = []
    real = ledger._is_own

    def noted(world: World, environment: str, entry: Entry) -> bool:
        looked_at.append(entry)
        return real(world, environment, entry)

    monkeypatch.setattr(ledger, "_is_own", noted)

    async def play() -> None:
        simulator = Simulator()
        world = simulator.create_world(Blueprint("default", 1))
        application = application_of(Runtime(simulator, FakeTransport()))
        integrator = Payer(application)
        await integrator.sign_in()
        shown: Any = None
        for _ in range(6):
            await integrator.step("send")
            looked_at.clear()
            before, shown = shown, (await integrator.control("GET", "/ledger")).body
            assert before is None or len(looked_at) == len(shown["entries"]) - len(before["entries"])
        ledger._BOOKS[world].clear()
        assert (await integrator.control("GET", "/ledger")).body == shown
        assert (await integrator.control("GET", "/ledger?entries=2")).body["entries"] == shown["entries"][-2:]
        await application.runtime.close()

    asyncio.run(play())
