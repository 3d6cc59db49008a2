"""Replicas in the test's process: released worlds and forwarded requests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx
import pytest

from simulator.engine.durable.shared.sharing import Sharing
from simulator.engine.server.app import Application
from simulator.engine.server.config import Config
from simulator.engine.server.process import open_socket, origin_of, serving
from simulator.host import create_app
from tests.campaigns.benchmarks.client import QUOTE
from tests.remote import async_client
from tests.service.durable.replicas import KEYS


class Here:
    """A replica in this process."""

    def __init__(self, application: Application, http: httpx.AsyncClient) -> None:
        self.application, self.http = application, http
        persistence = application.runtime.persistence
        assert isinstance(persistence, Sharing)
        self.sharing = persistence

    async def sign_in(self) -> None:
        made = await self.http.post("/v1/auth/token", json=KEYS)
        self.http.headers["Authorization"] = f"Bearer {made.raise_for_status().json()['access_token']}"

    async def post(self, path: str, body: Any, **headers: str) -> Any:
        answer = await self.http.post(path, json=body, headers=headers)
        assert answer.status_code < 300, answer.text
        return answer.json()

    async def get(self, path: str) -> Any:
        answer = await self.http.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def released(self, *worlds: str) -> asyncio.Event:
        """Return an event that is set once these worlds were released."""
        left, done, release = set(worlds), asyncio.Event(), self.sharing.store.release

        async def releasing(world: str) -> None:
            await release(world)
            left.discard(world)
            if not left:
                done.set()

        self.sharing.store.release = releasing  # type: ignore[method-assign]  # the test hears of each
        return done


@asynccontextmanager
async def here(url: str, **more: Any) -> AsyncIterator[Here]:
    listener = open_socket("127.0.0.1", 0)
    application = create_app(Config(store=url, clock="manual", advertise=origin_of(listener), **more))
    async with (
        serving(application, listener) as origin,
        async_client(base_url=origin) as http,
    ):
        yield Here(application, http)


def run(url: str, count: int, play: Callable[..., Awaitable[None]], **more: Any) -> None:
    async def playing() -> None:
        async with AsyncExitStack() as stack:
            await play(*[await stack.enter_async_context(here(url, **more)) for _ in range(count)])

    asyncio.run(playing())


def test_an_idle_world_is_released_completely(database: str) -> None:
    async def play(one: Here) -> None:
        await one.sign_in()
        snapshot = await one.post("/_simulator/snapshots", {"name": "before"})
        made = await one.post("/v1/quotes", QUOTE)
        assert one.sharing.machine.owned() == ["default"]
        released = one.released("default")
        one.sharing.idle_seconds = 0
        await released.wait()
        assert one.sharing.machine.owned() == []
        assert list(one.sharing._simulator.worlds) == []
        one.sharing.idle_seconds = 60
        assert await one.get(f"/v1/quotes/{made['id']}") == made
        assert (await one.get("/_simulator/snapshots"))["data"] == [snapshot]
        await one.post(f"/_simulator/snapshots/{snapshot['id']}/restore", {})
        assert (await one.http.get(f"/v1/quotes/{made['id']}")).status_code == 404

    run(database, 1, play)


def test_a_draining_server_is_not_ready(database: str) -> None:
    async def play(one: Here, two: Here) -> None:
        await one.sign_in()
        two.http.headers["Authorization"] = one.http.headers["Authorization"]
        made = await one.post("/v1/quotes", QUOTE)
        assert (await one.http.get("/_simulator/ready")).status_code == 200
        await one.sharing.drain()
        ready = await one.http.get("/_simulator/ready")
        assert (ready.status_code, ready.json()["error"]["code"]) == (503, "not_ready")
        assert await two.get(f"/v1/quotes/{made['id']}") == made
        await two.sharing.drain()
        refused = await one.http.get("/_simulator/worlds/nobody")
        assert (refused.status_code, "this replica is stopping" in refused.text) == (503, True)

    run(database, 2, play)


def test_a_deleted_world_is_gone_on_all_replicas(database: str) -> None:
    async def play(one: Here, two: Here) -> None:
        await one.post("/_simulator/worlds", {"id": "team"})
        released = one.released("team")
        assert (await one.http.delete("/_simulator/worlds/team")).status_code == 204
        await released.wait()
        assert await one.sharing.store.all_worlds() == []
        assert (await two.http.get("/_simulator/worlds/team")).status_code == 404
        await two.post("/_simulator/worlds", {"id": "team"})

    run(database, 2, play)


def test_a_dropped_connection_is_dropped_through_a_proxy(database: str) -> None:
    async def play(one: Here, two: Here) -> None:
        await one.sign_in()
        two.http.headers["Authorization"] = one.http.headers["Authorization"]
        await two.get("/v1/transactions")
        await one.post("/_simulator/faults", {"match": {"path": "/quotes"}, "drop": True, "times": 1})
        await one.post("/_simulator/faults", {"match": {"path": "/transactions"}, "drop": True, "times": 1})
        with pytest.raises(httpx.RemoteProtocolError):
            await two.http.post("/v1/quotes", json=QUOTE, headers={"Idempotency-Key": "once"})
        with pytest.raises(httpx.RemoteProtocolError):
            await two.http.get("/v1/transactions")
        await two.post("/v1/quotes", QUOTE, **{"Idempotency-Key": "once"})
        await two.get("/v1/transactions")

    run(database, 2, play)


def test_a_lost_owner_fails_requests_or_repeats_idempotent_ones(database: str) -> None:
    async def play(one: Here, two: Here) -> None:
        await one.sign_in()
        two.http.headers["Authorization"] = one.http.headers["Authorization"]
        await one.post("/_simulator/faults", {"match": {"path": "/quotes"}, "delay": "3s", "times": 2})
        arrived, serving_at = asyncio.Event(), one.sharing.ask
        count = 0

        async def asking(world: str, **more: Any) -> Any:
            nonlocal count
            count += 1
            if count == 2:
                arrived.set()
            return await serving_at(world, **more)

        one.sharing.ask = asking  # type: ignore[method-assign]  # the test counts the calls
        without = asyncio.create_task(two.http.post("/v1/quotes", json=QUOTE))
        under = asyncio.create_task(two.http.post("/v1/quotes", json=QUOTE, headers={"Idempotency-Key": "once"}))
        await arrived.wait()
        async with one.sharing.store._session.use() as connection:
            connection.terminate()
        told = await without
        assert (told.status_code, "may or may not have been carried out" in told.text) == (503, True)
        made = await under
        assert made.status_code == 201
        assert (await two.post("/v1/quotes", QUOTE, **{"Idempotency-Key": "once"})) == made.json()

    run(database, 2, play)


def test_an_unreadable_world_is_reported_and_isolated(database: str) -> None:
    async def play(one: Here) -> None:
        await one.post("/_simulator/worlds", {"id": "team"})
        await one.post("/_simulator/worlds", {"id": "other"})
        released = one.released("team")
        one.sharing.idle_seconds = 0
        await released.wait()
        one.sharing.idle_seconds = 60
        async with one.sharing.store._session.use() as connection:
            await connection.execute("UPDATE parts SET content = 'nonsense' WHERE base = 1")
        answer = await one.http.get("/_simulator/worlds/team")
        assert (answer.status_code, "cannot read" in answer.text) == (503, True)
        assert (await one.http.get("/_simulator/worlds/other")).status_code == 200
        listed = (await one.http.get("/_simulator/worlds")).json()
        assert [row["id"] for row in listed["data"]] == ["other"]
        assert [row["id"] for row in listed["unreadable"]] == ["team"]
        assert (await one.http.get("/_simulator/worlds/team/raw")).json()["pieces"]
        unknown = await one.http.get("/_simulator/worlds/nobody/raw")
        assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "not_found")
        assert (await one.http.delete("/_simulator/worlds/team")).status_code == 204
        assert (await one.http.get("/_simulator/worlds/team")).status_code == 404
        assert (await one.http.post("/_simulator/worlds", json={"id": "team"})).status_code == 201

    run(database, 1, play)


def test_a_body_that_is_too_large_is_refused_as_ever(database: str) -> None:
    async def play(one: Here) -> None:
        await one.sign_in()
        answer = await one.http.post("/v1/quotes", content=b" " * (1024 * 1024 + 1))
        assert (answer.status_code, "larger than" in answer.text) == (400, True)

    run(database, 1, play)


def test_an_import_takes_no_key_from_a_world_of_another_replica(database: str) -> None:
    async def play(one: Here, two: Here) -> None:
        await one.sign_in()
        made = await one.post("/v1/quotes", QUOTE)
        await two.post("/_simulator/worlds", {"id": "copy"})
        document = (await one.http.get("/_simulator/state")).content
        put = await two.http.put("/_worlds/copy/_simulator/state", content=document)
        assert (put.status_code, put.json()["error"]["code"]) == (409, "already_exists")
        two.http.headers["Authorization"] = one.http.headers["Authorization"]
        assert await two.get(f"/v1/quotes/{made['id']}") == made
        back = await two.http.put("/_worlds/default/_simulator/state", content=document)
        assert back.status_code == 200, back.text

    run(database, 2, play)
