"""The synchronous HTTP client of the tools, based on `http.client`.

The client does not follow redirects, because a redirect would send the token to another address. It ignores proxy
settings in the environment, because requests must go directly to the server.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from ssl import SSLContext, SSLWantReadError
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from simulator.engine.clients import guard
from simulator.engine.clients.address import DEFAULT_URL

_UNQUOTED = "/%:@!$&'()*+,;=~?"
"""Characters that need no quoting in a path and its query. The caller has written the escape sequences."""


class Response(NamedTuple):
    status: int
    headers: Mapping[str, str]
    """The headers. Their names are in lower case."""
    content: bytes


class NoResponse(ConnectionError):
    """Raised if no complete response arrives. The message states the reason."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(getattr(cause, "strerror", None) or str(cause) or type(cause).__name__)
        self.timed_out = isinstance(cause, TimeoutError)


class SyncClient:
    """Sends HTTP requests to one base URL. Threads may share a client.

    Raise `guard.ForeignHost` if the host is not trusted, and `ValueError` if the URL is not an http or https URL.
    """

    def __init__(
        self,
        base_url: str,
        *,
        any_host: bool = False,
        live_keys: guard.LiveKeys | None = None,
        reuses: bool = False,
        connect_seconds: float | None = None,
        tls: SSLContext | None = None,
    ) -> None:
        """Create a client.

        `any_host`: True if the server may be something other than a simulator. `live_keys`: the keys to refuse in
        bodies. `reuses`: True if a connection serves several requests. The caller must then call `close`. `tls`: the
        settings for https. By default, the system's certificates are trusted.
        """
        if not any_host:
            guard.check_host(base_url)
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{base_url!r} is not a URL like {DEFAULT_URL}")
        self._host, self._port, self._path = parts.hostname, parts.port, parts.path.rstrip("/")
        self._is_https, self._tls = parts.scheme == "https", tls
        self._live_keys = live_keys
        self._reuses = reuses
        self._connect_seconds = connect_seconds
        self._idle: list[HTTPConnection] = []

    def request(
        self,
        method: str,
        path: str,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        timeout_seconds: float | None = None,
    ) -> Response:
        """Send a request and return its response. `path` may include a query, and is appended to the base URL.

        Raise `NoResponse` if no complete response arrives. If `timeout_seconds` is None, there is no time limit.
        """
        connection, response = self._send(method, path, content, headers or {}, timeout_seconds)
        try:
            received = response.read()
        except BaseException as error:  # The rest of this response must not be read as the next response.
            connection.close()
            response.close()
            if isinstance(error, OSError | HTTPException):
                raise NoResponse(error) from None
            raise
        if self._reuses and not response.will_close:
            self._idle.append(connection)
        else:
            connection.close()
        return Response(response.status, {n.lower(): value for n, value in response.getheaders()}, received)

    def open(
        self, method: str, path: str, content: bytes | None, headers: Mapping[str, str], timeout_seconds: float | None
    ) -> HTTPResponse:
        """Like `request`, but return the response as soon as its headers have arrived.

        Closing the response closes the connection. Raise `NoResponse` if no response arrives.
        """
        sent = {**headers, "Connection": "close"}
        connection, response = self._send(method, path, content, sent, timeout_seconds)
        # The response has a second reference to the socket, which keeps the socket open.
        if connection.sock is not None:
            connection.sock.close()
        return response

    def _send(
        self, method: str, path: str, content: bytes | None, headers: Mapping[str, str], timeout_seconds: float | None
    ) -> tuple[HTTPConnection, HTTPResponse]:
        if self._live_keys is not None and content:
            self._live_keys.check(content.decode("utf-8", "replace"), f"{method} {path}")
        sent = dict(headers) if self._reuses else {"Connection": "close", **headers}
        try:
            connection = self._connected(timeout_seconds)
            try:
                connection.sock.settimeout(timeout_seconds)
                connection.request(method, self._path + quote(path, safe=_UNQUOTED), content or None, sent)
                return connection, connection.getresponse()
            except BaseException:
                connection.close()
                raise
        # `UnicodeError` means that IDNA cannot encode the host name.
        except (OSError, HTTPException, UnicodeError) as error:
            raise NoResponse(error) from None

    def _connected(self, timeout_seconds: float | None) -> HTTPConnection:
        while self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:  # Another thread has just taken the connection.
                break
            if _is_silent(connection.sock):
                return connection
            connection.close()
        limit = timeout_seconds if self._connect_seconds is None else self._connect_seconds
        connection = (
            HTTPSConnection(self._host, self._port, timeout=limit, context=self._tls)
            if self._is_https
            else HTTPConnection(self._host, self._port, timeout=limit)
        )
        connection.connect()
        return connection

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()


def _is_silent(idle: socket.socket) -> bool:
    """Return True if no data has arrived on an idle connection. Data means that the server has closed it."""
    idle.setblocking(False)
    try:
        idle.recv(1)
    except OSError as error:
        return isinstance(error, BlockingIOError | SSLWantReadError)
    return False


def read_body(response: HTTPResponse, most_bytes: int) -> bytes:
    """Return a body, cut off after `most_bytes` bytes. Raise `NoResponse` if the body is shorter than announced."""
    try:
        content = response.read(most_bytes)
    except HTTPException as error:
        raise NoResponse(error) from None
    if len(content) < most_bytes and response.length:
        raise NoResponse(HTTPException(f"{response.length} bytes are missing"))
    return content
