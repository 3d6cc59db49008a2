"""Tests of the instruments: they detect the defects that they look for, and their runs can be repeated from a seed."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from random import Random
from typing import Any

import pytest

from simulator.engine.scenario.files.library import Library
from simulator.engine.server.app import Application
from simulator.engine.server.runtime import Runtime
from simulator.engine.worlds.simulator import Blueprint
from simulator.host import Simulator
from simulator.providers.ramp.deposit_wallets.records import WALLETS
from tests.campaigns.hostile.campaigns.yaml_texts import scenario_text
from tests.campaigns.hostile.findings import Findings
from tests.campaigns.hostile.mutations import ODD, dumps, leaves, mutated
from tests.campaigns.hostile.progress import Progress
from tests.campaigns.hostile.restarting import Kept, judge
from tests.campaigns.hostile.server_under_test import Answer, Request, ServerUnderTest, last_frame

GET = Request("GET", "/v1/rates", "", [("host", "127.0.0.1")])


def house_with(tmp_path: Path, answer: Any) -> ServerUnderTest:
    """A subject whose application is `answer`."""
    simulator = Simulator(library=Library())
    simulator.create_world(Blueprint("default", 1))
    odd = type("Odd", (Application,), {"__call__": answer})
    return ServerUnderTest(Findings(), Progress(tmp_path / "progress"), odd(Runtime(simulator)))


def kinds(subject: ServerUnderTest, request: Request = GET, **more: Any) -> dict[str, int]:
    asyncio.run(subject.ask(request, **more))
    return subject.findings.by_kind()


def answering(status: int, body: bytes) -> Any:
    async def answer(self: Any, scope: Any, receive: Any, send: Any) -> None:
        await send(
            {"type": "http.response.start", "status": status, "headers": [(b"content-type", b"application/json")]}
        )
        await send({"type": "http.response.body", "body": body})

    return answer


@pytest.mark.parametrize(
    ("status", "body", "found"),
    [
        (200, b"{}", {}),
        (404, b'{"error":{"code":"not_found","message":"No.","request_id":"req_1"}}', {}),
        (404, b'{"error":{"code":"not_found","message":"No."}}', {"envelope": 1}),
        (404, b"Not Found", {"envelope": 1, "no JSON": 1}),
        (500, b'{"error":{"code":"internal_error","message":"No.","request_id":"req_1"}}', {"500": 1}),
        (500, b'{"error":{"code":"internal_error","message":"No (scenario s, s:1).","request_id":"req_1"}}', {}),
        (200, b"{", {"no JSON": 1}),
    ],
)
def test_answers_are_judged(tmp_path: Path, status: int, body: bytes, found: dict[str, int]) -> None:
    assert kinds(house_with(tmp_path, answering(status, body))) == found


@pytest.mark.parametrize(
    ("status", "body", "found"), [(200, b'{"surprise":[]}', {"contract"}), (418, b"{}", {"contract", "envelope"})]
)
def test_answers_are_held_against_the_contract(tmp_path: Path, status: int, body: bytes, found: set[str]) -> None:
    subject = house_with(tmp_path, answering(status, body))
    subject.by_contract = True
    assert kinds(subject, Request("GET", "/v1/network/stats", "", [("host", "127.0.0.1")])).keys() == found


def test_errors_and_missing_responses_are_found(tmp_path: Path) -> None:
    async def raises(self: Any, scope: Any, receive: Any, send: Any) -> None:
        raise KeyError("x")

    assert kinds(house_with(tmp_path, raises)) == {"raised": 1}

    async def stays(self: Any, scope: Any, receive: Any, send: Any) -> None:
        await asyncio.Event().wait()

    with contextlib.suppress(asyncio.CancelledError):
        assert kinds(house_with(tmp_path, stays), leave_after=0.01) == {"outlives": 1}


def test_a_refused_call_that_changes_something_is_found(tmp_path: Path) -> None:
    refusal = answering(422, b'{"error":{"code":"x","message":"No.","request_id":"req_1"}}')

    async def half(self: Any, scope: Any, receive: Any, send: Any) -> None:
        world = self.runtime.simulator.default
        with world.store.change():
            world.store[WALLETS.of("sandbox")].put("wal_1", "half a wallet")
        await refusal(self, scope, receive, send)

    subject = house_with(tmp_path, half)
    subject.calls = 4  # the fifth is looked at closely
    assert kinds(subject) == {"half-applied": 1}
    assert "default: sandbox:wallets.wal_1" in next(iter(subject.findings.groups.values())).examples[0]["detail"]


def test_equal_failures_are_counted_together() -> None:
    findings = Findings()
    for number in range(5):
        findings.add("500", f"GET /v1/wallets/wal_{number:020d}", call=f"call {number}")
    assert [(group.count, len(group.examples)) for group in findings.groups.values()] == [(5, 2)]
    assert "in ask" in last_frame('Traceback:\n  File "/x/simulator/a/b.py", line 3, in ask\nKeyError: 1')


def test_inputs_repeat_from_their_seed() -> None:
    body = {"a": [1, {"b": "x"}], "c": None}

    def run(seed: int) -> list[bytes]:
        rng = Random(seed)
        return [dumps(mutated(rng, body, 3)) for _ in range(200)] + [scenario_text(rng, "s") for _ in range(50)]

    assert run(1) == run(1)
    assert run(1) != run(2)
    assert body == {"a": [1, {"b": "x"}], "c": None}


def test_every_odd_value_can_be_sent() -> None:
    assert all(dumps(value) for value in ODD)
    assert leaves({"a": [1]}) == [("a",), ("a", 0)]


def test_an_answer_knows_its_code() -> None:
    assert Answer(404, {}, b'{"error":{"code":"not_found"}}').code == "not_found"
    assert Answer(200, {}, b"[]").code == ""


def test_restart_is_judged_by_worlds_rows_and_calls() -> None:
    found: list[str] = []

    def fail(kind: str, signature: str, call: str, detail: str) -> None:
        found.append(signature)

    document = {"tables": {"quotes": [["q", 1]]}, "requests": [1]}
    before = Kept(["a", "b", "c"], {"a": document, "b": document})
    after = Kept(["a", "b"], {"a": {**document, "requests": []}, "b": {**document, "tables": {"quotes": []}}})
    judge(before, before, fail)
    assert found == []
    judge(before, after, fail)
    assert found == [
        "a world is gone after a restart",
        "a world is another after a restart: requests",
        "a world is another after a restart: quotes",
    ]
