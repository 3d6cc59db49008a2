"""Worlds at rest: in memory as cards only, until a request or a timer needs them."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from zlib import crc32

import httpx
import pytest

from simulator.engine.durable import persistence
from simulator.engine.durable.resting import FilePersistence
from simulator.engine.server.app import Application
from simulator.engine.server.config import Config
from simulator.engine.server.process import serving
from simulator.host import create_app
from tests.remote import async_client
from tests.service.durable.crashing import as_killed, document, kept, loopback, seen, url_of
from tests.support import QUOTE


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "worlds.db"


def in_memory(application: Application) -> list[str]:
    return list(application.runtime.simulator.worlds)


def two_worlds(path: Path) -> tuple[dict[str, Any], str, dict[str, Any]]:
    """Create a store with a second world. Return its object, a token and its document."""
    with kept(path) as (world, _):
        other = world.another(id="other", seed=5)
        other.api("POST", "/quotes", QUOTE)
        return world.control("GET", "/worlds/other").body, other.token(), document(other)


def test_the_start_reads_only_worlds_without_a_valid_card(path: Path) -> None:
    two_worlds(path)
    with kept(path) as (world, application):
        assert in_memory(application) == ["default"]
        assert world.control("GET", "/health").body["worlds"] == 2
        seen(world, "other").api("POST", "/quotes", QUOTE)
        dead = as_killed(path)
    with kept(dead) as (world, application):
        assert in_memory(application) == ["default", "other"], "it was in use when the server died"


def test_list_shows_worlds_at_rest_as_they_are(path: Path) -> None:
    shown, _, _ = two_worlds(path)
    with kept(path) as (world, application):
        listed = world.control("GET", "/worlds").body["data"]
        assert in_memory(application) == ["default"]
        assert [one["id"] for one in listed] == ["default", "other"]
        assert listed[1] == world.control("GET", "/worlds/other").body
        assert {**listed[1], "credentials": {}} == {**shown, "credentials": {}}
        assert listed[1]["credentials"]["sandbox"]["base_url"] == f"{world.origin}/v1"
        again = world.control("GET", "/worlds").body["data"]
        assert again == listed
        assert in_memory(application) == ["default", "other"]


@pytest.mark.parametrize("how", ["token", "key", "header", "path", "fork", "stream", "snapshot", "delete"])
def test_a_world_at_rest_is_read_on_demand(path: Path, how: str) -> None:
    shown, token, _ = two_worlds(path)
    with kept(path) as (world, _):
        snapshot = seen(world, "other").control("POST", "/snapshots", {}).body["id"]
    with kept(path) as (world, application):
        assert in_memory(application) == ["default"]
        keys = {name: shown["credentials"]["sandbox"][name] for name in ("public_key", "secret_key")}
        headers = {"X-Simulator-World": "other"}
        answer = {
            "token": lambda: world.call(
                "GET", f"{world.origin}/v1/profile", headers={"Authorization": f"Bearer {token}"}
            ),
            "key": lambda: world.call("POST", f"{world.origin}/v1/auth/token", json=keys),
            "header": lambda: world.call("GET", f"{world.origin}/_simulator/clock", headers=headers),
            "path": lambda: world.call("GET", f"{world.origin}/_worlds/other/_simulator/state"),
            "fork": lambda: world.control("POST", "/worlds", {"from_snapshot": snapshot}),
            "stream": lambda: world.control("HEAD", "/stream?world=other"),
            "snapshot": lambda: world.call("GET", f"{world.origin}/_simulator/snapshots/{snapshot}"),
            "delete": lambda: world.control("DELETE", "/worlds/other"),
        }[how]()
        assert answer.status in (200, 201, 204), answer.body
        assert ("other" in in_memory(application)) is (how != "delete")
    with kept(path) as (world, _):
        there = world.control("GET", "/worlds/other").status
        assert there == (404 if how == "delete" else 200)


def test_world_at_rest_comes_back_as_it_was(path: Path) -> None:
    _, _, before = two_worlds(path)
    with kept(path) as (world, _):
        assert document(seen(world, "other")) == before


def test_id_and_keys_of_a_world_at_rest_are_taken(path: Path) -> None:
    _, _, before = two_worlds(path)
    with kept(path) as (world, _):
        assert world.control("POST", "/worlds", {"id": "other"}).refusal[:2] == (409, "already_exists")
        world.another(id="third")
    with kept(path) as (world, application):
        assert world.call(
            "PUT", f"{world.origin}/_simulator/state", json=before, headers={"X-Simulator-World": "third"}
        ).refusal[:2] == (409, "already_exists")
        assert "other" not in in_memory(application)
        assert world.control("POST", "/worlds", {"id": "other", "replace": True, "seed": 9}).status == 201
        assert world.control("GET", "/worlds/other").body["seed"] == 9


def test_worlds_at_rest_are_pruned_and_all_worlds_covers_them(path: Path) -> None:
    two_worlds(path)
    with kept(path) as (world, application):
        covered = world.control("GET", "/coverage?world=*").body
        assert "other" in in_memory(application)
        assert covered["world"] == "*"
    with kept(path) as (world, _):
        assert world.control("POST", "/prune", {"idle": "0s"}).body["ended"] == ["other"]
        assert [one["id"] for one in world.control("GET", "/worlds").body["data"]] == ["default"]


def test_a_world_changed_by_another_program_is_read_at_the_start(path: Path) -> None:
    two_worlds(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as store:
        asked = "SELECT content FROM parts WHERE number = 0 AND base = (SELECT base FROM worlds WHERE id = 'other')"
        changed = store.execute(asked).fetchone()[0] + b" "
        store.execute(
            "UPDATE parts SET content = ?, crc = ? WHERE number = 0 AND base = "
            "(SELECT base FROM worlds WHERE id = 'other')",
            (changed, crc32(changed)),
        )
    with kept(path) as (_, application):
        assert in_memory(application) == ["default", "other"]


def test_damage_of_a_world_at_rest_is_found_at_the_start(path: Path) -> None:
    two_worlds(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as store:
        store.execute("UPDATE parts SET content = x'00' WHERE base = (SELECT base FROM worlds WHERE id = 'other')")
    with kept(path) as (world, _):
        assert [one["id"] for one in world.control("GET", "/worlds").body["unreadable"]] == ["other"]
        refused = world.control("GET", "/worlds/other")
        assert (refused.status, refused.code) == (503, "world_unreadable")


# --- worlds that rest while the server goes on ------------------------------------------------------------------------


class Bench:
    """A server whose worlds rest, and whose wall clock advances, when the test says so."""

    def __init__(self, application: Application, origin: str, http: httpx.AsyncClient) -> None:
        self.application, self.origin, self.http = application, origin, http
        assert isinstance(application.runtime.persistence, FilePersistence)
        self.persistence = application.runtime.persistence

    async def control(self, method: str, path: str, json: Any = None, world: str = "other") -> httpx.Response:
        return await self.http.request(
            method, f"{self.origin}/_simulator{path}", json=json, headers={"X-Simulator-World": world}
        )

    async def rest(self) -> None:
        self.persistence.idle_seconds = 0
        await self.persistence.look()
        self.persistence.idle_seconds = 60


def play(path: Path, act: Callable[[Bench], Awaitable[None]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(persistence, "_LOOK_SECONDS", 3600)

    async def playing() -> None:
        application = create_app(Config(clock="manual", store=url_of(path), scenarios=()))
        async with serving(application) as origin, async_client(timeout=20) as http:
            await act(Bench(application, origin, http))

    asyncio.run(playing())


def test_idle_worlds_rest_and_default_stays(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def act(bench: Bench) -> None:
        (await bench.control("POST", "/worlds", {"id": "other"}, "default")).raise_for_status()
        before = (await bench.control("GET", "/state")).content
        await bench.persistence.look()
        assert in_memory(bench.application) == ["default", "other"], "nobody has left it for long enough"
        await bench.rest()
        assert in_memory(bench.application) == ["default"]
        assert (await bench.control("GET", "/state")).content == before
        assert in_memory(bench.application) == ["default", "other"]

    play(path, act, monkeypatch)


def test_a_world_with_a_waiting_request_or_stream_does_not_rest(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def act(bench: Bench) -> None:
        (await bench.control("POST", "/worlds", {"id": "other"}, "default")).raise_for_status()
        waiting = asyncio.create_task(bench.control("GET", "/events/wait?type=transaction.completed&timeout=10"))
        while not bench.application.runtime.is_held("other"):
            await asyncio.sleep(0)
        await bench.rest()
        assert "other" in in_memory(bench.application)
        await bench.control("POST", "/actions/emit", {"type": "transaction.completed"})
        await waiting
        async with bench.http.stream("GET", f"{bench.origin}/_worlds/other/_simulator/stream") as stream:
            await anext(stream.aiter_lines())
            await bench.rest()
            assert "other" in in_memory(bench.application)
        while bench.application.runtime.is_held("other"):
            await asyncio.sleep(0)
        await bench.rest()
        assert "other" not in in_memory(bench.application)

    play(path, act, monkeypatch)


def test_running_world_wakes_when_its_timer_is_due(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def act(bench: Bench) -> None:
        made = await bench.control("POST", "/worlds", {"id": "other", "clock": {"mode": "real"}}, "default")
        keys = {name: made.json()["credentials"]["sandbox"][name] for name in ("public_key", "secret_key")}
        token = (await bench.http.post(f"{bench.origin}/v1/auth/token", json=keys)).json()["access_token"]
        quote = await bench.http.post(
            f"{bench.origin}/v1/quotes", json=QUOTE, headers={"Authorization": f"Bearer {token}"}
        )
        assert quote.status_code == 201
        await bench.rest()
        assert in_memory(bench.application) == ["default"]
        card = bench.persistence.at_rest["other"]
        assert card.wakes_at_ms is not None
        wakes_at_ms = card.wakes_at_ms
        monkeypatch.setattr(time, "time_ns", lambda: (wakes_at_ms - 1) * 1_000_000)
        await bench.persistence.look()
        assert in_memory(bench.application) == ["default"]
        monkeypatch.setattr(time, "time_ns", lambda: (wakes_at_ms + 1000) * 1_000_000)
        await bench.persistence.look()
        assert in_memory(bench.application) == ["default", "other"]
        shown = (await bench.control("GET", f"/resources/{quote.json()['id']}")).json()
        assert shown["resource"]["status"] == "expired"

    play(path, act, monkeypatch)


def test_concurrent_requests_read_a_world_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def act(bench: Bench) -> None:
        (await bench.control("POST", "/worlds", {"id": "other"}, "default")).raise_for_status()
        await bench.rest()
        loads, load = [], bench.persistence._store.load

        async def counted(world: str) -> Any:
            loads.append(world)
            return await load(world)

        monkeypatch.setattr(bench.persistence._store, "load", counted)
        answers = await asyncio.gather(*(bench.control("GET", "/clock") for _ in range(10)))
        assert [answer.status_code for answer in answers] == [200] * 10
        assert loads == ["other"]

    play(path, act, monkeypatch)


def test_webhooks_of_a_world_go_out_before_it_rests(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with loopback() as receiver:

        async def act(bench: Bench) -> None:
            made = await bench.control("POST", "/worlds", {"id": "other"}, "default")
            keys = {name: made.json()["credentials"]["sandbox"][name] for name in ("public_key", "secret_key")}
            token = (await bench.http.post(f"{bench.origin}/v1/auth/token", json=keys)).json()["access_token"]
            body = {"url": receiver.url, "events": ["*"]}
            headers = {"Authorization": f"Bearer {token}"}
            registered = await bench.http.post(f"{bench.origin}/v1/webhooks", json=body, headers=headers)
            assert registered.status_code == 201
            await asyncio.to_thread(receiver.next)
            receiver.hold()
            await bench.control("POST", "/actions/emit", {"type": "transaction.completed"})
            await asyncio.to_thread(receiver.next)
            await bench.rest()
            assert "other" in in_memory(bench.application)
            receiver.let_go()
            (await bench.control("POST", "/settle")).raise_for_status()
            await bench.rest()
            assert "other" not in in_memory(bench.application)

        play(path, act, monkeypatch)
