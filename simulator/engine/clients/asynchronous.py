"""Asynchronous clients: one over HTTP, and one for an ASGI application in the same process."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import field
from functools import cache
from typing import Any, Protocol
from urllib.parse import urlsplit

from simulator.engine.clients import guard
from simulator.engine.clients.address import CONTROL_BASE
from simulator.engine.clients.connecting import addresses_of, connect
from simulator.engine.clients.exchange import ConnectionClosed, Exchange, NoHttp
from simulator.engine.text.json import JsonObject, dumps, loads
from simulator.kernel.dataclass import dataclass

_CONNECT_SECONDS = 10.0
_BUFFERED_BYTES = 256 * 1024
"""The number of bytes of a streamed body that are buffered before the consumer reads them."""
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Reply:
    """A response with a parsed body. The body is None if it is empty, and a string if it is not JSON."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    """The headers. Their names are in lower case."""
    raw: bytes = b""
    """The unparsed body."""


class Client(Protocol):
    """A client of one simulator."""

    origin: str
    """The URL at which the simulator can be reached, or "" if it has no address."""

    async def request(
        self, method: str, path: str, json: object = None, headers: Mapping[str, str] | None = None
    ) -> Reply:
        """Send a request. `path` may include a query. Raise `ConnectionError` if no response arrives."""
        ...


def _parsed(raw: bytes) -> Any:
    if not raw:
        return None
    try:
        return loads(raw)
    except ValueError:
        return raw.decode("utf-8", "replace")


class HttpClient:
    """A client for a simulator at a URL. Raise `ConnectionError` if the host is not trusted."""

    def __init__(self, origin: str, control_token: str = "") -> None:
        try:
            guard.check_host(origin)
        except guard.ForeignHost as error:
            raise ConnectionError(str(error)) from None
        self.origin = origin.rstrip("/")
        self._headers = {"Authorization": f"Bearer {control_token}"} if control_token else {}

    async def request(
        self, method: str, path: str, json: object = None, headers: Mapping[str, str] | None = None
    ) -> Reply:
        own = self._headers if path.startswith(CONTROL_BASE) else {}
        kind = {} if json is None else {"Content-Type": "application/json"}
        sent = {**own, **kind, **(headers or {})}
        lines = [(name.encode(), value.encode()) for name, value in sent.items()]
        body = b"" if json is None else dumps(json)
        received = await open_stream(method, f"{self.origin}{path}", lines, body, connect_seconds=_CONNECT_SECONDS)
        try:
            raw = b"".join([piece async for piece in received.pieces()])
            assert received.status is not None
            return Reply(received.status, _parsed(raw), {n.lower(): v for n, v in received.headers}, raw)
        finally:
            received.close()


class Stream(Exchange):
    """A response whose body is read piece by piece, with back pressure. Always close it."""

    __slots__ = ("_is_bodiless", "_more", "begun")

    def __init__(self, request: bytes, loop: asyncio.AbstractEventLoop, *, is_bodiless: bool) -> None:
        super().__init__(request, loop.create_future(), most_bytes=None)
        self._is_bodiless = is_bodiless
        self.begun = loop.create_future()
        """Done when the response headers have arrived, or when it is certain that they will not arrive."""
        self._more: asyncio.Future[None] | None = None

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the body as it arrives. Raise `ConnectionClosed` if the connection ends before the body does."""
        while True:
            while self._chunks:
                piece = b"".join(self._chunks)
                self._chunks.clear()
                if self._transport is not None and not self.ended.done():
                    self._transport.resume_reading()
                yield piece
            if self._complete:
                return
            if self.ended.done():
                raise ConnectionClosed("the connection was closed in the middle of a response")
            self._more = self.ended.get_loop().create_future()
            await self._more

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.status is not None and not self.begun.done():
            self.begun.set_result(None)
        if self._transport is not None and sum(map(len, self._chunks)) > _BUFFERED_BYTES:
            self._transport.pause_reading()
        self._wake()

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        # The parser does not know that this is a response to a HEAD request, and would wait for a body.
        self._complete = self._complete or (self._is_bodiless and self.status is not None)

    def connection_lost(self, error: Exception | None) -> None:
        framed = {b"content-length", b"transfer-encoding"} & {name.lower() for name, _ in self.raw_headers}
        if error is None and self.status is not None and not framed:
            self._complete = True  # The end of the connection marks the end of such a body.
        super().connection_lost(error)

    def _end(self, error: Exception | None) -> None:
        super()._end(error)
        if not self.begun.done():
            self.begun.set_result(None)
        self._wake()

    def _wake(self) -> None:
        if self._more is not None and not self._more.done():
            self._more.set_result(None)


async def open_stream(
    method: str, url: str, headers: Iterable[tuple[bytes, bytes]], body: bytes, *, connect_seconds: float
) -> Stream:
    """Send a request over a new connection. Return the response as soon as its headers have arrived.

    Raise `NotConnected` if no connection was made, and another `ConnectionError` if it fails later.
    """
    loop = asyncio.get_running_loop()
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or _DEFAULT_PORTS[parts.scheme]
    lines = list(headers)
    if not any(name.lower() == b"host" for name, _ in lines):
        lines.insert(0, (b"Host", parts.netloc.rpartition("@")[2].encode()))
    if body or method not in ("GET", "HEAD", "OPTIONS"):
        lines.append((b"Content-Length", str(len(body)).encode()))
    target = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
    head = b"\r\n".join(
        [
            f"{method} {target} HTTP/1.1".encode("latin-1"),
            *(name + b": " + value for name, value in lines),
            b"Connection: close\r\n\r\n",
        ]
    )
    stream = Stream(head + body, loop, is_bodiless=method == "HEAD")
    try:
        async with asyncio.timeout(connect_seconds):
            found = await addresses_of(host, port)
            context = _tls() if parts.scheme == "https" else None
            await connect(loop, lambda: stream, found, port, ssl=context, server_hostname=host if context else None)
    except TimeoutError:
        raise NotConnected(f"{host}:{port} did not accept a connection in {connect_seconds:g} s") from None
    except OSError as error:
        raise NotConnected(str(error)) from error
    try:
        await stream.begun
        if stream.status is None:
            failure = stream.ended.result()
            raise ConnectionError("the response is not HTTP" if isinstance(failure, NoHttp) else "no response came")
    except BaseException:
        stream.close()
        raise
    return stream


class NotConnected(ConnectionError):
    """Raised if no connection was made, so nothing was sent."""


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


class AsgiClient:
    """A client that calls a simulator in the same process without a socket."""

    def __init__(self, app: Callable[[Any, Any, Any], Awaitable[None]], origin: str = "") -> None:
        self.origin = origin
        self._app = app

    async def request(
        self, method: str, path: str, json: object = None, headers: Mapping[str, str] | None = None
    ) -> Reply:
        kind = {} if json is None else {"Content-Type": "application/json"}
        return await self.send(method, path, b"" if json is None else dumps(json), {**kind, **(headers or {})})

    async def send(self, method: str, path: str, content: bytes, headers: Mapping[str, str]) -> Reply:
        """Send a body unchanged. Raise `ConnectionError` if the connection is closed without a response."""
        path, _, query = path.partition("?")
        named = {"host": "127.0.0.1", **{name.lower(): value for name, value in headers.items()}}
        sent = [(name.encode(), value.encode()) for name, value in named.items()]
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
            "path": path, "raw_path": path.encode(), "query_string": query.encode(), "headers": sent,
            "client": ("127.0.0.1", 0), "server": ("127.0.0.1", 80),
        }  # fmt: skip
        messages: list[JsonObject] = []

        async def receive() -> JsonObject:
            return {"type": "http.request", "body": content, "more_body": False}

        async def send(message: JsonObject) -> None:
            messages.append(message)

        await self._app(scope, receive, send)
        if not messages:
            raise ConnectionError("no response came")
        raw = b"".join(message.get("body", b"") for message in messages[1:])
        answered = {name.decode().lower(): value.decode() for name, value in messages[0].get("headers", [])}
        return Reply(messages[0]["status"], _parsed(raw), answered, raw)
