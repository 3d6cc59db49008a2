"""A complete server in the test process, without sockets."""

from __future__ import annotations

import asyncio
import io
import json
import socket
import subprocess
import sys
import threading
import unittest
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
import httpx
import pytest

from simulator.engine.server.config import Config
from simulator.testing import Receiver, SimulatorError, World, receiver, world
from simulator.testing.links.in_process import InProcessLink
from simulator.testing.servers.server import Server

EVENT = "beneficiary.created"


@pytest.fixture
def a_world() -> Iterator[World]:
    with world(in_process=True, seed=7) as made:
        yield made


def story(seed: int) -> list[Any]:
    """What a world and its receiver tell of the same calls."""
    with world(in_process=True, seed=seed) as made, receiver(made) as webhooks:
        made.scenario("autopilot")
        made.trigger("transaction.completed")
        made.settle()
        webhooks.respond(500, times=2)
        made.act("emit", type=EVENT)
        made.advance("2d")
        kept = ("id", "event_id", "url", "status", "response_status", "request_body", "next_attempt_at", "error")
        return [
            [delivery.body for delivery in webhooks.received],
            [{name: value for name, value in row.items() if name in kept} for row in made.deliveries()],
            [(row["id"], row["path"], row["status"]) for row in made.requests()],
            webhooks.url,
            made.client.get("/wallet/assets").content,
        ]


def test_the_same_calls_give_the_same_bytes() -> None:
    assert story(7) == story(7)
    assert story(7) != story(8)


def test_no_socket_is_opened(monkeypatch: pytest.MonkeyPatch, a_world: World) -> None:
    def refuse(*_arguments: object, **_more: object) -> None:
        raise AssertionError("a socket was connected")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "bind", refuse)
    with receiver(a_world) as webhooks:
        a_world.trigger("transaction.completed")
        assert webhooks.wait_for("transaction.completed").genuine


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_async_clients_of_any_loop(a_world: World, backend: str) -> None:
    async def shop() -> list[int]:
        answers: list[int] = []

        async def call(client: httpx.AsyncClient) -> None:
            answers.append((await client.get("/profile")).status_code)

        async with a_world.async_client as client:
            async with anyio.create_task_group() as group:
                for _ in range(5):
                    group.start_soon(call, client)
            a_world.fault("GET /profile", delay="20s", times=2)
            with anyio.move_on_after(0.01) as limit:
                await client.get("/profile")
            with pytest.raises(httpx.ReadTimeout):
                await client.get("/profile", timeout=0.01)
            assert limit.cancelled_caught
            return answers

    assert anyio.run(shop, backend=backend) == [200] * 5


def test_several_threads_and_worlds_at_once() -> None:
    totals: list[tuple[int, str]] = []

    def work(number: int) -> None:
        with world(in_process=True, seed=number) as made, receiver(made) as webhooks:
            for _ in range(5):
                made.act("emit", type=EVENT)
            made.settle()
            assert all(delivery.genuine for delivery in webhooks.received)
            totals.append((len(webhooks.received), webhooks.url))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert totals == [(5, "http://1.receiver.localhost/webhooks")] * 4


def test_errors_are_those_over_http(a_world: World) -> None:
    a_world.fault("GET /profile", drop=True, times=1)
    with pytest.raises(httpx.RemoteProtocolError, match=r"Server disconnected without sending a response\."):
        a_world.client.get("/profile")
    with pytest.raises(SimulatorError) as refused:
        a_world.link.control("GET", "/worlds/nobody")
    assert (refused.value.status, refused.value.code) == (404, "not_found")


def test_an_abandoned_call_is_cancelled(a_world: World) -> None:
    with receiver(a_world) as webhooks:
        webhooks.patience_seconds = 0.1
        webhooks.respond(200, delay=30)
        a_world.act("emit", type=EVENT)
        with pytest.raises(SimulatorError, match=r"/clock/advance got no response within 0\.05 seconds"):
            a_world.link.control("POST", "/clock/advance", {"by": "1h"}, world=a_world.id, timeout_seconds=0.05)
        webhooks.close()
    a_world.settle()
    assert a_world.advance("1m")["now"] == "2026-01-05T08:01:00.000Z"


def test_a_receiver_that_advances_before_responding_is_reported(a_world: World) -> None:
    codes: list[str | None] = []

    def take(_delivery: Any) -> int:
        try:
            a_world.advance("1h")
        except SimulatorError as error:
            codes.append(error.code)
        return 200

    with receiver(a_world) as webhooks:
        webhooks.respond_with(take)
        a_world.act("emit", type=EVENT)
        a_world.settle()

    assert codes == ["clock_busy"]
    assert a_world.deliveries()[0]["response_status"] == 200


def test_more_than_one_receiver_of_a_world(a_world: World) -> None:
    with receiver(a_world) as first, receiver(a_world, events=[EVENT]) as second:
        a_world.trigger("transaction.completed")
        a_world.act("emit", type=EVENT)
        a_world.settle()

        assert first.url != second.url
        assert second.events() == first.events(EVENT)
        assert len(first.received) > 1


def test_a_fork_delivers_to_the_receiver_of_its_origin_and_to_its_own(a_world: World) -> None:
    with receiver(a_world) as first:
        fork = a_world.fork()
        fork.act("emit", type=EVENT)
        fork.settle()
        assert [delivery.genuine for delivery in first.received] == [False]  # it has keys of its own
        with receiver(fork) as second:
            fork.act("emit", type=EVENT)
            fork.settle()
            assert [delivery.genuine for delivery in second.received] == [True]
            assert len(first.received) == 2


def test_other_addresses_are_reached_by_http(a_world: World) -> None:
    with world(seed=1) as over_http, receiver(over_http) as webhooks:
        answer = a_world.client.post("/webhooks", json={"url": webhooks.url, "events": ["*"]})
        assert answer.status_code == 201, answer.text
        a_world.act("emit", type=EVENT)
        assert webhooks.wait_for(EVENT)["type"] == EVENT


def test_a_receiver_that_is_gone_refuses(a_world: World) -> None:
    webhooks = Receiver(a_world)
    webhooks.close(keep_endpoint=True)
    a_world.act("emit", type=EVENT)
    a_world.settle()

    assert a_world.deliveries()[0]["error"] == "connection refused"


def test_a_separate_server_ends_completely() -> None:
    before = set(threading.enumerate())
    with Server(InProcessLink(Config(clock="manual", seed=5))) as server:
        made = server.new_world()
        client = made.client
        assert server.url == "http://simulator.localhost"

    left = {thread.name for thread in set(threading.enumerate()) - before}
    # An executor's thread may be of the server that all tests share: it begins one when it needs one.
    assert {name for name in left if not name.startswith("asyncio_")} == set()
    with pytest.raises(SimulatorError, match=r"The simulator in this process has been closed\."):
        server.new_world()
    with pytest.raises(httpx.ConnectError):
        client.get("/profile")
    server.stop()


@pytest.fixture(scope="module")
def program() -> subprocess.CompletedProcess[str]:
    """A program that closes nothing, without what the other extras install."""
    text = (
        "import sys, threading\n"
        "for name in ('asyncpg', 'jsonschema_rs', 'mcp', 'mcp_types', 'opentelemetry', 'schemathesis'):\n"
        "    sys.modules[name] = None\n"
        "from simulator.testing import Receiver\n"
        "from simulator.testing.servers.server import server_for\n"
        "made = server_for(in_process=True).new_world()\n"
        "print(made.client.get('/profile').status_code)\n"
        "webhooks = Receiver(made)\n"
        "webhooks.respond_with(lambda delivery: threading.Event().wait())\n"
        "made.act('emit', type='beneficiary.created')\n"
        "print('done')\n"
    )
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.xdist_group("program-in-process")
def test_a_process_ends_though_nothing_was_closed(program: subprocess.CompletedProcess[str]) -> None:
    assert (program.stdout[-5:], program.stderr, program.returncode) == ("done\n", "", 0)


@pytest.mark.xdist_group("program-in-process")
def test_a_world_in_process_needs_no_other_extra(program: subprocess.CompletedProcess[str]) -> None:
    assert program.stdout.startswith("200\n"), program.stderr


SUITE = """
import unittest
from simulator.testing import receiver, world

class TestShop(unittest.TestCase):
    def setUp(self):
        self.world = self.enterContext(world(in_process=IN_PROCESS))
        self.webhooks = self.enterContext(receiver(self.world))

    def test_it_is_notified_of_a_completed_payment(self):
        self.world.trigger("transaction.completed")
        self.assertTrue(self.webhooks.wait_for("transaction.completed").genuine)

class TestAsyncShop(unittest.IsolatedAsyncioTestCase):
    async def test_asks_for_its_profile(self):
        with world(in_process=IN_PROCESS) as made:
            async with made.async_client as client:
                self.assertEqual((await client.get("/profile")).status_code, 200)
"""


def test_under_unittest() -> None:
    shop = ModuleType("shop")
    exec(SUITE.replace("IN_PROCESS", "True"), vars(shop))
    tests = unittest.defaultTestLoader.loadTestsFromModule(shop)
    told = io.StringIO()
    result = unittest.TextTestRunner(told, warnings="error").run(tests)

    assert result.wasSuccessful(), told.getvalue()
    assert result.testsRun == 2


def test_under_unittest_with_a_separate_server(tmp_path: Path) -> None:
    (tmp_path / "test_shop.py").write_text(SUITE.replace("IN_PROCESS", "False"))

    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "unittest", "-q", "test_shop"],
        cwd=tmp_path,
        env={"PYTHONPATH": ":".join(path for path in sys.path if path), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert done.returncode == 0, done.stderr
    assert "Ran 2 tests" in done.stderr


def test_in_a_loop_of_asyncio_a_test_may_wait_for_its_receiver(a_world: World) -> None:
    async def shop() -> dict[str, Any]:
        with receiver(a_world) as webhooks:
            async with a_world.async_client as client:
                await client.get("/profile")
            a_world.act("emit", type=EVENT)
            return webhooks.wait_for(EVENT)

    assert asyncio.run(shop())["type"] == EVENT


def test_an_application_in_process_calls_the_interface_back(a_world: World) -> None:
    asked: list[str] = []

    async def app(scope: Any, receive: Callable[[], Any], send: Callable[[Any], Any]) -> None:
        assert scope["type"] == "http"
        envelope = json.loads((await receive())["body"])
        transport = a_world.link.async_transport()
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(base_url=a_world.base_url, transport=transport, headers=headers) as client:
            asked.append((await client.get("/profile")).json()["email"])
        await send({"type": "http.response.start", "status": 200 if envelope["type"] == EVENT else 400, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    token = a_world.token()
    with receiver(a_world) as webhooks:
        webhooks.forward_to(app)
        a_world.act("emit", type=EVENT)
        assert webhooks.wait_for(EVENT).status == 200

    assert asked == ["wanjiku@example.test"]


def test_a_delivery_is_cut_if_the_simulator_has_been_closed(monkeypatch: pytest.MonkeyPatch, a_world: World) -> None:
    """A process may end while deliveries are in flight. No thread may raise an error then."""
    with receiver(a_world) as webhooks:
        control = a_world.link.control

        def closed(method: str, path: str, *given: Any, **more: Any) -> Any:
            if method == "GET" and path == f"/worlds/{a_world.id}":
                raise SimulatorError("the simulator in this process has been closed")
            return control(method, path, *given, **more)

        monkeypatch.setattr(a_world.link, "control", closed)
        a_world.act("emit", type=EVENT)
        assert webhooks.received == []
        monkeypatch.undo()
        assert [row["status"] for row in a_world.deliveries() if row["event_type"] == EVENT] == ["failed"]
