"""The shell around the interfaces: who gets in, what a request may be, and what an answer looks like on the wire."""

from __future__ import annotations

import json
import logging
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import httpx
import pytest

from simulator.config import Config
from simulator.control.queries import Waker
from simulator.server.app import Application
from simulator.server.process import MaskingFormatter
from simulator.wire.masking import Masker
from tests.http.raw import ask, connected, ends, read_answer, request
from tests.remote import Remote, running

EMPTY = Config(clock="manual", scenarios=())


def waiters(application: Application) -> int:
    """How many calls wait for something to happen in a world."""
    return sum(isinstance(watcher, Waker) for watcher in application.runtime.watchers)


def refusal(answer: tuple[int, dict[str, str], bytes]) -> tuple[int, str]:
    status, _, body = answer
    return status, json.loads(body)["error"]["code"]


# --- hosts and origins --------------------------------------------------------------------------------------------

MALFORMED = (
    "[",
    "[x]",
    "a[b",
    "127.0.0.1:8642.evil.com",
    "localhost/evil",
    "evil.com@127.0.0.1",
    "localhost#x",
    "localhost:99999",
    "localhost:8a",
    "localhost:",
    "[::1",
    "[:::1]",
    "127.0.0.1 evil.com",
    "",
)
FOREIGN = (
    "evil.com",
    "evil.com:8642",
    "host.docker.internal",
    "0.0.0.0",
    "10.0.0.1",
    "127.0.0.1.evil.com",
    "localhost.evil.com",
)
OWN = ("127.0.0.1", "127.0.0.1:1", "localhost", "LocalHost:8642", "[::1]", "[::1]:8642", "127.9.9.9")


@pytest.mark.parametrize("host", [*MALFORMED, *FOREIGN])
@pytest.mark.parametrize("path", ["/v1/networks", "/production/v1/networks", "/_simulator/worlds", "/_simulator/none"])
def test_a_server_on_loopback_answers_to_no_other_name(origin: str, path: str, host: str) -> None:
    assert refusal(ask(origin, request("GET", path, host=host))) == (403, "forbidden")


@pytest.mark.parametrize("host", OWN)
@pytest.mark.parametrize("path", ["/v1/profile", "/_simulator/worlds"])
def test_a_server_on_loopback_answers_to_loopback_names(origin: str, path: str, host: str) -> None:
    assert ask(origin, request("GET", path, host=host))[0] == (401 if path == "/v1/profile" else 200)


def test_a_request_names_one_host(origin: str) -> None:
    for path in ("/v1/networks", "/_simulator/worlds"):
        assert refusal(ask(origin, request("GET", path, host=None))) == (403, "forbidden")
        assert refusal(ask(origin, request("GET", path, "Host: evil.com"))) == (403, "forbidden")
        old = f"GET {path} HTTP/1.0\r\n\r\n".encode()
        assert ask(origin, old)[0] != 403


def test_a_refused_name_is_told_with_the_way_out_and_has_a_request_id(origin: str) -> None:
    status, headers, body = ask(origin, request("GET", "/v1/networks", host="simulator.test"))
    error = json.loads(body)["error"]
    assert (status, error["request_id"]) == (403, headers["x-request-id"])
    assert "simulator.test" in error["message"]
    assert "--allowed-host" in error["message"]


def test_an_allowed_host_is_answered_by_both_interfaces() -> None:
    with running(replace(EMPTY, allowed_hosts=("host.docker.internal",))) as (origin, _):
        for path, status in (("/v1/profile", 401), ("/_simulator/worlds", 200)):
            assert ask(origin, request("GET", path, host="Host.Docker.Internal:8642"))[0] == status
            assert ask(origin, request("GET", path, host="evil.com"))[0] == 403


def test_bound_beyond_loopback_names_prove_nothing_and_the_token_counts() -> None:
    with running(replace(EMPTY, host="0.0.0.0", control_token="sesame")) as (origin, _):
        assert ask(origin, request("GET", "/v1/profile", host="anything.example"))[0] == 401
        assert ask(origin, request("GET", "/_simulator/worlds", host="anything.example"))[0] == 401
        own = request("GET", "/_simulator/worlds", "Authorization: Bearer sesame", host="anything.example")
        assert ask(origin, own)[0] == 200


@pytest.mark.parametrize(
    "own_origin",
    ["null", "http://evil.com", "https://127.0.0.1", "http://127.0.0.1:1", "http://127.0.0.1/", "127.0.0.1"],
)
def test_control_calls_come_from_the_servers_own_pages_only(origin: str, own_origin: str) -> None:
    answer = ask(origin, request("GET", "/_simulator/worlds", f"Origin: {own_origin}"))
    assert refusal(answer) == (403, "forbidden")
    assert ask(origin, request("GET", "/_simulator/worlds", "Origin: http://127.0.0.1"))[0] == 200


def test_a_webhook_cannot_steer_the_simulator(world: Remote) -> None:
    made = world.api("GET", "/profile")
    assert made.status == 200
    for method, path in (("POST", "/reset"), ("GET", "/worlds"), ("POST", "/clock/advance"), ("GET", "/dashboard")):
        refused = world.control(method, path, {"by": "1s"} if method == "POST" else None, {"X-Signature": "00"})
        assert refused.refusal == (403, "forbidden", None)
    assert world.control("GET", "/health", headers={"X-Signature": "00"}).status == 200
    assert world.control("POST", "/inbox/signed", headers={"X-Signature": "00"}).status == 200
    refused = world.api("POST", "/webhooks", {"url": f"{world.origin}/_simulator/reset", "events": ["*"]})
    assert (refused.status, refused.code) == (422, "invalid_webhook_url")
    assert world.api("GET", "/profile").status == 200, "the world was not reset"


# --- requests -----------------------------------------------------------------------------------------------------


def test_a_body_that_breaks_off_is_not_carried_out(world: Remote) -> None:
    body = b"name: half\ndescription: this half came"
    host = {"X-Simulator-World": world.world["id"]}
    upload = request("POST", "/_simulator/scenarios", f"X-Simulator-World: {host['X-Simulator-World']}",
                     "Content-Length: 1000", body=body)  # fmt: skip
    rename = request("PATCH", "/v1/profile", f"Authorization: Bearer {world.token()}", "Content-Length: 30")
    before = len(world.control("GET", "/requests").body["data"])
    for raw in (upload, rename):
        with connected(world.origin) as connection:
            connection.sendall(raw)
            connection.shutdown(socket.SHUT_WR)
            assert ends(connection)
    assert world.control("GET", "/scenarios/half").status == 404
    assert len(world.control("GET", "/requests").body["data"]) == before


def test_a_stranger_is_refused_before_the_body_is_read() -> None:
    with running(replace(EMPTY, host="0.0.0.0", control_token="sesame")) as (origin, _):
        unfinished = request("PUT", "/_simulator/state", "Content-Length: 60000000", body=b"{")
        assert refusal(ask(origin, unfinished)) == (401, "unauthorized")
    with running(EMPTY) as (origin, _):
        for path in ("/_simulator/state", "/v1/auth/token"):
            unfinished = request("PUT", path, "Content-Length: 60000000", host="evil.com", body=b"{")
            assert refusal(ask(origin, unfinished)) == (403, "forbidden")


@pytest.mark.parametrize(
    ("method", "path", "limit"),
    [("PUT", "/state", 64 * 1024 * 1024), ("POST", "/faults", 1024 * 1024)],
)
def test_bodies_of_control_calls_are_bounded(world: Remote, method: str, path: str, limit: int) -> None:
    answer = world.control(method, path, content=b" " * (limit + 1))
    assert (answer.status, answer.code) == (400, "invalid_request")
    assert str(limit) in answer.body["error"]["message"]
    assert str(limit) not in world.control(method, path, content=b" " * limit).body["error"]["message"]


def test_headers_are_bounded_in_all(origin: str) -> None:
    for raw in (
        request("GET", "/v1/networks", f"X-Long: {'a' * 65_536}"),
        request("GET", "/v1/networks", *(f"X-{number}: {'a' * 1000}" for number in range(66))),
        request("GET", f"/v1/networks?x={'a' * 65_536}"),
    ):
        with connected(origin) as connection:
            connection.sendall(raw)
            assert refusal(read_answer(connection)) == (431, "invalid_request")
            assert ends(connection)
    assert ask(origin, request("GET", "/v1/profile", f"X-Long: {'a' * 60_000}"))[0] == 401


def test_a_head_without_end_is_not_waited_for(origin: str) -> None:
    with connected(origin) as connection:
        connection.sendall(b"GET /v1/networks HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: ")
        with pytest.raises(ConnectionError):
            flood(connection)


def flood(connection: socket.socket) -> None:
    for _ in range(1_000):
        connection.sendall(b"a" * 65_536)


@pytest.mark.parametrize("raw", [b"\x00\x01\x02\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/1.1\r\nbad header\r\n\r\n"])
def test_what_is_no_http_is_refused_with_an_envelope(origin: str, raw: bytes) -> None:
    assert refusal(ask(origin, raw)) == (400, "invalid_request")


def test_slow_requests_and_idle_connections_end() -> None:
    with running(replace(EMPTY, idle_seconds=0.3, request_seconds=0.3)) as (origin, _):
        for begun in (b"GET /v1/networks HT", request("POST", "/v1/auth/token", "Content-Length: 9", body=b"{")):
            with connected(origin) as connection:
                connection.sendall(begun)
                assert refusal(read_answer(connection)) == (408, "invalid_request")
                assert ends(connection)
        with connected(origin) as connection:
            assert ends(connection)
        with connected(origin) as connection:
            connection.sendall(request("GET", "/v1/profile"))
            assert read_answer(connection)[0] == 401
            assert ends(connection)


def test_a_call_that_takes_longer_than_a_request_may_is_answered() -> None:
    with running(replace(EMPTY, idle_seconds=0.1, request_seconds=0.1)) as (origin, _):
        assert ask(origin, request("GET", "/_simulator/events/wait?timeout=0.5"))[0] == 408


# --- bounds of what is kept -----------------------------------------------------------------------------------------


def test_the_journal_is_bounded_in_bytes_and_tells_what_it_dropped(origin: str, http: httpx.Client) -> None:
    small = Remote(origin, http).another(seed=1, scenarios=[], settings={"journal_bytes": 100_000})
    for _ in range(20):
        small.api("POST", "/quotes", {"reference": "x" * 10_000})
    kept = small.control("GET", "/requests").body
    assert len(kept["data"]) + kept["dropped"] == 21
    assert 5 <= len(kept["data"]) <= 9
    assert small.control("PATCH", "/settings", {"journal_limit": 2}).status == 200
    assert len(small.control("GET", "/requests").body["data"]) == 2


def test_the_journal_of_control_calls_is_bounded_in_bytes(monkeypatch: pytest.MonkeyPatch, world: Remote) -> None:
    monkeypatch.setattr("simulator.control.journal.BYTES_KEPT", 50_000)
    for _ in range(20):
        world.act("create_key", label="x" * 200)
        world.control("POST", "/faults", {"match": {"public_key": "x" * 10_000}, "delay": "1ms"})
    kept = world.control("GET", "/controls").body
    assert len(kept["data"]) + kept["dropped"] == 40
    assert 1 <= len(kept["data"]) <= 5


def test_of_a_strangers_body_little_is_kept(server: Remote) -> None:
    server.call("POST", f"{server.origin}/v1/quotes", content=b"z" * 500_000)
    kept = server.control("GET", "/requests", params={"limit": "1"}).body["data"][0]
    assert len(kept["body"]) < 70_000
    assert kept["body"].endswith("(cut; 500000 bytes in all)")


# --- waits, dead worlds ---------------------------------------------------------------------------------------------


def test_waits_end_with_their_clients() -> None:
    with running(EMPTY) as (origin, application):
        for path in ("/_simulator/events/wait?timeout=600", "/_simulator/inbox/x/wait?timeout=600"):
            waiting = [socket.create_connection(("127.0.0.1", int(origin.rpartition(":")[2]))) for _ in range(100)]
            for connection in waiting:
                connection.sendall(request("GET", path))
            eventually(lambda: len(application.calls.tasks) == 100)
            for connection in waiting:
                connection.close()
            eventually(lambda: not application.calls.tasks)
        assert waiters(application) == 0


def test_every_call_of_a_pipeline_ends_with_its_client() -> None:
    with running(EMPTY) as (origin, application):
        with connected(origin) as connection:
            connection.sendall(request("GET", "/_simulator/events/wait?timeout=600") * 3)
            eventually(lambda: waiters(application) > 0)
        eventually(lambda: not application.calls.tasks)
        assert waiters(application) == 0


def eventually(holds: Any) -> None:
    """Look until something holds that another thread brings about."""
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end, "it never came to be"
        threading.Event().wait(0.01)


ENDINGS = ("reset", "delete", "restore", "replace")


def end_world(world: Remote, how: str) -> None:
    if how == "delete":
        assert world.call("DELETE", f"{world.origin}/_simulator/worlds/{world.world['id']}").status == 204
    elif how == "reset":
        assert world.control("POST", "/reset").status == 200
    elif how == "restore":
        snapshot = world.control("GET", "/snapshots").body["data"][0]["id"]
        assert world.control("POST", f"/snapshots/{snapshot}/restore").status == 200
    else:
        assert world.control("PUT", "/state", content=world.control("GET", "/state").raw).status == 200


WALLET = {"network": "stellar", "label": "late"}


@pytest.mark.parametrize("how", ENDINGS)
@pytest.mark.parametrize("key", [{}, {"Idempotency-Key": "late"}], ids=["once", "with a key"])
def test_a_call_whose_world_ended_while_it_was_delayed_is_not_acknowledged(
    world: Remote, how: str, key: dict[str, str]
) -> None:
    world.token()
    assert world.control("POST", "/snapshots", {}).status == 201
    fault = {"match": {"path": "/wallets", "method": "POST"}, "delay": "700ms", "times": 1}
    assert world.control("POST", "/faults", fault).status == 201
    with ThreadPoolExecutor(1) as pool, httpx.Client(timeout=30, trust_env=False) as client:
        beside = Remote(world.origin, client, world.world, world.tokens)
        late = pool.submit(beside.api, "POST", "/wallets", WALLET, key)
        eventually(lambda: world.control("GET", "/faults").body["data"][0]["hits"] == 1)
        end_world(world, how)
        answer = late.result()
    assert answer.refusal == (503, "service_unavailable", None)
    if how != "delete":
        kinds = [row["kind"] for row in world.control("GET", "/resources").body["data"]]
        assert "deposit_wallet" not in kinds
        assert "wallet" not in kinds


def test_a_registration_whose_world_was_reset_meanwhile_is_not_acknowledged(world: Remote) -> None:
    world.token()
    with socket.create_server(("127.0.0.1", 0)) as receiver, ThreadPoolExecutor(2) as pool:
        url = f"http://127.0.0.1:{receiver.getsockname()[1]}/hook"
        with httpx.Client(timeout=30, trust_env=False) as one, httpx.Client(timeout=30, trust_env=False) as two:
            key = {"Idempotency-Key": "hook"}
            body = {"url": url, "events": ["*"]}
            clients = [Remote(world.origin, client, world.world, world.tokens) for client in (one, two)]
            first, retry = (pool.submit(client.api, "POST", "/webhooks", body, key) for client in clients)
            connection, _ = receiver.accept()
            connection.recv(65536)
            assert world.control("POST", "/reset").status == 200
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            answers = [first.result(), retry.result()]
            connection.close()
    assert [answer.status for answer in answers if answer.status == 201] == []
    assert {answer.status for answer in answers} <= {503, 401}
    assert 503 in {answer.status for answer in answers}


# --- answers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [204, 205, 304])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_answers_without_a_body_leave_the_connection_usable(world: Remote, status: int, method: str) -> None:
    fault = {"match": {"path": "/profile"}, "respond": {"status": status, "code": "odd"}, "times": 1}
    assert world.control("POST", "/faults", fault).status == 201
    world.control("PUT", f"/inbox/odd{status}", {"respond": [status]})
    own = f"Authorization: Bearer {world.token()}"
    with connected(world.origin) as connection:
        connection.sendall(request(method, "/v1/profile", own))
        answer = read_answer(connection, head=method == "HEAD")
        assert (answer[0], answer[2], answer[1].get("content-length", "0")) == (status, b"", "0")
        connection.sendall(request("GET", "/v1/profile", own))
        assert read_answer(connection)[0] == 200
        connection.sendall(request("POST", f"/_simulator/inbox/odd{status}", body=b"x"))
        assert read_answer(connection)[0::2] == (status, b"")
        connection.sendall(request("GET", "/v1/profile", own))
        assert read_answer(connection)[0] == 200


@pytest.mark.parametrize("status", [100, 101, 199, 600])
def test_a_fault_answers_with_a_final_status(world: Remote, status: int) -> None:
    fault = {"match": {}, "respond": {"status": status, "code": "odd"}}
    assert world.control("POST", "/faults", fault).refusal == (400, "invalid_parameter", "respond.status")


def test_every_control_answer_says_how_it_may_be_used(server: Remote) -> None:
    for path in ("/health", "/worlds", "/none", "/dashboard", "/coverage.html", "/reference.html"):
        headers = server.control("GET", path).headers
        assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")


# --- defects --------------------------------------------------------------------------------------------------------


def test_a_defect_is_answered_with_an_envelope_and_told_in_the_log_only(caplog: pytest.LogCaptureFixture) -> None:
    secret = "sk_test_" + "a1" * 12
    with running(EMPTY) as (origin, application):

        def broken(*_: Any) -> Any:
            raise RuntimeError(f"no such luck with {secret}")

        application.runtime.driver.bring_up_to_date = broken  # type: ignore[method-assign]
        with caplog.at_level(logging.ERROR):
            for path in ("/v1/profile", "/_simulator/clock"):
                status, _, body = ask(origin, request("GET", path))
                message = json.loads(body)["error"]["message"]
                assert (status, json.loads(body)["error"]["code"]) == (500, "internal_error")
                assert "defect of the simulator" in message
                assert "luck" not in message
    assert caplog.text.count("RuntimeError: no such luck with ***") >= 2
    assert secret not in caplog.text


def test_a_call_that_was_carried_out_is_acknowledged_whatever_follows_it(caplog: pytest.LogCaptureFixture) -> None:
    with running(EMPTY) as (origin, application), httpx.Client(trust_env=False) as client:
        remote = Remote(origin, client)
        remote.world = remote.control("GET", "/worlds/default").body
        remote.token()

        def broken(*_: Any) -> Any:
            raise RuntimeError("the courier fell off its bicycle")

        application.runtime.courier.pump = broken  # type: ignore[method-assign]
        with caplog.at_level(logging.ERROR):
            assert remote.api("POST", "/wallets", WALLET).status == 201
    assert "bicycle" in caplog.text


def test_whatever_fails_in_the_application_the_answer_has_an_envelope(caplog: pytest.LogCaptureFixture) -> None:
    with running(EMPTY) as (origin, application):

        async def broken(*_: Any) -> Any:
            raise RuntimeError("nobody expects it")

        application.endpoint.answer = broken  # type: ignore[method-assign]
        with caplog.at_level(logging.ERROR):
            assert refusal(ask(origin, request("GET", "/v1/networks"))) == (500, "internal_error")
    assert "nobody expects it" in caplog.text


def test_log_lines_hold_no_secret() -> None:
    formatter = MaskingFormatter(Masker(["a-control-token"]))
    record = logging.LogRecord("x", logging.ERROR, "", 0, "%s and %s", ("sk_test_simulator", "a-control-token"), None)
    assert formatter.format(record) == "ERROR x: *** and ***"


# --- inboxes --------------------------------------------------------------------------------------------------------


def bodies(world: Remote, path: str, **headers: str) -> list[str]:
    return [row["body"] for row in world.call("GET", f"{world.origin}/_simulator{path}", headers=headers).body["data"]]


def test_a_message_belongs_to_the_world_whose_delivery_it_is(world: Remote) -> None:
    other, path = world.another(seed=2, scenarios=[]), f"/inbox/mine-{world.world['id']}"
    for one in (world, other):
        hook = {"url": f"{world.origin}/_simulator{path}", "events": ["wallet.created"]}
        assert one.api("POST", "/webhooks", hook).status == 201
        assert one.api("POST", "/wallets", WALLET).status == 201
        one.control("POST", "/settle")
    assert len(world.control("GET", path).body["data"]) == len(other.control("GET", path).body["data"]) > 0
    everything = bodies(world, path)
    assert len(everything) == 2 * len(world.control("GET", path).body["data"])
    assert world.control("POST", "/reset").status == 200
    assert world.control("GET", path).body["data"] == []
    assert bodies(world, path) == [row["body"] for row in other.control("GET", path).body["data"]]


def test_a_message_sent_by_hand_belongs_to_the_world_it_names_or_to_default(world: Remote) -> None:
    path, mine = f"/inbox/hand-{world.world['id']}", world.world["id"]
    world.call("POST", f"{world.origin}/_simulator{path}", content=b"nobody's")
    world.control("POST", path, content=b"mine")
    assert bodies(world, path) == ["nobody's", "mine"]
    assert bodies(world, path, **{"X-Simulator-World": mine}) == ["mine"]
    assert bodies(world, path, **{"X-Simulator-World": "default"}) == ["nobody's"]
    assert world.control("GET", path, headers={"X-Simulator-World": "none"}).status == 404
    assert world.control("DELETE", path).status == 204
    assert bodies(world, path) == ["nobody's"]


@pytest.mark.parametrize("how", ENDINGS)
def test_the_end_of_a_world_empties_its_inboxes(world: Remote, how: str) -> None:
    path = f"/inbox/end-{world.world['id']}"
    world.control("PUT", path, {"respond": [503]})
    assert world.control("POST", "/snapshots", {}).status == 201
    assert world.control("POST", path, content=b"mine").status == 503
    end_world(world, how)
    assert bodies(world, path) == []
    assert world.call("POST", f"{world.origin}/_simulator{path}", content=b"later").status == 200


def test_of_a_large_message_the_beginning_is_kept(world: Remote) -> None:
    path = f"/inbox/large-{world.world['id']}"
    assert world.control("POST", path, content=b"x" * (2 * 1024 * 1024)).status == 200
    assert world.control("POST", path, content=b"y").status == 200
    kept = world.control("GET", path).body["data"]
    assert [(len(row["body"]), row["truncated"]) for row in kept] == [(1024 * 1024, True), (1, False)]


def test_an_inbox_is_bounded_in_bytes(world: Remote) -> None:
    path = f"/inbox/full-{world.world['id']}"
    for _ in range(40):
        world.control("POST", path, content=b"x" * (1024 * 1024))
    kept = world.control("GET", path).body
    assert len(kept["data"]) + kept["dropped"] == 40
    assert 30 <= len(kept["data"]) <= 32
    world.control("DELETE", path)


def test_an_event_already_emitted_is_found_without_any_time_to_wait(world: Remote) -> None:
    world.act("set_network", network="celo", status="down")
    for query in ("", "&type=network.status_changed"):
        found = world.control("GET", f"/events/wait?timeout=0{query}")
        assert (found.status, found.body["type"]) == (200, "network.status_changed")
    assert world.control("GET", "/events/wait?timeout=0&type=kyc.approved").status == 408
