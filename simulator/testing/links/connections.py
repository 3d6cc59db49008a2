"""Connections for control calls. Tests make many of these calls, so there is little overhead."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from ssl import SSLWantReadError
from urllib.parse import quote, urlsplit

from simulator.testing.errors import Unreachable, hides_traceback
from simulator.testing.links.link import Response

__tracebackhide__ = hides_traceback
_CONNECT_SECONDS = 5.0
_AS_THEY_ARE = "/%:@!$&'()*+,;=~?"
"""Characters of a path and query that need no escaping."""


class Connections:
    """Connections to one server, each for one call at a time. Threads can share the object."""

    def __init__(self, url: str, *, keeps: bool = True) -> None:
        self._url = url
        self._keeps = keeps
        self._idle: list[HTTPConnection] = []

    def call(
        self, method: str, path: str, content: bytes, headers: Mapping[str, str], timeout_seconds: float | None
    ) -> Response:
        """Return the response to a call. Raises Unreachable if there is none, or none within the time limit."""
        try:
            connection = self._connected()
            try:
                connection.sock.settimeout(timeout_seconds)
                connection.request(method, quote(path, safe=_AS_THEY_ARE), content or None, dict(headers))
                answer = connection.getresponse()
                response = Response(answer.status, answer.headers.get("Content-Type", ""), answer.read())
            except BaseException:  # what is left of this call is nobody else's answer
                connection.close()
                raise
        except (OSError, HTTPException) as error:
            raise Unreachable(self._url, str(error) or type(error).__name__) from None
        if self._keeps and not answer.will_close:
            self._idle.append(connection)
        else:
            connection.close()
        return response

    def _connected(self) -> HTTPConnection:
        while self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:  # another thread has just taken it
                break
            if _is_silent(connection.sock):
                return connection
            connection.close()
        parts = urlsplit(self._url)
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=_CONNECT_SECONDS)
        connection.connect()
        return connection

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()


def _is_silent(kept: socket.socket) -> bool:
    """Return True if nothing arrived on an idle connection. Anything that arrives is its end."""
    kept.setblocking(False)
    try:
        kept.recv(1)
    except (BlockingIOError, SSLWantReadError):
        return True
    except OSError:
        return False
    return False
