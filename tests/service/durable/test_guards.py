"""Nothing leaves the server before it is kept, neither an answer nor a delivery; what is not kept has not happened."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from simulator.engine.durable.backend import StoreFull
from simulator.engine.records.requests import requests_of
from simulator.engine.webhooks.records import Outcome
from tests.service.durable.stores import Kept, play, turns
from tests.support import QUOTE


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "worlds.db"


async def beginning(kept: Kept) -> None:
    """A token, and all that was done for it kept."""
    assert (await kept.api("GET", "/profile")).status_code == 200


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
def test_no_answer_leaves_before_what_it_tells_is_kept(path: Path, call: Any) -> None:
    async def act(kept: Kept) -> None:
        await beginning(kept)
        kept.store.hold()
        asked = asyncio.create_task(call(kept))
        await kept.store.begun.wait()
        await turns(200)
        assert not asked.done()
        kept.store.let_go()
        assert (await asked).status_code in (200, 201, 400)

    play(path, act)


def test_who_only_reads_waits_for_what_he_is_shown(path: Path) -> None:
    async def act(kept: Kept) -> None:
        await beginning(kept)
        kept.store.hold()
        wrote = asyncio.create_task(kept.api("POST", "/quotes", QUOTE))
        await kept.store.begun.wait()
        read = asyncio.create_task(kept.control("GET", "/resources"))
        await turns(200)
        assert not read.done()
        kept.store.let_go()
        assert (await wrote).json()["id"] in (await read).text

    play(path, act)


def test_who_reads_what_is_kept_waits_for_nothing(path: Path) -> None:
    async def act(kept: Kept) -> None:
        await beginning(kept)
        kept.store.hold()
        assert (await kept.control("GET", "/clock")).status_code == 200
        assert not kept.store.begun.is_set()

    play(path, act)


def test_health_waits_for_nothing(path: Path) -> None:
    async def act(kept: Kept) -> None:
        await beginning(kept)
        kept.store.hold()
        asked = asyncio.create_task(kept.api("POST", "/quotes", QUOTE))
        await kept.store.begun.wait()
        assert (await kept.control("GET", "/health")).status_code == 200
        assert not asked.done()

    play(path, act)


class Taken:
    """A transport that notes what it is given."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []

    async def post(self, url: str, headers: Any, body: bytes, timeout_seconds: float, policy: Any) -> Outcome:
        self.bodies.append(body)
        return Outcome(200)

    async def close(self) -> None:
        pass


def test_no_delivery_leaves_before_its_event_is_kept(path: Path) -> None:
    taken: Any = Taken()

    async def act(kept: Kept) -> None:
        assert (
            await kept.api("POST", "/webhooks", {"url": "http://127.0.0.1:9/hook", "events": ["*"]})
        ).status_code in (200, 201)
        taken.bodies.clear()
        kept.store.hold()
        asked = asyncio.create_task(kept.control("POST", "/actions/emit", {"type": "transaction.completed"}))
        await kept.store.begun.wait()
        await turns(200)
        assert taken.bodies == []
        kept.store.let_go()
        event = (await asked).json()["events"][0]["id"]
        await kept.control("POST", "/settle")
        assert [event in body.decode() for body in taken.bodies] == [True]

    play(path, act, taken)


def test_all_changes_of_a_turn_are_kept_together(path: Path) -> None:
    async def act(kept: Kept) -> None:
        await beginning(kept)
        kept.store.hold()
        calls = [asyncio.create_task(kept.api("POST", "/quotes", QUOTE)) for _ in range(20)]
        await kept.store.begun.wait()
        while len(requests_of(kept.simulator.default).entries) < 21:
            await asyncio.sleep(0)
        before = len(kept.store.batches)
        kept.store.let_go()
        await asyncio.gather(*calls)
        assert len(kept.store.batches) - before <= 1

    play(path, act)


async def works_again(kept: Kept) -> None:
    for _ in range(1000):
        if (await kept.control("GET", "/ready")).status_code == 200:
            return
    pytest.fail("the store does not work again")


def refused(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_what_could_not_be_kept_has_not_happened(path: Path) -> None:
    async def act(kept: Kept) -> None:
        await beginning(kept)
        before = (await kept.control("GET", "/state")).json()["tables"]
        kept.store.hold()
        calls = [asyncio.create_task(kept.api("POST", "/quotes", QUOTE)) for _ in range(5)]
        await kept.store.begun.wait()
        calls.append(asyncio.create_task(kept.control("POST", "/clock/advance", {"by": "1h"})))
        calls.append(asyncio.create_task(kept.control("GET", "/resources")))
        await turns(200)
        kept.store.fails_with = StoreFull("there is no room left for 'worlds.db'")
        kept.store.let_go()
        answers = [await call for call in calls]
        assert [refused(one) for one in answers[:5]] == [(503, "service_unavailable")] * 5
        assert [refused(one) for one in answers[5:]] == [(503, "storage_unavailable")] * 2
        assert "no room left" in answers[0].json()["error"]["message"]
        assert answers[0].headers["retry-after"] == "1"
        assert refused(await kept.api("GET", "/profile")) == (503, "service_unavailable")
        assert refused(await kept.control("GET", "/clock")) == (503, "storage_unavailable")
        assert refused(await kept.control("GET", "/ready")) == (503, "not_ready")
        assert (await kept.control("GET", "/health")).status_code == 200
        kept.store.fails_with = None
        await works_again(kept)
        assert (await kept.control("GET", "/state")).json()["tables"] == before
        assert (await kept.api("POST", "/quotes", QUOTE)).status_code == 201

    play(path, act)


def test_a_call_that_waits_while_its_world_is_thrown_away_is_refused(path: Path) -> None:
    """It began before the store failed, and would end after the store works again."""

    async def act(kept: Kept) -> None:
        await beginning(kept)
        asked = asyncio.create_task(kept.control("GET", "/inbox/shop/wait?timeout=20"))
        await turns(50)
        kept.store.fails_with = StoreFull("no room")
        assert (await kept.api("POST", "/quotes", QUOTE)).status_code == 503
        kept.store.fails_with = None
        await works_again(kept)
        assert (await kept.api("POST", "/quotes", QUOTE)).status_code == 201
        assert not asked.done()
        assert (await kept.control("POST", "/inbox/shop", {})).status_code == 200
        assert refused(await asked) == (503, "storage_unavailable")

    play(path, act)
