"""A small HTTP server on the loopback interface, in a running event loop. Each connection has one request."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Awaitable, Callable
from http import HTTPStatus

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser

from simulator.kernel.dataclass import dataclass

HeaderPairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Request:
    """An HTTP request. `target` is the path with the query string."""

    method: str
    target: str
    headers: HeaderPairs
    body: bytes


@dataclass(frozen=True)
class Answer:
    """A response. If `cut` is True, the connection is closed without a response, as if the process had crashed."""

    status: int
    headers: HeaderPairs = ()
    body: bytes = b""
    cut: bool = False


Answering = Callable[[Request], Awaitable[Answer]]


async def _address_of(host: str) -> str:
    """Return the address for a local host name, or "" (all addresses) for any other name."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, 0, family=socket.AF_INET, type=socket.SOCK_STREAM)
    except socket.gaierror:  # some names, such as host.docker.internal, resolve only in containers
        return ""
    address = str(found[0][4][0])
    with socket.socket() as trial:
        try:
            trial.bind((address, 0))
        except OSError as error:
            if error.errno != errno.EADDRNOTAVAIL:
                raise
            return ""
    return address


class Listener:
    """Listens for `host` on a free port of this machine, between `open` and `close`. If the name refers to another
    machine, such as a forwarder, it listens on all addresses of this machine.
    """

    def __init__(self, answer: Answering, host: str = "127.0.0.1") -> None:
        self._answer = answer
        self._host = host
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Transport] = set()

    async def open(self) -> int:
        """Start listening. Return the port."""
        loop = asyncio.get_running_loop()
        address = await _address_of(self._host)
        self._server = await loop.create_server(lambda: _Connection(self._answer, self._connections), address, 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    def close(self) -> None:
        """Stop listening and cut open connections. Runs in the event loop."""
        if self._server is not None:
            self._server.close()
        for connection in tuple(self._connections):
            connection.abort()


class _Connection(asyncio.Protocol):
    """Reads one request, responds in a task, and closes."""

    def __init__(self, answer: Answering, connections: set[asyncio.Transport]) -> None:
        self._answer = answer
        self._connections = connections
        self._parser = HttpRequestParser(self)
        self._target = b""
        self._headers: list[tuple[str, str]] = []
        self._chunks: list[bytes] = []
        self._transport: asyncio.Transport | None = None
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._connections.add(transport)

    def connection_lost(self, _error: Exception | None) -> None:
        if self._transport is not None:
            self._connections.discard(self._transport)
            self._transport = None

    def data_received(self, data: bytes) -> None:
        if self._task is not None:
            return
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as error:
            self._write(Answer(400, (), f"Not a valid webhook request: {error}\n".encode()))

    def on_url(self, url: bytes) -> None:
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name.decode("latin-1"), value.decode("latin-1")))

    def on_headers_complete(self) -> None:
        headers = [(name.lower(), value.lower()) for name, value in self._headers]
        if self._transport is not None and ("expect", "100-continue") in headers:
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, body: bytes) -> None:
        self._chunks.append(body)

    def on_message_complete(self) -> None:
        method = self._parser.get_method().decode("ascii")
        request = Request(method, self._target.decode("latin-1"), tuple(self._headers), b"".join(self._chunks))
        self._task = asyncio.get_running_loop().create_task(self._reply(request))

    async def _reply(self, request: Request) -> None:
        self._write(await self._answer(request))

    def _write(self, answer: Answer) -> None:
        if (transport := self._transport) is None:
            return
        if answer.cut:
            transport.abort()
        else:
            transport.write(_head(answer) + answer.body)
            transport.close()


_OWN = frozenset({"content-length", "connection", "transfer-encoding"})


def _head(answer: Answer) -> bytes:
    try:
        phrase = HTTPStatus(answer.status).phrase
    except ValueError:
        phrase = ""
    lines = [f"HTTP/1.1 {answer.status} {phrase}"]
    lines += [f"{name}: {value}" for name, value in answer.headers if name.lower() not in _OWN]
    lines += [f"Content-Length: {len(answer.body)}", "Connection: close", "", ""]
    return "\r\n".join(lines).encode("latin-1")
