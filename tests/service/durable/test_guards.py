"""No response and no delivery leaves before its writes are saved. Unsaved writes are undone."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from simulator.engine.durable.backend import StoreError
from simulator.engine.records.requests import requests_of
from simulator.engine.webhooks.records import Outcome
from tests.service.durable.stores import StoreServer, play, turns
from tests.support import QUOTE


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "worlds.db"


async def beginning(server: StoreServer) -> None:
    """Sign in, and wait until all writes are saved."""
    assert (await server.api("GET", "/profile")).status_code == 200


CALLS: dict[str, Any] = {
    "a call that is answered at once": lambda kept: kept.api("POST", "/quotes", QUOTE),
    "a call too long to be answered at once": lambda kept: kept.api("POST", "/quotes", {"reference": "x" * 100_000}),
    "a refusal": lambda kept: kept.api("POST", "/quotes", {}),
    "a control call that is answered at once": lambda kept: kept.control("PATCH", "/settings", {"strict": True}),
    "a control call that has to wait": lambda kept: kept.control("POST", "/clock/advance", {"by": "1s"}),
    "a new world": lambda kept: kept.control("POST", "/worlds", {"id": "w"}),
    "a snapshot": lambda kept: kept.control("POST", "/snapshots", {}),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_no_response_leaves_before_its_writes_are_saved(path: Path, call: Any) -> None:
    async def act(server: StoreServer) -> None:
        await beginning(server)
        server.store.hold()
        asked = asyncio.create_task(call(server))
        await server.store.begun.wait()
        await turns(200)
        assert not asked.done()
        server.store.let_go()
        assert (await asked).status_code in (200, 201, 400)

    play(path, act)


def test_a_reader_waits_for_the_shown_state(path: Path) -> None:
    async def act(server: StoreServer) -> None:
        await beginning(server)
        server.store.hold()
        wrote = asyncio.create_task(server.api("POST", "/quotes", QUOTE))
        await server.store.begun.wait()
        read = asyncio.create_task(server.control("GET", "/resources"))
        await turns(200)
        assert not read.done()
        server.store.let_go()
        assert (await wrote).json()["id"] in (await read).text

    play(path, act)


def test_a_read_of_saved_state_does_not_wait(path: Path) -> None:
    async def act(server: StoreServer) -> None:
        await beginning(server)
        server.store.hold()
        assert (await server.control("GET", "/clock")).status_code == 200
        assert not server.store.begun.is_set()

    play(path, act)


def test_health_waits_for_nothing(path: Path) -> None:
    async def act(server: StoreServer) -> None:
        await beginning(server)
        server.store.hold()
        asked = asyncio.create_task(server.api("POST", "/quotes", QUOTE))
        await server.store.begun.wait()
        assert (await server.control("GET", "/health")).status_code == 200
        assert not asked.done()

    play(path, act)


class Taken:
    """A transport that records its requests."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []

    async def post(self, url: str, headers: Any, body: bytes, timeout_seconds: float, policy: Any) -> Outcome:
        self.bodies.append(body)
        return Outcome(200)

    async def close(self) -> None:
        pass


def test_no_delivery_leaves_before_its_event_is_saved(path: Path) -> None:
    taken: Any = Taken()

    async def act(server: StoreServer) -> None:
        assert (
            await server.api("POST", "/webhooks", {"url": "http://127.0.0.1:9/hook", "events": ["*"]})
        ).status_code in (200, 201)
        taken.bodies.clear()
        server.store.hold()
        asked = asyncio.create_task(server.control("POST", "/actions/emit", {"type": "transaction.completed"}))
        await server.store.begun.wait()
        await turns(200)
        assert taken.bodies == []
        server.store.let_go()
        event = (await asked).json()["events"][0]["id"]
        await server.control("POST", "/settle")
        assert [event in body.decode() for body in taken.bodies] == [True]

    play(path, act, taken)


def test_changes_of_one_turn_are_saved_atomically(path: Path) -> None:
    async def act(server: StoreServer) -> None:
        await beginning(server)
        server.store.hold()
        calls = [asyncio.create_task(server.api("POST", "/quotes", QUOTE)) for _ in range(20)]
        await server.store.begun.wait()
        while len(requests_of(server.simulator.default).entries) < 21:
            await asyncio.sleep(0)
        before = len(server.store.batches)
        server.store.let_go()
        await asyncio.gather(*calls)
        assert len(server.store.batches) - before <= 1

    play(path, act)


async def works_again(server: StoreServer) -> None:
    for _ in range(1000):
        if (await server.control("GET", "/ready")).status_code == 200:
            return
    pytest.fail("the store does not work again")


def refused(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_writes_that_were_not_saved_are_undone(path: Path) -> None:
    async def act(server: StoreServer) -> None:
        await beginning(server)
        before = (await server.control("GET", "/state")).json()["tables"]
        server.store.hold()
        calls = [asyncio.create_task(server.api("POST", "/quotes", QUOTE)) for _ in range(5)]
        await server.store.begun.wait()
        calls.append(asyncio.create_task(server.control("POST", "/clock/advance", {"by": "1h"})))
        calls.append(asyncio.create_task(server.control("GET", "/resources")))
        await turns(200)
        server.store.fails_with = StoreError("there is no room left for 'worlds.db'")
        server.store.let_go()
        answers = [await call for call in calls]
        assert [refused(one) for one in answers[:5]] == [(503, "service_unavailable")] * 5
        assert [refused(one) for one in answers[5:]] == [(503, "storage_unavailable")] * 2
        assert "no room left" in answers[0].json()["error"]["message"]
        assert answers[0].headers["retry-after"] == "1"
        assert refused(await server.api("GET", "/profile")) == (503, "service_unavailable")
        assert refused(await server.control("GET", "/clock")) == (503, "storage_unavailable")
        assert refused(await server.control("GET", "/ready")) == (503, "not_ready")
        assert (await server.control("GET", "/health")).status_code == 200
        server.store.fails_with = None
        await works_again(server)
        assert (await server.control("GET", "/state")).json()["tables"] == before
        assert (await server.api("POST", "/quotes", QUOTE)).status_code == 201

    play(path, act)


def test_a_waiting_request_of_a_discarded_world_is_refused(path: Path) -> None:
    """It began before the store failed, and would end after the store was recovered."""

    async def act(server: StoreServer) -> None:
        await beginning(server)
        asked = asyncio.create_task(server.control("GET", "/inbox/shop/wait?timeout=20"))
        await turns(50)
        server.store.fails_with = StoreError("no room")
        assert (await server.api("POST", "/quotes", QUOTE)).status_code == 503
        server.store.fails_with = None
        await works_again(server)
        assert (await server.api("POST", "/quotes", QUOTE)).status_code == 201
        assert not asked.done()
        assert (await server.control("POST", "/inbox/shop", {})).status_code == 200
        assert refused(await asked) == (503, "storage_unavailable")

    play(path, act)
