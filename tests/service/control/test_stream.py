"""The event stream and waiting for events, over HTTP as a browser, a script and the dashboard use them."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from simulator.engine.records.records import present
from simulator.engine.server.running import publisher
from tests.remote import Answer, Remote, new_client
from tests.service.control.test_snapshots import FRIEND, another_process, restore, snapshot, state
from tests.service.http.busy import ok, onramp, send
from tests.service.test_documents import Inside


@dataclass
class StreamMessage:
    name: str
    id: int | None
    data: Any


class Listener:
    """An open stream that reads one message at a time."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._lines = response.iter_lines()

    def messages(self) -> Iterator[StreamMessage]:
        members: dict[str, str] = {}
        for line in self._lines:
            if line:
                name, _, value = line.partition(": ")
                members[name] = value
            elif "data" in members:
                number = int(members["id"]) if "id" in members else None
                yield StreamMessage(members["event"], number, json.loads(members["data"]))
                members = {}

    def until(self, name: str, count: int = 1, **wanted: Any) -> list[StreamMessage]:
        """Return all messages up to the one (or so many) with this name and these fields."""
        got = []
        for message in self.messages():
            got.append(message)
            if message.name == name and wanted.items() <= message.data.items():
                count -= 1
                if not count:
                    return got
        raise AssertionError(f"the stream ended; it told {got}")


@contextmanager
def listening(world: Remote, headers: dict[str, str] | None = None, **query: Any) -> Iterator[Listener]:
    everything = {"X-Simulator-World": world.world["id"], **(headers or {})}
    url = f"{world.origin}/_simulator/stream"
    with (
        new_client(timeout=10) as client,
        client.stream("GET", url, headers=everything, params=query) as response,
    ):
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        yield Listener(response)


def names(messages: list[StreamMessage]) -> list[str]:
    return [message.name for message in messages]


# --- what is told -------------------------------------------------------------------------------------------------


def test_a_stream_begins_with_the_clock(world: Remote) -> None:
    with listening(world) as stream:
        assert stream.until("clock") == [StreamMessage("clock", None, world.control("GET", "/clock").body)]


def test_stream_publishes_a_request_and_its_consequences_in_order(world: Remote) -> None:
    hook = f"{world.origin}/_simulator/inbox/stream-{world.world['id']}"
    ok(world.api("POST", "/webhooks", {"url": hook, "events": ["*"]}))
    with listening(world) as stream:
        made = send(world, FRIEND)
        told = stream.until("delivery", 2)[1:]
    assert [name for name in names(told) if name != "delivery"][-1] == "request"
    own = [message.data for message in told if message.name == "state" and message.data["id"] == made["id"]]
    assert own[0]["from"] is None
    assert own[-1]["state"] == "completed"
    assert {move["kind"] for move in own} == {"send"}
    (request,) = [message.data for message in told if message.name == "request"]
    assert (request["method"], request["path"], request["status"]) == ("POST", "/v1/wallet/send", 201)
    assert request["id"].startswith("req_")
    assert request["duration_ms"] >= 0
    events = world.control("GET", "/events").body["data"]
    assert [message.data for message in told if message.name == "event"] == events
    deliveries = [message.data for message in told if message.name == "delivery"]
    assert [row["event_id"] for row in deliveries] == [event["id"] for event in events]
    assert {row["status"] for row in deliveries} == {"succeeded"}


def test_clock_message_precedes_events_of_that_time(autopilot_world: Remote) -> None:
    made = onramp(autopilot_world)
    with listening(autopilot_world) as stream:
        autopilot_world.advance(by="50m")
        told = stream.until("clock", now="2026-01-05T08:50:00.000Z")
    now = None
    for message in told:
        if message.name == "clock":
            now = message.data["now"]
        elif message.name == "state":
            assert message.data["at"] == now
    moves = [
        (m.data["state"], m.data["cause"]["kind"]) for m in told if m.name == "state" and m.data["id"] == made["id"]
    ]
    assert moves == [("processing", "rule"), ("completed", "rule")]


def test_refused_change_publishes_only_the_request(world: Remote) -> None:
    with listening(world) as stream:
        body = {"symbol": "USDC", "network": "STELLAR", "amount": "999999", "destination": FRIEND}
        assert world.api("POST", "/wallet/send", body).status == 422
        told = stream.until("request", path="/v1/wallet/send")
    assert set(names(told[1:])) == {"request"}
    assert told[-1].data["status"] == 422


def test_the_clock_mode_and_kyc_are_reported(world: Remote) -> None:
    with listening(world) as stream:
        ok(world.control("PUT", "/clock", {"rate": 3}))
        assert stream.until("clock", rate=3)
        ok(world.act("set_kyc", status="rejected"))
        kyc = stream.until("state", state="rejected")[-1].data
        assert (kyc["kind"], kyc["from"], kyc["trigger"]) == ("kyc", "approved", "set_kyc")


def test_no_secret_is_ever_shown(world: Remote) -> None:
    with listening(world) as stream:
        token = world.token()
        world.api("GET", "/profile")
        pair = ok(world.act("create_key"))["resource"]
        webhook_key = ok(world.act("rotate_webhook_key"))["resource"]["webhook_key"]
        world.advance(by="1s")
        told = stream.until("clock", now="2026-01-05T08:00:01.000Z")
    text = json.dumps([message.data for message in told])
    secrets = [token, pair["secret_key"], webhook_key, world.world["credentials"]["sandbox"]["secret_key"]]
    assert not [secret for secret in secrets if secret in text]
    assert "create_token" in text


def test_stream_has_messages_of_its_world_only(world: Remote, autopilot_world: Remote) -> None:
    with listening(world) as stream:
        autopilot_world.api("GET", "/profile")
        world.api("GET", "/fees")
        told = stream.until("request", path="/v1/fees")
    assert "/v1/profile" not in [message.data.get("path") for message in told]


# --- who may listen -----------------------------------------------------------------------------------------------


def test_a_browser_names_the_world_in_the_query(world: Remote) -> None:
    url = f"{world.origin}/_simulator/stream"
    with (
        new_client(timeout=10) as client,
        client.stream("GET", url, params={"world": world.world["id"]}) as response,
    ):
        stream = Listener(response)
        world.api("GET", "/fees")
        assert stream.until("request", path="/v1/fees")


@pytest.mark.parametrize(
    ("headers", "query", "status", "code"),
    [
        ({"X-Simulator-World": "nowhere"}, {}, 404, "not_found"),
        ({}, {"world": "nowhere"}, 404, "not_found"),
        ({"Last-Event-ID": "x"}, {}, 400, "invalid_parameter"),
        ({"Last-Event-ID": "-1"}, {}, 400, "invalid_parameter"),
        ({}, {"last_event_id": "9" * 30}, 400, "invalid_parameter"),
        ({"Host": "evil.example"}, {}, 403, "forbidden"),
    ],
)
def test_invalid_stream_request_is_refused(
    world: Remote, headers: dict[str, str], query: dict[str, str], status: int, code: str
) -> None:
    answer = world.control("GET", "/stream", headers=headers, params=query)
    assert (answer.status, answer.code) == (status, code)


def test_head_of_a_stream_ends_at_once(world: Remote) -> None:
    answer = world.control("HEAD", "/stream")
    assert (answer.status, answer.raw) == (200, b"")


# --- coming back --------------------------------------------------------------------------------------------------


def test_reconnected_reader_gets_missed_messages_once(world: Remote) -> None:
    with listening(world) as stream:
        for path in ("/profile", "/fees"):
            world.api("GET", path)
        told = stream.until("request", path="/v1/fees")
    numbers = [present(message.id) for message in told[1:]]
    assert numbers == sorted(set(numbers))
    send(world, FRIEND)
    with listening(world, {"Last-Event-ID": str(told[-2].id)}) as stream:
        world.api("GET", "/currencies")
        again = stream.until("request", path="/v1/currencies")
    assert again[0] == told[-1], "what came after the id it names"
    assert names(again).count("event") == 2
    with listening(world, last_event_id=again[-2].id) as stream:
        assert stream.until("request") == again[-1:]


@pytest.mark.parametrize("after", ["17", "999999999999", "9" * 16])
def test_message_id_of_an_earlier_start_gets_missed(world: Remote, after: str) -> None:
    with listening(world, {"Last-Event-ID": after}) as stream:
        world.api("GET", "/fees")
        told = stream.until("request", path="/v1/fees")
    assert (told[0].name, told[0].id, told[0].data) == ("missed", None, {"after": int(after)})
    assert all(message.id is None or message.id > 10**15 for message in told)


def test_stream_survives_reset_and_restore_and_ends_on_deletion(world: Remote) -> None:
    taken = snapshot(world)
    with listening(world) as stream:
        world.advance(by="1h")
        ok(world.control("POST", "/reset"))
        world.tokens.clear()
        world.api("GET", "/fees")
        told = stream.until("request", path="/v1/fees")
        assert [message.data["now"] for message in told if message.name == "clock"][-1] == "2026-01-05T08:00:00.000Z"
        world.advance(by="2h")
        restore(world, taken["id"])
        ok(world.control("PUT", "/state", state(world)))
        world.tokens.clear()
        world.api("GET", "/currencies")
        assert stream.until("request", path="/v1/currencies")
        assert world.control("DELETE", f"/worlds/{world.world['id']}").status == 204
        assert list(stream.messages()) == []


def test_the_server_stops_while_somebody_listens(http: httpx.Client) -> None:
    began = time.monotonic()
    with another_process(http) as remote, listening(remote) as stream:
        longest = max(2.5, 2 * (time.monotonic() - began))  # to start is more work than to end, on a busy machine, too
        stream.until("clock")
        assert remote.process is not None
        began = time.monotonic()
        remote.process.terminate()
        assert list(stream.messages()) == []
        assert remote.process.wait(20) in (0, -signal.SIGTERM)
        assert time.monotonic() - began < longest, "it does not wait for those who would listen for ever"


# --- listeners that are slow ----------------------------------------------------------------------------------------


def test_slow_stream_reader_is_disconnected_without_blocking(world: Remote, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publisher, "LONGEST_QUEUE", 20)
    host, port = world.origin.removeprefix("http://").split(":")
    with socket.socket() as lazy, listening(world) as stream:
        lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        lazy.connect((host, int(port)))
        head = f"GET /_simulator/stream?world={world.world['id']} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n"
        lazy.sendall(head.encode())
        assert b"200 OK" in lazy.recv(1000)
        big = {"type": "quote.expired", "object": {"note": "x" * 400_000}}
        for _ in range(40):
            ok(world.control("POST", "/actions/emit", big))
            assert stream.until("event")
        lazy.settimeout(10)
        assert ends(lazy)


def ends(connection: socket.socket) -> bool:
    """Whether a connection ends after all pending data is read."""
    try:
        while connection.recv(1 << 20):
            pass
    except ConnectionError:
        pass
    return True


def test_nothing_is_made_when_nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publisher, "MESSAGES_KEPT", 5)
    inside = Inside()
    world = inside.simulator.default
    try:
        inside.api("GET", "/profile")
        assert not world.store.listeners
        asgi_stream(inside)
        assert world.store.listeners, "for a listener that comes back at once"
        for _ in range(6):
            inside.api("GET", "/profile")
        assert not world.store.listeners
        inside.api("GET", "/profile")
    finally:
        inside.close()


def asgi_stream(inside: Inside) -> list[Any]:
    """Open a stream without a server, and leave after its first message."""
    sent: list[Any] = []
    done = asyncio.Event()
    first = iter([{"type": "http.request", "body": b""}])

    async def receive_or_leave() -> dict[str, Any]:
        message = next(first, None)
        if message is not None:
            return message
        await done.wait()
        return {"type": "http.disconnect"}

    async def take(message: Any) -> None:
        sent.append(message)
        if message["type"] == "http.response.body":
            done.set()

    scope = {
        "type": "http",
        "method": "GET",
        "path": "/_simulator/stream",
        "query_string": b"",
        "headers": [(b"host", b"127.0.0.1")],
    }
    inside.runner.run(inside.application(scope, receive_or_leave, take))
    return sent


# --- waiting ------------------------------------------------------------------------------------------------------


def test_waiting_answers_an_event_that_was_emitted_already(world: Remote) -> None:
    made = send(world, FRIEND)
    first, second = world.control("GET", "/events").body["data"]
    assert world.control("GET", "/events/wait").body == first
    assert world.control("GET", "/events/wait", params={"type": second["type"]}).body == second
    assert world.control("GET", "/events/wait", params={"object_id": made["id"]}).body == first


def test_waiting_answers_as_soon_as_the_event_is_there(world: Remote) -> None:
    send(world, FRIEND)
    with ThreadPoolExecutor(1) as pool, new_client() as client:
        beside = Remote(world.origin, client, world.world)
        query = {"type": "beneficiary.created", "timeout": "20"}
        waiting = pool.submit(beside.control, "GET", "/events/wait", params=query)
        world.api("GET", "/profile")
        assert not waiting.done()
        ok(world.act("emit", type="beneficiary.created"))
        assert waiting.result().body["type"] == "beneficiary.created"


def test_wait_survives_a_reset_and_ends_on_deletion(world: Remote) -> None:
    with ThreadPoolExecutor(1) as pool, new_client() as client:
        beside = Remote(world.origin, client, world.world)
        ends: tuple[tuple[Callable[[], Answer] | None, int], ...] = (
            (lambda: world.act("emit", type="quote.expired"), 200),
            (None, 404),
        )
        for end, status in ends:
            waiting = pool.submit(beside.control, "GET", "/events/wait", params={"timeout": "20"})
            world.api("GET", "/profile")
            ok(world.control("POST", "/reset"))
            world.tokens.clear()
            if end is None:
                assert world.control("DELETE", f"/worlds/{world.world['id']}").status == 204
            else:
                ok(end())
            assert waiting.result().status == status
            if end is not None:
                ok(world.control("POST", "/reset"))
                world.tokens.clear()


def test_waiting_for_nothing_ends_with_the_real_time(world: Remote) -> None:
    began = time.monotonic()
    assert world.control("GET", "/events/wait", params={"timeout": "0.2"}).refusal == (408, "timeout", None)
    assert 0.15 < time.monotonic() - began < 5
    assert world.control("GET", "/events/wait", params={"timeout": "0"}).status == 408
    assert world.control("GET", "/inbox/empty/wait", params={"timeout": "0"}).status == 408


@pytest.mark.parametrize(
    ("path", "timeout"),
    [
        *(("/events/wait", timeout) for timeout in ("x", "-1", "601", "nan", "inf", "1e1", "1_0", " 1")),
        ("/inbox/any/wait", "x"),
    ],
)
def test_a_malformed_timeout_is_refused(world: Remote, path: str, timeout: str) -> None:
    refused = world.control("GET", path, params={"timeout": timeout})
    assert refused.refusal == (400, "invalid_parameter", "timeout")


def test_a_malformed_environment_is_refused_at_once(world: Remote) -> None:
    refused = world.control("GET", "/events/wait", params={"environment": "moon"})
    assert refused.refusal == (400, "invalid_parameter", "environment")


def test_an_inbox_is_waited_for(world: Remote) -> None:
    path = f"/inbox/wait-{world.world['id']}"
    ok(world.api("POST", "/webhooks", {"url": f"{world.origin}/_simulator{path}", "events": ["*"]}))
    assert [row["status"] for row in world.control("GET", f"{path}/wait").body["data"]] == [200]
    with ThreadPoolExecutor(2) as pool, new_client() as client:
        beside = Remote(world.origin, client, world.world)
        waiting = [
            pool.submit(beside.control, "GET", f"{path}/wait", params={"count": number, "timeout": "20"})
            for number in (2, 3)
        ]
        send(world, FRIEND)
        got = [future.result().body["data"] for future in waiting]
    assert [len(rows) >= number for rows, number in zip(got, (2, 3), strict=True)] == [True, True]
    types = [json.loads(row["body"])["type"] for row in got[1]]
    assert types[:3] == ["webhook.test", "transaction.processing", "transaction.completed"]
    assert world.control("GET", f"{path}/wait", params={"count": 0}).status == 200


@pytest.mark.parametrize("wanted", ["x", "-1", "10001"])
def test_a_malformed_count_is_refused(world: Remote, wanted: str) -> None:
    refused = world.control("GET", "/inbox/any/wait", params={"count": wanted})
    assert refused.refusal == (400, "invalid_parameter", "count")


def test_wait_continues_after_the_inbox_is_emptied(world: Remote) -> None:
    path = f"/inbox/clear-{world.world['id']}"
    url = f"{world.origin}/_simulator{path}"
    with ThreadPoolExecutor(1) as pool, new_client() as client:
        beside = Remote(world.origin, client, world.world)
        waiting = pool.submit(beside.control, "GET", f"{path}/wait", params={"timeout": "20"})
        world.api("GET", "/profile")
        assert world.control("DELETE", path).status == 204
        assert world.call("POST", url, content=b"hello", headers={"X-Simulator-World": world.world["id"]}).status == 200
        assert [row["body"] for row in waiting.result().body["data"]] == ["hello"]


def test_wait_with_timeout_zero_finds_an_earlier_event(world: Remote) -> None:
    world.act("set_network", network="celo", status="down")
    for query in ("", "&type=network.status_changed"):
        found = world.control("GET", f"/events/wait?timeout=0{query}")
        assert (found.status, found.body["type"]) == (200, "network.status_changed")
    assert world.control("GET", "/events/wait?timeout=0&type=kyc.approved").status == 408
