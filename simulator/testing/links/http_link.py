"""A server that is reached over HTTP: connections for control calls, and one pool for all clients of its worlds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from simulator.engine.clients.address import CONTROL_BASE, DEFAULT_URL
from simulator.engine.clients.trusted_hosts import ForeignHost, check
from simulator.testing.errors import SimulatorError, error_of, is_told, missing
from simulator.testing.links.clients import parsed
from simulator.testing.links.connections import Connections
from simulator.testing.links.link import content_of, query_of
from simulator.testing.links.loop_thread import is_handling

try:
    import httpx
except ImportError as error:
    raise missing("httpx", "The test kit") from error

__tracebackhide__ = is_told
_KEPT_SECONDS = 30.0
"""Less than a server lets a connection wait for its next request."""


class HttpLink:
    """A server at a URL (`http://127.0.0.1:8642`); `token` is the one of its control interface, where it asks for one.

    No proxy of the surroundings is used: the server is meant by its address.
    """

    def __init__(self, url: str, token: str | None = None) -> None:
        address = httpx.URL(url) if url.startswith(("http://", "https://")) else None
        if address is None or not address.host:
            raise SimulatorError(f"{url!r} is not the URL of a simulator; one looks like {DEFAULT_URL}.")
        try:
            check(url)
        except ForeignHost as error:
            raise SimulatorError(str(error)) from None
        self.url = str(address.copy_with(path="", query=None, fragment=None)).rstrip("/")
        # Reading the certificates of the machine takes longer than making ten worlds, and http has none.
        secure = address.scheme == "https"
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=_KEPT_SECONDS)
        self._pool = httpx.HTTPTransport(verify=secure, trust_env=False, limits=limits)
        self._secure = secure
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._calls = Connections(self.url)
        # For who handles a webhook. A server waits for webhooks, but not for one whose receiver may be calling: it
        # knows him by his connection, which is newer than the webhook.
        self._calls_back = Connections(self.url, keeps=False)

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
        """A control call as `Link` says. Without a time limit it takes as long as the server works."""
        content, sent = content_of(body)
        if world:
            sent["X-Simulator-World"] = world
        connections = self._calls_back if is_handling.get() else self._calls
        asked = urlencode(query_of(query))
        response = connections.call(
            method,
            f"{CONTROL_BASE}{path}?{asked}" if asked else CONTROL_BASE + path,
            content,
            {**self._headers, **sent, **(headers or {})},
            timeout_seconds,
        )
        is_success = 200 <= response.status < 300
        if is_success and not response.body:
            return None
        if is_success and response.kind.startswith("application/yaml"):
            return response.body.decode()
        answer = parsed(response.body)
        if not is_success or answer is None:
            raise error_of(response.status, answer)
        return answer

    def transport(self) -> httpx.BaseTransport:
        return self._pool

    def async_transport(self) -> httpx.AsyncBaseTransport:
        # Kept connections belong to an event loop, and nobody says when that ends: here each call has its own.
        return httpx.AsyncHTTPTransport(
            verify=self._secure, trust_env=False, limits=httpx.Limits(max_keepalive_connections=0)
        )

    def close(self) -> None:
        self._calls.close()
        self._pool.close()
