"""The fast path of API and control calls: the same bytes as through ASGI, in the same order."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from simulator.engine.server.process import serving
from simulator.host import create_app
from tests.raw import ask, connected, ends, read_answer, request
from tests.remote import EMPTY, running
from tests.support import eventually

KEYS = json.dumps({"public_key": "pk_test_simulator", "secret_key": "sk_test_simulator"}).encode()
JSON = "Content-Type: application/json"
TOKEN = request("POST", "/v1/auth/token", JSON, body=KEYS)
READ = request("GET", "/v1/profile")
PROBE = request("POST", "/v1/auth/token", JSON, "X-Marker: 1", body=b'{"public_key": 1}')
CLOCK = request("GET", "/_simulator/clock")
INBOX = request("PUT", "/_simulator/inbox/till", JSON, body=b'{"respond": [204]}')
EMIT = request("POST", "/_simulator/actions/emit", JSON, body=b'{"type": "quote.created"}')


class Layer:
    """A middleware that does nothing; with it every call goes by ASGI."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.app(scope, receive, send)


def everything(connection: socket.socket) -> bytes:
    """All bytes up to the end of the connection."""
    return b"".join(iter(lambda: connection.recv(65_536), b""))


@contextmanager
def both_ways() -> Iterator[tuple[str, str]]:
    """Two servers alike, of which the second answers by ASGI alone."""
    with running(EMPTY) as (short, application), running(EMPTY, Layer) as (long, other):
        assert application.fast_path is not None
        assert other.fast_path is None
        yield short, long


CALLS = (
    (TOKEN,),
    (READ,),
    (PROBE,),
    (request("HEAD", "/v1/networks"),),
    (request("GET", "/v1/no/such/path"),),
    (request("GET", "/v1/networks", host="example.com"),),
    (request("PUT", "/v1/auth/token"),),
    (TOKEN[:-40], TOKEN[-40:-1], TOKEN[-1:]),
    (READ * 3 + TOKEN * 2 + request("GET", "/_simulator/clock") + READ,),
    (request("POST", "/v1/auth/token", JSON, body=KEYS[:-1] + b" " * 200_000 + b"}") + READ,),
    (request("POST", "/v1/auth/token", JSON, "Transfer-Encoding: chunked"), b"46\r\n", KEYS, b"\r\n0\r\n\r\n"),
    (request("POST", "/v1/auth/token", JSON, "Expect: 100-continue", body=KEYS),),
    (READ.replace(b"HTTP/1.1", b"HTTP/1.0"),),
    (CLOCK,),
    (CLOCK + EMIT + READ + EMIT[:-3], EMIT[-3:]),
    (request("HEAD", "/_simulator/clock"),),
    (request("GET", "/_simulator/dashboard"),),
    (request("GET", "/_simulator"), request("GET", "/_simulator/"), request("GET", "/_simulator/events/wait/x")),
    (request("PATCH", "/_simulator/clock"),),
    (request("GET", "/_simulator/clock", host="example.com"),),
    (request("GET", "/_simulator/openapi.yaml", "X-Forwarded-Proto: https"),),
    (request("GET", "/_simulator/clock", "Origin: http://example.com"),),
    (request("GET", "/v1/profile", "Origin: http://example.com"), request("GET", "/v1/profile", "Origin: null"), READ),
    (request("GET", "/v1/profile", "Origin: http://127.0.0.1"), request("GET", "/v1/x", "Sec-Fetch-Site: same-site")),
    (request("GET", "/_simulator/clock?now=1"), request("POST", "/_simulator/settle", "X-Signature: x")),
    (request("POST", "/_simulator/actions/emit", JSON, body=b"[]"),),
    (INBOX, request("POST", "/_simulator/inbox/till")),
    (request("POST", "/_simulator/clock/advance", JSON, body=b'{"by": "1h"}') + CLOCK,),
    (request("GET", "/_simulator/events/wait?type=quote.created&timeout=0") + CLOCK,),
    (request("GET", "/_simulator/inbox/till/wait?timeout=0.01") + CLOCK,),
    (request("POST", "/_simulator/faults", JSON, body=b" " * 1_100_000),),
)  # fmt: skip


@pytest.mark.parametrize("parts", CALLS)
def test_a_call_is_answered_as_by_asgi(parts: tuple[bytes, ...]) -> None:
    with both_ways() as origins:
        found = []
        for origin in origins:
            with connected(origin) as connection:
                for part in parts[:-1]:
                    connection.sendall(part)
                connection.sendall(parts[-1] + request("GET", "/v1/last", "Connection: close"))
                found.append(everything(connection))
        assert found[0] == found[1]
        assert found[0].startswith(b"HTTP/1.1 ")


REPEATED = (
    TOKEN,
    READ,
    PROBE,
    CLOCK,
    EMIT,
    INBOX,
    request("GET", "/v1/networks", "Connection: keep-alive"),
    request("GET", "/v1/networks", "Connection: close"),
    request("GET", "/v1/networks", host="example.com"),
    request("GET", "/v1/networks", "X-Forwarded-Proto: https"),
    request("GET", "/v1/networks", "Origin: http://127.0.0.1"),
    request("GET", "/_worlds/default/v1/networks?a=1&b=%20"),
    request("GET", "/v1/no/such/path"),
    request("GET", "/_simulator/dashboard"),
    request("GET", "/_simulator/inbox/till/wait?timeout=0.01"),
    request("POST", "/_simulator/faults", JSON, body=b" " * 100_000),
)


@pytest.mark.parametrize("raw", REPEATED)
def test_a_repeated_call_is_answered_as_by_asgi(raw: bytes) -> None:
    with both_ways() as origins:
        found = []
        for origin in origins:
            answers = []
            for _ in range(5):
                with connected(origin) as connection:
                    connection.sendall(raw)
                    answers.append(read_answer(connection))
                    if answers[-1][1].get("connection") != "close":
                        connection.sendall(raw)
                        answers.append(read_answer(connection))
            found.append(answers)
        assert found[0] == found[1]


def test_a_known_call_that_waits_is_answered_before_those_behind_it() -> None:
    with running(EMPTY) as (origin, _), connected(origin) as connection:
        for _ in range(3):
            connection.sendall(TOKEN)
            assert read_answer(connection)[0] == 200
        fault = json.dumps({"match": {"path": "/auth/token"}, "delay": "200ms", "times": 1}).encode()
        assert ask(origin, request("POST", "/_simulator/faults", JSON, body=fault))[0] == 201
        connection.sendall(TOKEN)
        eventually(lambda: b'"hits":1' in ask(origin, request("GET", "/_simulator/faults"))[2])
        connection.sendall(READ + request("GET", "/v1/x", "Connection: close"))
        statuses = [part.split(b" ", 1)[0] for part in everything(connection).split(b"HTTP/1.1 ")[1:]]
        assert statuses == [b"200", b"401", b"404"]


def test_a_known_call_that_a_fault_cuts_ends_without_a_byte() -> None:
    with running(EMPTY) as (origin, application):
        for _ in range(3):
            assert ask(origin, TOKEN)[0] == 200
        fault = json.dumps({"match": {"path": "/auth/token"}, "drop": True, "times": 1}).encode()
        assert ask(origin, request("POST", "/_simulator/faults", JSON, body=fault))[0] == 201
        with connected(origin) as connection:
            connection.sendall(TOKEN)
            assert everything(connection) == b""
        eventually(lambda: not application.calls.tasks)
        assert ask(origin, TOKEN)[0] == 200


def test_a_call_that_waits_is_answered_before_those_behind_it() -> None:
    with running(EMPTY) as (origin, _):
        fault = json.dumps({"match": {"path": "/auth/token"}, "delay": "200ms", "times": 1}).encode()
        assert ask(origin, request("POST", "/_simulator/faults", JSON, body=fault))[0] == 201
        with connected(origin) as connection:
            connection.sendall(TOKEN + READ * 2 + request("GET", "/v1/x", "Connection: close"))
            answers = everything(connection)
        statuses = [part.split(b" ", 1)[0] for part in answers.split(b"HTTP/1.1 ")[1:]]
        assert statuses == [b"200", b"401", b"401", b"404"]


def test_a_connection_that_a_fault_cuts_ends_without_a_byte() -> None:
    with running(EMPTY) as (origin, application):
        fault = json.dumps({"match": {"path": "/auth/token"}, "drop": True, "times": 1}).encode()
        assert ask(origin, request("POST", "/_simulator/faults", JSON, body=fault))[0] == 201
        with connected(origin) as connection:
            connection.sendall(TOKEN)
            assert ends(connection)
        eventually(lambda: not application.calls.tasks)
        assert ask(origin, TOKEN)[0] == 200


def test_a_middleware_that_is_added_sees_every_call() -> None:
    seen = []

    class Witness(Layer):
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            seen.append(scope.get("path"))
            await super().__call__(scope, receive, send)

    with running(EMPTY, Witness) as (origin, _):
        assert ask(origin, READ)[0] == 401
    assert seen[-1] == "/v1/profile"


def test_a_call_that_is_still_coming_in_ends_with_the_server() -> None:
    async def play() -> bytes:
        async with serving(create_app(EMPTY)) as origin:
            reader, writer = await asyncio.open_connection("127.0.0.1", int(origin.rpartition(":")[2]))
            writer.write(READ + TOKEN[:-1])
            assert (await reader.readline()).startswith(b"HTTP/1.1 401 ")  # so the head behind it has been read too
        answers = await reader.read()
        writer.close()
        return answers

    assert b"HTTP/1.1 503 " in asyncio.run(play())
