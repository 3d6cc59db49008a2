"""A server reached over HTTP. Control requests have separate connections; all API clients share one pool."""

from __future__ import annotations

from collections.abc import Mapping

from simulator.engine.clients import guard
from simulator.engine.clients.address import DEFAULT_URL
from simulator.engine.clients.synchronous import NoResponse, Response, SyncClient
from simulator.testing.errors import SimulatorError, Unreachable, hides_traceback
from simulator.testing.links.extra import httpx
from simulator.testing.links.link import Link
from simulator.testing.links.loop_thread import is_handling

__tracebackhide__ = hides_traceback
_CONNECT_SECONDS = 5.0
_KEPT_SECONDS = 30.0
"""The idle time after which a connection is closed. It is shorter than the keep-alive timeout of a server."""


class HttpLink(Link):
    """A server at a URL (`http://127.0.0.1:8642`). `token` is the server's control token, if the server needs one.
    Proxy settings in the environment are ignored, because the server is always reached directly.
    """

    def __init__(self, url: str, token: str | None = None) -> None:
        address = httpx.URL(url) if url.startswith(("http://", "https://")) else None
        if address is None or not address.host:
            raise SimulatorError(f"{url!r} is not the URL of a simulator. Use a URL like {DEFAULT_URL}.")
        self.url = str(address.copy_with(path="", query=None, fragment=None)).rstrip("/")
        try:
            self._calls = SyncClient(self.url, reuses=True, connect_seconds=_CONNECT_SECONDS)
            # For a caller that is handling a webhook. A server waits for webhooks, except if their receiver may
            # itself be calling the server. The server recognises such a receiver because its connection is newer than
            # the webhook.
            self._calls_back = SyncClient(self.url, connect_seconds=_CONNECT_SECONDS)
        except guard.ForeignHost as error:
            raise SimulatorError(str(error)) from None
        # Do not read the system certificates: that takes longer than creating ten worlds, and plain HTTP needs none.
        secure = address.scheme == "https"
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=_KEPT_SECONDS)
        self._pool = httpx.HTTPTransport(verify=secure, trust_env=False, limits=limits)
        self._secure = secure
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def send(
        self, method: str, path: str, query: str, content: bytes, headers: Mapping[str, str], seconds: float | None
    ) -> Response:
        client = self._calls_back if is_handling.get() else self._calls
        target = f"{path}?{query}" if query else path
        try:
            return client.request(method, target, content, {**self._headers, **headers}, seconds)
        except NoResponse as error:
            raise Unreachable(self.url, str(error)) from None

    def transport(self) -> httpx.BaseTransport:
        return self._pool

    def async_transport(self) -> httpx.AsyncBaseTransport:
        # Pooled connections belong to an event loop, and there is no notification when a loop ends. So each request
        # has its own connection.
        return httpx.AsyncHTTPTransport(
            verify=self._secure, trust_env=False, limits=httpx.Limits(max_keepalive_connections=0)
        )

    def close(self) -> None:
        self._calls.close()
        self._pool.close()
