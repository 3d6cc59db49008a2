"""One HTTP request and its answer over a connection of its own.

The answer is parsed by llhttp (httptools), as leniently as its receivers need it: many are written by hand. What came
counts even when the rest never does.
"""

from __future__ import annotations

import asyncio
from functools import lru_cache

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

MAX_BODY_BYTES = 64 * 1024
"""Of a body only the beginning is kept."""
MAX_HEADERS = 128
MAX_HEADER_BYTES = 8190
"""Of one header, its name and value."""
_SHORT_HEADER = 100

Headers = tuple[tuple[str, str], ...]

_SWITCHING_PROTOCOLS = 101

_WELL_KNOWN = """
Accept-CH Accept-Ranges Access-Control-Allow-Credentials Access-Control-Allow-Headers Access-Control-Allow-Methods
Access-Control-Allow-Origin Access-Control-Expose-Headers Access-Control-Max-Age Age Allow Alt-Svc
Authentication-Info Cache-Control Cache-Status CDN-Cache-Control Clear-Site-Data Connection Content-Digest
Content-Disposition Content-Encoding Content-Language Content-Length Content-Location Content-MD5 Content-Range
Content-Security-Policy Content-Type Cross-Origin-Embedder-Policy Cross-Origin-Opener-Policy
Cross-Origin-Resource-Policy Date Digest Etag Expires Keep-Alive Last-Modified Link Location NEL
Origin-Agent-Cluster Permissions-Policy Pragma Priority Proxy-Authenticate Referrer-Policy Report-To
Reporting-Endpoints Repr-Digest Retry-After Server Server-Timing Set-Cookie Strict-Transport-Security
Timing-Allow-Origin Trailer Transfer-Encoding Upgrade Vary Via Warning WWW-Authenticate X-Content-Type-Options
X-Correlation-ID X-Frame-Options X-Powered-By X-RateLimit-Limit X-RateLimit-Remaining X-RateLimit-Reset X-Real-IP
X-Request-ID X-XSS-Protection baggage traceparent tracestate
"""
_SPELLED = {name.lower().encode(): name for name in _WELL_KNOWN.split()}
"""These headers are recorded in one spelling, however a receiver writes them: names in HTTP have no case."""


class ConnectionClosed(ConnectionError):
    """The connection ended before there was an answer."""


class NoHttp(ValueError):
    """What came is no HTTP answer, or has more or longer headers than any honest one."""


class Exchange(asyncio.Protocol):
    """Sends `request` (its bytes, head and body) as soon as it is connected, and gathers the answer.

    `ended` is done when the answer is complete, or as far as it will come; its result is a ConnectionClosed or a NoHttp
    when that is not even a status. Whoever loses patience reads `status`, `headers` and `body` as they are by then.
    """

    __slots__ = (
        "_bytes_of_head", "_chunks", "_complete", "_gathered", "_parser", "_request", "_room", "_transport", "ended",
        "headers", "status",
    )  # fmt: skip

    def __init__(self, request: bytes, ended: asyncio.Future[Exception | None]) -> None:
        self.ended = ended
        self.status: int | None = None
        self.headers: Headers = ()
        self._request = request
        self._parser: HttpResponseParser | None = HttpResponseParser(self)
        self._parser.set_dangerous_leniencies(
            lenient_headers=True, lenient_optional_cr_before_lf=True, lenient_spaces_after_chunk_size=True
        )
        self._transport: asyncio.Transport | None = None
        self._gathered: list[tuple[str, str]] = []
        self._bytes_of_head = 0
        self._chunks: list[bytes] = []
        self._room = MAX_BODY_BYTES
        self._complete = False

    @property
    def body(self) -> bytes:
        return b"".join(self._chunks)

    def close(self) -> None:
        """Let go of the connection, whatever is still to come over it."""
        self._parser = None  # it holds on to this, and a circle would stay until the garbage is collected
        if self._transport is not None:
            self._transport.close()

    # What the event loop calls

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # of TCP
        self._transport = transport
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        if self._parser is None:
            return
        status = self.status
        self._bytes_of_head += len(data) if status is None else 0
        try:
            self._parser.feed_data(data)
            if self.status is None and self._bytes_of_head > MAX_HEADERS * MAX_HEADER_BYTES:
                raise NoHttp
        except (HttpParserError, HttpParserUpgrade, NoHttp):
            if self.status == _SWITCHING_PROTOCOLS:
                self._complete = True  # whatever follows is no HTTP any more
            else:
                # What comes along with something that is no HTTP is not trusted; what came before it is an answer.
                self.status = status
                self._end(NoHttp())
        if self._complete:
            self._end(None)

    def connection_lost(self, error: Exception | None) -> None:
        self._end(ConnectionClosed())

    def _end(self, error: Exception | None) -> None:
        if not self.ended.done():
            self.ended.set_result(None if self.status is not None else error)

    # What the parser calls

    def on_header(self, name: bytes, value: bytes) -> None:
        if len(name) + len(value) > MAX_HEADER_BYTES or len(self._gathered) >= MAX_HEADERS or b"\0" in value:
            raise NoHttp
        is_short = len(name) + len(value) <= _SHORT_HEADER
        self._gathered.append(_known_header(name, value) if is_short else recorded_header(name, value))

    def on_headers_complete(self) -> None:
        assert self._parser is not None
        status = self._parser.get_status_code()
        announces = 100 <= status <= 199 and status != _SWITCHING_PROTOCOLS
        if self.status is None and not announces:
            self.status, self.headers = status, tuple(self._gathered)
        self._gathered = []  # of an answer that only announces the true one, else of the trailers

    def on_body(self, chunk: bytes) -> None:
        if not self._complete:
            self._chunks.append(chunk[: self._room])
            self._room -= len(self._chunks[-1])
            self._complete = not self._room

    def on_message_complete(self) -> None:
        self._complete = self.status is not None


def recorded_header(name: bytes, value: bytes) -> tuple[str, str]:
    """A header as it is recorded."""
    return _SPELLED.get(name.lower()) or _text(name), _text(value.rstrip(b" \t"))


_known_header = lru_cache(maxsize=4096)(recorded_header)
"""Receivers send the same headers all the time, so deliveries share them; 2 MB at most, as only short ones are kept."""


def _text(raw: bytes) -> str:
    """A header as text: UTF-8, else the Latin-1 of old servers."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")
