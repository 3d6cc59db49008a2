"""Servers in this process whose store can be held up or made to fail."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from simulator.engine.durable.backend import Batch, Sizes, StoreError
from simulator.engine.durable.persistence import PersistenceLayer
from simulator.engine.durable.sqlite import SqliteStore
from simulator.engine.server.app import Application
from simulator.engine.server.process import serving
from simulator.engine.server.runtime import Runtime
from simulator.engine.webhooks.courier.transport import Transport
from simulator.engine.worlds.simulator import Blueprint
from simulator.host import Simulator, application_of
from tests.remote import async_client
from tests.support import KEYS


class SlowStore(SqliteStore):
    """A SQLite store whose commits a test can hold up (`hold`, `let_go`) or make fail (`fails_with`)."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._may = asyncio.Event()
        self._may.set()
        self.begun = asyncio.Event()
        self.fails_with: StoreError | None = None
        self.batches: list[Batch] = []

    def hold(self) -> None:
        self._may.clear()
        self.begun.clear()

    def let_go(self) -> None:
        self._may.set()

    async def open(self) -> None:
        if self.fails_with is not None:
            raise self.fails_with
        await super().open()

    async def commit(self, batch: Batch) -> Sizes:
        self.batches.append(batch)
        self.begun.set()
        await self._may.wait()
        if self.fails_with is not None:
            raise self.fails_with
        return await super().commit(batch)


def persistence_of(application: Application) -> PersistenceLayer:
    """Return the persistence layer of an application with a store."""
    persistence = application.runtime.persistence
    assert isinstance(persistence, PersistenceLayer)
    return persistence


class StoreServer:
    """A server with such a store, and a client of its default world."""

    def __init__(self, application: Application, origin: str, client: httpx.AsyncClient, store: SlowStore) -> None:
        self.application = application
        self.simulator = application.runtime.simulator
        self.origin = origin
        self.client = client
        self.store = store
        self.token = ""

    async def api(self, method: str, path: str, json: Any = None, **headers: str) -> httpx.Response:
        if not self.token:
            self.token = (await self.client.post(f"{self.origin}/v1/auth/token", json=KEYS)).json()["access_token"]
        sent = {"Authorization": f"Bearer {self.token}", **{name.replace("_", "-"): v for name, v in headers.items()}}
        return await self.client.request(method, f"{self.origin}/v1{path}", json=json, headers=sent)

    async def control(self, method: str, path: str, json: Any = None) -> httpx.Response:
        return await self.client.request(method, f"{self.origin}/_simulator{path}", json=json)


@asynccontextmanager
async def over_store(path: Path, transport: Transport | None = None) -> AsyncIterator[StoreServer]:
    store, simulator = SlowStore(path), Simulator()
    runtime = Runtime(simulator, transport)

    def make_default() -> None:
        simulator.create_world(Blueprint("default", 1))

    runtime.persist_with(PersistenceLayer(runtime, store, make_default, retry_seconds=0.01))
    application = application_of(runtime)
    async with serving(application) as origin, async_client(timeout=20) as client:
        try:
            yield StoreServer(application, origin, client, store)
        finally:
            store.let_go()
            store.fails_with = None


def play(path: Path, act: Callable[[StoreServer], Awaitable[None]], transport: Transport | None = None) -> None:
    """Run a coroutine with a server over a store."""

    async def playing() -> None:
        async with over_store(path, transport) as server:
            await act(server)

    asyncio.run(playing())


async def turns(count: int = 20) -> None:
    """Let other tasks run for some turns of the loop."""
    for _ in range(count):
        await asyncio.sleep(0)
