"""Base class of the connections to a server: over HTTP, or within the test process without sockets."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from simulator.engine.clients.address import CONTROL_BASE
from simulator.engine.clients.synchronous import Response
from simulator.testing.errors import error_of, hides_traceback

if TYPE_CHECKING:
    import httpx

__tracebackhide__ = hides_traceback


class Link(ABC):
    """A connection to one server. Thread-safe. `url` is the server's origin (`http://127.0.0.1:8642`). `transport` and
    `async_transport` send the requests of httpx clients.
    """

    url: str

    def control(
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | bytes | None = None,
        *,
        world: str | None = None,
        query: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
        timeout_seconds: float | None = None,
    ) -> Any:
        """Send a control request. Return the parsed JSON, a string if the response is YAML, or None if it has no body.

        `path` is relative to /_simulator, and `world` is the id of the world that the request concerns. A body of bytes
        is sent unchanged, for example a scenario in YAML. `query` values of None are omitted. Without a time limit, the
        request waits until the server responds. Raises SimulatorError (`errors.error_of`) if the request is refused or
        gets no response.
        """
        content, sent = content_of(body)
        if world:
            sent["X-Simulator-World"] = world
        sent |= headers or {}
        asked = urlencode(query_of(query))
        status, received, raw = self.send(method, CONTROL_BASE + path, asked, content, sent, timeout_seconds)
        is_success = 200 <= status < 300
        if is_success and not raw:
            return None
        if is_success and received.get("content-type", "").startswith("application/yaml"):
            return raw.decode()
        answer = parsed(raw)
        if not is_success or answer is None:
            raise error_of(status, answer)
        return answer

    @abstractmethod
    def send(
        self, method: str, path: str, query: str, content: bytes, headers: Mapping[str, str], seconds: float | None
    ) -> Response:
        """Send a control request. Raises SimulatorError if there is no response in time."""

    @abstractmethod
    def transport(self) -> httpx.BaseTransport: ...

    @abstractmethod
    def async_transport(self) -> httpx.AsyncBaseTransport: ...

    @abstractmethod
    def close(self) -> None:
        """Close connections, threads and servers that this link owns."""


def parsed(text: bytes) -> object:
    """Return a parsed JSON body, or None if it is not JSON."""
    try:
        body: object = json.loads(text)
    except ValueError:
        return None
    return body


def query_of(query: Mapping[str, object] | None) -> dict[str, str]:
    """Return query parameters as strings. None values are omitted and True becomes `true`."""
    given = {name: value for name, value in (query or {}).items() if value is not None}
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in given.items()}


def content_of(body: Mapping[str, object] | bytes | None) -> tuple[bytes, dict[str, str]]:
    """Return the bytes and the Content-Type header of a body for `Link.control`. Decimals are sent as strings."""
    if body is None:
        return b"", {}
    if isinstance(body, bytes):
        return body, {"Content-Type": "application/yaml"}
    return json.dumps(body, default=str).encode(), {"Content-Type": "application/json"}
