"""One HTTP request and its response, over a separate connection.

llhttp (httptools) parses the response leniently, because many webhook receivers are written by hand. A partial
response is used even if the rest never arrives.
"""

from __future__ import annotations

import asyncio
from functools import lru_cache

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

MAX_BODY_BYTES = 64 * 1024
"""The maximum number of response bytes that are recorded for a webhook delivery."""
MAX_HEADERS = 128
MAX_HEADER_BYTES = 8190
"""The limit for one header, name and value together."""
_SHORT_HEADER = 100

Headers = tuple[tuple[str, str], ...]

_SWITCHING_PROTOCOLS = 101

WELL_KNOWN_HEADERS = """
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
_SPELLED = {name.lower().encode(): name for name in WELL_KNOWN_HEADERS.split()}
"""The spelling in which common headers are recorded. Header names are case-insensitive."""


class ConnectionClosed(ConnectionError):
    """Raised if the connection is closed before the response is complete."""


class NoHttp(ValueError):
    """Raised if the received bytes are not an HTTP response, or if the headers exceed the limits."""


class Exchange(asyncio.Protocol):
    """Sends a request as soon as the connection is made, and collects the response. Always close an exchange."""

    __slots__ = (
        "_bytes_of_head", "_chunks", "_complete", "_gathered", "_parser", "_request", "_room", "_transport", "ended",
        "raw_headers", "status",
    )  # fmt: skip

    def __init__(
        self, request: bytes, ended: asyncio.Future[Exception | None], *, most_bytes: int | None = MAX_BODY_BYTES
    ) -> None:
        """Create an exchange that ends after `most_bytes` bytes of the response body. None means the whole body."""
        self.ended = ended
        """Done when no more data of the response will arrive.

        If not even a status arrived, the result is a `ConnectionClosed` or `NoHttp`. A caller that stops waiting
        earlier can read the current `status`, `headers` and `body`.
        """
        self.status: int | None = None
        self.raw_headers: tuple[tuple[bytes, bytes], ...] = ()
        self._request = request
        self._parser: HttpResponseParser | None = HttpResponseParser(self)
        self._parser.set_dangerous_leniencies(
            lenient_headers=True, lenient_optional_cr_before_lf=True, lenient_spaces_after_chunk_size=True
        )
        self._transport: asyncio.Transport | None = None
        self._gathered: list[tuple[bytes, bytes]] = []
        self._bytes_of_head = 0
        self._chunks: list[bytes] = []
        self._room = most_bytes
        self._complete = False

    @property
    def headers(self) -> Headers:
        return tuple(
            (_known_header if len(name) + len(value) <= _SHORT_HEADER else recorded_header)(name, value)
            for name, value in self.raw_headers
        )

    @property
    def body(self) -> bytes:
        return b"".join(self._chunks)

    def close(self) -> None:
        """Close the connection, even if the response is incomplete."""
        # The parser refers to the exchange, and only the garbage collector would free this reference cycle.
        self._parser = None
        if self._transport is not None:
            self._transport.close()

    # Called by the event loop

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
                self._complete = True  # The following bytes belong to another protocol.
            else:
                # A status that arrived together with an error is not trusted. A status that arrived before the error
                # is used.
                self.status = status
                self._end(NoHttp())
        if self._complete:
            self._end(None)

    def connection_lost(self, error: Exception | None) -> None:
        self._end(ConnectionClosed())

    def _end(self, error: Exception | None) -> None:
        if not self.ended.done():
            self.ended.set_result(None if self.status is not None else error)

    # Called by the parser

    def on_header(self, name: bytes, value: bytes) -> None:
        if len(name) + len(value) > MAX_HEADER_BYTES or len(self._gathered) >= MAX_HEADERS or b"\0" in value:
            raise NoHttp
        self._gathered.append((name, value))

    def on_headers_complete(self) -> None:
        assert self._parser is not None
        status = self._parser.get_status_code()
        announces = 100 <= status <= 199 and status != _SWITCHING_PROTOCOLS
        if self.status is None and not announces:
            self.status, self.raw_headers = status, tuple(self._gathered)
        self._gathered = []  # From now on, headers are trailers, or they follow an informational response.

    def on_body(self, chunk: bytes) -> None:
        if self._complete:
            return
        self._chunks.append(chunk[: self._room])
        if self._room is not None:
            self._room -= len(self._chunks[-1])
            self._complete = not self._room

    def on_message_complete(self) -> None:
        self._complete = self.status is not None


def recorded_header(name: bytes, value: bytes) -> tuple[str, str]:
    """Return a header as a pair of strings, in the form in which headers are recorded."""
    return _SPELLED.get(name.lower()) or _text(name), _text(value.rstrip(b" \t"))


_known_header = lru_cache(maxsize=4096)(recorded_header)
"""Cached short headers, at most 2 MB. Receivers often send the same headers, so deliveries share the strings."""


def _text(raw: bytes) -> str:
    """Decode a header as UTF-8, or as Latin-1 if it is not valid UTF-8. Old servers use Latin-1."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")
