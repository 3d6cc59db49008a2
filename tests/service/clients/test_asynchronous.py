"""The asynchronous client against bare servers: whole responses, streamed responses, and broken ones."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing

import pytest

from simulator.engine.clients import connecting
from simulator.engine.clients.asynchronous import _BUFFERED_BYTES, HttpClient, NotConnected, open_stream
from simulator.engine.clients.exchange import MAX_BODY_BYTES, ConnectionClosed

Respond = Callable[[asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def server(respond: bytes | Respond) -> AsyncIterator[tuple[str, list[bytes]]]:
    """A server that sends these bytes to every request; gives its origin and the heads of the requests."""
    heads: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        with closing(writer):
            if isinstance(respond, bytes):
                writer.write(respond)
            else:
                await respond(writer)

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}", heads
    finally:
        listening.close()


def test_a_large_response_comes_whole() -> None:
    async def scenario() -> None:
        body = b'"' + b"x" * 3 * MAX_BODY_BYTES + b'"'
        head = b"HTTP/1.1 200 OK\r\nX-Mine: 1\r\nContent-Length: %d\r\n\r\n" % len(body)
        async with server(head + body) as (origin, heads):
            reply = await HttpClient(origin).request("POST", "/a?b=c", {"d": 1}, {"X-Two": "2"})
            assert (reply.status, reply.raw, reply.headers["x-mine"]) == (200, body, "1")
            first, *lines = heads[0].decode().strip().split("\r\n")
            assert first == "POST /a?b=c HTTP/1.1"
            host = origin.removeprefix("http://")
            assert {f"Host: {host}", "X-Two: 2", "Content-Length: 7", "Connection: close"} < set(lines)

    asyncio.run(scenario())


@pytest.mark.parametrize("method", ["HEAD", "GET"])
def test_only_the_response_to_head_has_no_body(method: str) -> None:
    async def scenario() -> None:
        async def respond(writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" + (b"" if method == "HEAD" else b"{}"))

        async with server(respond) as (origin, _):
            reply = await HttpClient(origin).request(method, "/")
            assert (reply.status, reply.raw) == (200, b"" if method == "HEAD" else b"{}")

    asyncio.run(scenario())


@pytest.mark.parametrize(
    "response",
    [
        b"",
        b"HTTP/1.1 200",
        b"this is not HTTP\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nless",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nless\r\n",
    ],
)
def test_a_response_that_breaks_off_raises(response: bytes) -> None:
    async def scenario() -> None:
        async with server(response) as (origin, _):
            with pytest.raises(ConnectionError):
                await HttpClient(origin).request("GET", "/")

    asyncio.run(scenario())


def test_a_body_of_unknown_length_ends_with_the_connection() -> None:
    async def scenario() -> None:
        async with server(b"HTTP/1.0 200 OK\r\n\r\nuntil the end") as (origin, _):
            assert (await HttpClient(origin).request("GET", "/")).raw == b"until the end"

    asyncio.run(scenario())


def test_a_refused_connection_sent_nothing() -> None:
    async def scenario() -> None:
        with socket.socket() as nobody:
            nobody.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{nobody.getsockname()[1]}/"
            with pytest.raises(NotConnected):
                await open_stream("GET", url, [], b"", connect_seconds=5)

    asyncio.run(scenario())


def test_a_stream_gives_pieces_before_its_end_and_notices_a_cut() -> None:
    async def scenario() -> None:
        cut = asyncio.Event()

        async def respond(writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
            await writer.drain()
            await cut.wait()

        async with server(respond) as (origin, _):
            with closing(await open_stream("GET", f"{origin}/", [], b"", connect_seconds=5)) as stream:
                pieces = stream.pieces()
                assert await anext(pieces) == b"one"
                cut.set()
                with pytest.raises(ConnectionClosed):
                    await anext(pieces)

    asyncio.run(scenario())


def test_a_slow_consumer_holds_up_the_server() -> None:
    """Otherwise a stream that nobody reads would fill the memory."""

    async def scenario() -> None:
        size = 64 * _BUFFERED_BYTES

        async def respond(writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
            for _ in range(64):
                writer.write(b"x" * _BUFFERED_BYTES)
                await writer.drain()

        async with server(respond) as (origin, _):
            with closing(await open_stream("GET", f"{origin}/", [], b"", connect_seconds=5)) as stream:
                taken = 0
                async for piece in stream.pieces():
                    assert len(piece) <= 4 * _BUFFERED_BYTES
                    taken += len(piece)
                assert taken == size

    asyncio.run(scenario())


class Addresses:
    """A loop's `sock_connect` with outcomes by address: an error, or an event to wait for before the connection."""

    def __init__(self, **outcomes: OSError | asyncio.Event | None) -> None:
        self.outcomes = {name.replace("_", "."): outcome for name, outcome in outcomes.items()}
        self.tried: list[str] = []

    async def __call__(self, sock: socket.socket, address: tuple[str, int]) -> None:
        self.tried.append(address[0])
        outcome = self.outcomes[f"a{address[0]}"]
        if isinstance(outcome, OSError):
            raise outcome
        if outcome is not None:
            await outcome.wait()


def race(monkeypatch: pytest.MonkeyPatch, connects: Addresses, *addresses: str) -> list[str]:
    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        monkeypatch.setattr(loop, "sock_connect", connects)
        found = [(one, int(socket.AF_INET6 if ":" in one else socket.AF_INET)) for one in addresses]
        (await connecting._race(loop, found, 80)).close()

    asyncio.run(scenario())
    return connects.tried


def test_the_next_address_is_tried_when_one_fails_or_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "HEAD_START_SECONDS", 0)
    connects = Addresses(a10_0_0_1=OSError("no route"), a10_0_0_2=asyncio.Event(), a10_0_0_3=None)
    assert race(monkeypatch, connects, "10.0.0.1", "10.0.0.2", "10.0.0.3") == ["10.0.0.1", "10.0.0.2", "10.0.0.3"]


def test_addresses_of_both_families_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = ConnectionRefusedError()
    outcomes: dict[str, OSError | asyncio.Event | None] = {"a10_0_0_1": refused, "a10_0_0_2": refused}
    connects = Addresses(**outcomes, **{"a::1": refused, "a::2": OSError("no route")})
    with pytest.raises(ConnectionRefusedError):
        race(monkeypatch, connects, "10.0.0.1", "10.0.0.2", "::1", "::2")
    assert connects.tried == ["10.0.0.1", "::1", "10.0.0.2", "::2"]
