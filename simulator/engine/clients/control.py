"""A client for the control API of a running server.

The client needs only the standard library, so scripts can use it too. Each client is bound to one world:
`ControlClient("http://127.0.0.1:8642", "default")`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from http.client import HTTPException, HTTPResponse
from typing import Any
from urllib.parse import quote, urlencode

from simulator.engine.clients.address import CONTROL_BASE, DEFAULT_URL
from simulator.engine.clients.synchronous import NoResponse, SyncClient


class Unreachable(Exception):
    """Raised if no simulator responds at the address. The message states the reason."""


class CallRefused(Exception):
    """Raised if the server responds with an error."""

    def __init__(self, status: int, error: Mapping[str, Any]) -> None:
        super().__init__(f"{error.get('code', status)}: {error.get('message', '')}")
        self.status = status
        self.error = error
        """The `error` object in the response: code, message, param and so on."""


class ControlClient:
    """Sends control requests to one server, in one world and one environment.

    By default, requests have no time limit, because it can take long to advance the clock. Set `timeout_seconds` to
    limit them. An untrusted host raises `Unreachable` immediately.
    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        world: str | None = None,
        *,
        environment: str | None = None,
        token: str | None = None,
        timeout_seconds: float | None = None,
    ) -> None:
        try:
            self._client = SyncClient(url)
        except ValueError as error:
            raise Unreachable(str(error)) from None
        self.url = url.rstrip("/")
        self.world = world
        self.environment = environment
        self.token = token
        self.last_event_id = ""
        """The id of the newest event that `stream` has yielded. `/stream?last_event_id=` continues after this event."""
        self._timeout_seconds = timeout_seconds
        self._headers = {"Accept": "application/json"}
        if world:
            # A header cannot contain other characters. The server reports an unknown world.
            shown = world if world.isascii() and world.isprintable() else world.encode("unicode_escape").decode()
            self._headers["X-Simulator-World"] = shown
        if environment:
            self._headers["X-Simulator-Environment"] = environment
        if token:
            self._headers["Authorization"] = f"Bearer {token}"

    def get(self, path: str, /, **query: Any) -> Any:
        """GET a path. Query parameters that are None are omitted.

        Raise `CallRefused` if the server returns an error, and `Unreachable` if it does not respond.
        """
        return self.call("GET", _with_query(path, query))

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        return self.call("POST", path, body or {})

    def put(self, path: str, body: Mapping[str, Any]) -> Any:
        return self.call("PUT", path, body)

    def delete(self, path: str) -> None:
        self.call("DELETE", path)

    def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Send a request to a path below /_simulator. Return the parsed response, or None if it has no body."""
        return self._parsed(self._read(method, path, None if body is None else json.dumps(body).encode()))

    def send(self, method: str, path: str, raw: bytes, media_type: str) -> Any:
        """Send a body unchanged. In all other respects, this method is like `call`."""
        return self._parsed(self._read(method, path, raw, media_type))

    def text(self, path: str, /, **query: Any) -> str:
        """GET a resource that is not JSON. In all other respects, this method is like `get`."""
        try:
            return self._read("GET", _with_query(path, query), None).decode("utf-8")
        except UnicodeDecodeError:
            raise self._no_simulator() from None

    def stream(self, path: str = "/stream") -> Iterator[tuple[str, str]]:
        """Yield server-sent events as (event name, data) until the server ends the stream."""
        name, data = "message", ""
        with self._open("GET", path, None) as response:
            for raw in response:
                field, _, value = raw.decode("utf-8", "replace").rstrip("\r\n").partition(":")
                value = value.removeprefix(" ")
                if field == "event":
                    name = value
                elif field == "data":
                    data = f"{data}\n{value}" if data else value
                elif field == "id":
                    self.last_event_id = value
                elif not field and not value:
                    if data:
                        yield name, data
                    name, data = "message", ""

    def _parsed(self, raw: bytes) -> Any:
        if not raw:
            return None
        try:
            return json.loads(raw)
        except (ValueError, RecursionError):
            raise self._no_simulator() from None

    def _no_simulator(self) -> Unreachable:
        return Unreachable(f"the server at {self.url} is not a simulator")

    def _read(self, method: str, path: str, content: bytes | None, media_type: str = "application/json") -> bytes:
        try:
            with self._open(method, path, content, media_type) as response:
                return response.read()
        except (OSError, HTTPException) as error:
            why = getattr(error, "strerror", None) or error
            raise Unreachable(f"{self.url} closed the connection in the middle of its response ({why})") from None

    def _open(
        self, method: str, path: str, content: bytes | None, media_type: str = "application/json"
    ) -> HTTPResponse:
        headers = self._headers if content is None else {**self._headers, "Content-Type": media_type}
        try:
            response = self._client.open(method, CONTROL_BASE + path, content, headers, self._timeout_seconds)
        except (NoResponse, ValueError) as error:  # Encoding an invalid header raises a ValueError.
            raise Unreachable(f"no simulator responds at {self.url} ({error})") from None
        if not 200 <= response.status < 300:
            with response:
                raise CallRefused(response.status, _error_of(response.read(), response.reason))
        return response


def segment(name: str) -> str:
    """Quote a string for use as one segment of a URL path."""
    return quote(name, safe="")


def _with_query(path: str, query: Mapping[str, Any]) -> str:
    given = {name: str(value) for name, value in query.items() if value is not None}
    return f"{path}?{urlencode(given)}" if given else path


def _error_of(raw: bytes, reason: str) -> Mapping[str, Any]:
    try:
        error = json.loads(raw)["error"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return {"message": reason or "a response that is not from a simulator"}
    return error if isinstance(error, dict) else {"message": str(error)}
