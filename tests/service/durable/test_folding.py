"""Many entries are folded into a base in the background. Scenarios of servers are saved."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from simulator.engine.durable import gathering
from tests.service.durable.crashing import as_killed, document, kept
from tests.service.durable.stores import StoreServer, play
from tests.support import QUOTE, eventually


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "worlds.db"


@pytest.fixture
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fold after few entries."""
    monkeypatch.setattr(gathering, "COMPACT_BYTES", 20_000)
    monkeypatch.setattr(gathering, "COMPACT_TIMES", 0)


def asked(path: Path, query: str) -> Any:
    with closing(sqlite3.connect(path)) as store:
        return store.execute(query).fetchone()[0]


@pytest.mark.usefixtures("_soon")
def test_entries_are_folded_into_a_base_and_the_world_is_the_same(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with kept(path) as (world, _):
        quotes = [world.api("POST", "/quotes", QUOTE).body["id"] for _ in range(60)]
        world.control("POST", "/snapshots", {})
        eventually(lambda: asked(path, "SELECT count(*) FROM entries") < 60)
        before, dead = document(world), as_killed(path)
    assert asked(dead, "SELECT number FROM worlds") > 20
    with kept(dead) as (world, _):
        assert document(world) == before
        assert world.api("GET", f"/quotes/{quotes[0]}").status == 200
    monkeypatch.setattr(gathering, "COMPACT_BYTES", sys.maxsize)
    with kept(dead):
        pass  # A start deletes the base of a fold that the end of the server before interrupted.
    assert asked(dead, "SELECT count(*) FROM bases") == 2, "that of the world and that of its snapshot"
    assert asked(dead, "SELECT count(DISTINCT base) FROM parts") == 2


@pytest.mark.usefixtures("_soon")
@pytest.mark.parametrize("end", ["reset", "delete"])
def test_a_world_that_ends_while_it_is_folded_stays_ended(
    path: Path, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def act(server: StoreServer) -> None:
        await server.control("POST", "/worlds", {"id": "w"})
        ended, compact, loop = asyncio.Event(), server.store.compact, asyncio.get_running_loop()

        async def end_it() -> None:
            if end == "reset":
                server.simulator.reset_world("w")
            else:
                server.simulator.delete_world("w")
            assert (await server.control("GET", "/worlds")).status_code == 200, "that is kept"
            ended.set()

        async def late(world_id: str, number: int, parts: Any) -> int:
            def ended_meanwhile() -> Any:
                if world_id == "w" and not ended.is_set():
                    asyncio.run_coroutine_threadsafe(end_it(), loop).result(20)
                return parts()

            return await compact(world_id, number, ended_meanwhile)

        monkeypatch.setattr(server.store, "compact", late)
        keys = (await server.control("GET", "/worlds/w")).json()["credentials"]["sandbox"]
        pair = {name: keys[name] for name in ("public_key", "secret_key")}
        token = (await server.client.post(f"{server.origin}/v1/auth/token", json=pair)).json()["access_token"]
        while not ended.is_set():
            await server.client.get(f"{server.origin}/v1/profile", headers={"Authorization": f"Bearer {token}"})

    play(path, act)
    with kept(path) as (world, _):
        ids = [one["id"] for one in world.control("GET", "/worlds").body["data"]]
        assert ids == (["default", "w"] if end == "reset" else ["default"])
        if end == "reset":
            assert world.control("GET", "/requests", headers={"X-Simulator-World": "w"}).body["data"] == []


def test_a_server_without_a_scenario_gets_it_from_the_store(path: Path, tmp_path: Path) -> None:
    rain = tmp_path / "rain.yaml"
    rain.write_text("name: rain\ntimeline:\n  - {at: 1h, action: move_rates, percent: 5}\n")
    with kept(path, scenarios=(str(rain),)) as (world, _):
        assert world.world["scenarios"] == ["rain"]
        dead = as_killed(path)
    rain.unlink()
    with kept(dead) as (world, _):
        assert world.world["scenarios"] == ["rain"]
        assert world.advance(by="2h")["fired"] == 1
        assert world.control("POST", "/reset").body["scenarios"] == ["rain"]
