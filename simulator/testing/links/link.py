"""How the test kit reaches a server: over HTTP, or in the process of the test without any socket."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from simulator.engine.clients.address import CONTROL_BASE
from simulator.engine.clients.synchronous import Response
from simulator.testing.errors import error_of, is_told

if TYPE_CHECKING:
    import httpx

__tracebackhide__ = is_told


class Link(ABC):
    """One server. May be used by several threads.

    `url` is its origin (`http://127.0.0.1:8642`). `transport` and `async_transport` carry the calls of httpx clients.
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
        """A control call: `path` is below /_simulator, `world` the id for its header. The parsed answer, or None.
        Of YAML it is the text.

        A body of bytes is sent as it is: the YAML of a scenario. `query`: members that are None are left out. Without a
        time limit it takes as long as the server works.
        SimulatorError (`errors.error_of`) when it is refused, or nothing answers.
        """
        content, sent = content_of(body)
        if world:
            sent["X-Simulator-World"] = world
        sent |= headers or {}
        status, received, raw = self.send(
            method, CONTROL_BASE + path, urlencode(query_of(query)), content, sent, timeout_seconds
        )
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
        """Send a control call, whatever it is; SimulatorError when nothing answers, or not in time."""

    @abstractmethod
    def transport(self) -> httpx.BaseTransport: ...

    @abstractmethod
    def async_transport(self) -> httpx.AsyncBaseTransport: ...

    @abstractmethod
    def close(self) -> None:
        """Let go of connections, threads and servers of this link's own."""


def parsed(text: bytes) -> object:
    """A body; None where it is no JSON."""
    try:
        body: object = json.loads(text)
    except ValueError:
        return None
    return body


def query_of(query: Mapping[str, object] | None) -> dict[str, str]:
    """Query parameters as text: those that are None are left out, True is `true`."""
    given = {name: value for name, value in (query or {}).items() if value is not None}
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in given.items()}


def content_of(body: Mapping[str, object] | bytes | None) -> tuple[bytes, dict[str, str]]:
    """The bytes of a body of `Link.control`, and the header that says what they are.

    Amounts go as they are written, and so does whatever else is no JSON.
    """
    if body is None:
        return b"", {}
    if isinstance(body, bytes):
        return body, {"Content-Type": "application/yaml"}
    return json.dumps(body, default=str).encode(), {"Content-Type": "application/json"}
