"""A client of the control interface of a running server, on nothing but the standard library.

The command line uses it; a script may too. It speaks to one world: `ControlClient("http://127.0.0.1:8642", "default")`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from simulator.engine.clients.address import CONTROL_BASE, DEFAULT_URL
from simulator.engine.clients.trusted_hosts import ForeignHost, check


class Unreachable(Exception):
    """No simulator answers at the address; the text says why."""


class CallRefused(Exception):
    """The server answered with an error: its status, and `error` of the envelope (code, message, param, ...)."""

    def __init__(self, status: int, error: Mapping[str, Any]) -> None:
        super().__init__(f"{error.get('code', status)}: {error.get('message', '')}")
        self.status = status
        self.error = error


class NoRedirect(HTTPRedirectHandler):
    """Another server's redirect is an answer to report, not to follow: a token would go along."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


class ControlClient:
    """Calls of the control interface of one server, in one world and one environment.

    No proxy of the surroundings is used: the server is meant by its address. Calls wait as long as the server works
    (an advance may take long), so there is no time limit unless one is given. A host that is not trusted
    (`trusted_hosts`) is Unreachable from the start.
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
            check(url)
        except ForeignHost as error:
            raise Unreachable(str(error)) from None
        self.url = url.rstrip("/")
        self.world = world
        self.last_event_id = ""
        self._timeout_seconds = timeout_seconds
        self._opener = build_opener(ProxyHandler({}), NoRedirect)
        self._headers = {"Accept": "application/json"}
        if world:
            # A header takes no other letters. No id of a world has them, so the server says that there is none.
            shown = world if world.isascii() and world.isprintable() else world.encode("unicode_escape").decode()
            self._headers["X-Simulator-World"] = shown
        if environment:
            self._headers["X-Simulator-Environment"] = environment
        if token:
            self._headers["Authorization"] = f"Bearer {token}"

    def get(self, path: str, /, **query: Any) -> Any:
        """GET; query parameters that are None are left out. CallRefused, Unreachable."""
        given = {name: str(value) for name, value in query.items() if value is not None}
        return self.call("GET", f"{path}?{urlencode(given)}" if given else path)

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        return self.call("POST", path, body or {})

    def put(self, path: str, body: Mapping[str, Any]) -> Any:
        return self.call("PUT", path, body)

    def delete(self, path: str) -> None:
        self.call("DELETE", path)

    def send(self, method: str, path: str, raw: bytes, media_type: str) -> Any:
        """The parsed answer to a body that is sent as it is. CallRefused, Unreachable."""
        return self._parsed(self._read(method, path, raw, media_type))

    def text(self, path: str, /, **query: Any) -> str:
        """GET of what is no JSON; query parameters that are None are left out. CallRefused, Unreachable."""
        given = {name: str(value) for name, value in query.items() if value is not None}
        raw = self._read("GET", f"{path}?{urlencode(given)}" if given else path, None)
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            raise self._no_simulator() from None

    def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """The parsed answer, None when it has no body; `path` is below /_simulator."""
        return self._parsed(self._read(method, path, None if body is None else json.dumps(body).encode()))

    def _parsed(self, raw: bytes) -> Any:
        if not raw:
            return None
        try:
            return json.loads(raw)
        except (ValueError, RecursionError):
            raise self._no_simulator() from None

    def _no_simulator(self) -> Unreachable:
        return Unreachable(f"what answers at {self.url} is not a simulator")

    def _read(self, method: str, path: str, data: bytes | None, media_type: str = "application/json") -> bytes:
        try:
            with self._open(method, path, data, media_type) as response:
                raw: bytes = response.read()
        except (OSError, HTTPException) as error:
            raise Unreachable(f"{self.url} broke off in the middle of its answer ({_words(error)})") from None
        return raw

    def stream(self, path: str = "/stream") -> Iterator[tuple[str, str]]:
        """Server-sent events as (event name, data), until the server ends the stream.

        `last_event_id` is then that of the newest; `/stream?last_event_id=` goes on behind it.
        """
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

    def _open(self, method: str, path: str, data: bytes | None, media_type: str = "application/json") -> Any:
        headers = self._headers if data is None else {**self._headers, "Content-Type": media_type}
        if urlsplit(self.url).scheme not in ("http", "https"):
            raise Unreachable(f"{self.url!r} is not a URL like {DEFAULT_URL}")
        try:
            request = Request(f"{self.url}{CONTROL_BASE}{path}", data, headers, method=method)
            return self._opener.open(request, timeout=self._timeout_seconds)
        except HTTPError as error:
            with error:
                raise CallRefused(error.code, _error_of(error.read(), error.reason)) from None
        except (OSError, HTTPException, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise Unreachable(f"no simulator answers at {self.url} ({_words(reason)})") from None


def segment(text: str) -> str:
    """A text as one segment of a path."""
    return quote(text, safe="")


def _error_of(raw: bytes, reason: str) -> Mapping[str, Any]:
    try:
        error = json.loads(raw)["error"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return {"message": reason or "an answer that is not the simulator's"}
    return error if isinstance(error, dict) else {"message": str(error)}


def _words(reason: Any) -> str:
    return str(getattr(reason, "strerror", None) or reason)
