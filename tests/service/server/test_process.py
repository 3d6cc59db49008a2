"""HTTP of the listening server: limits on size and time, and the end of a request when its client disconnects."""

from __future__ import annotations

import asyncio
import logging
import socket
from dataclasses import replace

import pytest

from simulator.engine.control.history.events import Waker
from simulator.engine.server.app import Application
from simulator.engine.server.process import MaskingFormatter, open_socket, origin_of, serving
from simulator.engine.text.masking import Masker
from simulator.host import create_app
from tests.raw import ask, connected, ends, read_answer, refusal, request
from tests.remote import EMPTY, running
from tests.support import eventually


def waiters(application: Application) -> int:
    """How many calls wait for something to happen in a world."""
    return sum(isinstance(watcher, Waker) for watcher in application.runtime.watchers)


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
def test_bytes_that_are_not_http_get_an_error_envelope(origin: str, raw: bytes) -> None:
    assert refusal(ask(origin, raw)) == (400, "invalid_request")


def test_an_offer_to_speak_another_protocol_is_ignored(origin: str) -> None:
    offer = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAEAAEAAAAIAAAAB")
    body = b'{"public_key": "pk_test_simulator", "secret_key": "sk_test_simulator", "x": "\\r\\nUpgrade: h2c"}'
    raw = request("POST", "/v1/auth/token", *offer, "Content-Type: application/json", body=body)
    with connected(origin) as connection:
        for parts in ((raw,), (raw.removesuffix(body), body)):
            for part in parts:
                connection.sendall(part)
            assert read_answer(connection)[0] == 200


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


def test_a_response_may_take_longer_than_the_request_timeout() -> None:
    with running(replace(EMPTY, idle_seconds=0.1, request_seconds=0.1)) as (origin, _):
        assert ask(origin, request("GET", "/_simulator/events/wait?timeout=0.5"))[0] == 408


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
        # Between two calls of the pipeline there is no task for a moment.
        eventually(lambda: not application.calls.tasks and waiters(application) == 0)


def test_log_lines_hold_no_secret() -> None:
    formatter = MaskingFormatter(Masker(["a-control-token"]))
    record = logging.LogRecord("x", logging.ERROR, "", 0, "%s and %s", ("sk_test_simulator", "a-control-token"), None)
    assert formatter.format(record) == "ERROR x: *** and ***"


def test_a_socket_is_marked_as_tcp_to_turn_off_nagles_algorithm() -> None:
    """Without the protocol by name asyncio leaves Nagle's algorithm on."""
    with open_socket("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP
        assert origin_of(listener) == f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_an_ipv6_address_is_in_brackets() -> None:
    if not socket.has_ipv6:
        pytest.skip("this machine has no IPv6")
    with open_socket("::1", 0) as listener:
        assert origin_of(listener) == f"http://[::1]:{listener.getsockname()[1]}"


def test_an_address_that_is_taken_is_an_error() -> None:
    with open_socket("127.0.0.1", 0) as listener:
        listener.listen()
        with pytest.raises(OSError, match="in use"):
            open_socket("127.0.0.1", listener.getsockname()[1])


def test_a_server_gives_its_address_free_when_it_has_stopped() -> None:
    async def scenario() -> None:
        async with serving(create_app(EMPTY)) as origin:
            port = int(origin.rpartition(":")[2])
        with open_socket("127.0.0.1", port):
            pass

    asyncio.run(scenario())


@pytest.mark.parametrize("path", ["/v1/profile", "/_simulator/clock", "/v1/none", "/"])
def test_trace_is_refused_and_echoes_nothing(origin: str, path: str) -> None:
    """A TRACE that is answered with the request would show a page headers that it must not see."""
    sent = request("TRACE", path, "Authorization: Bearer tok_test_secret", "Cookie: mine=secret", body=b"secret")
    status, _, body = ask(origin, sent)
    assert status in (404, 405)
    assert b"secret" not in body
