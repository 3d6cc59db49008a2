"""API clients that authenticate automatically."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, Protocol

from simulator.engine.clients import guard
from simulator.engine.clients.tool_mark import marked
from simulator.kernel.dataclass import dataclass
from simulator.service import LIVE_KEYS, TOKEN_EXCHANGE
from simulator.testing.errors import SimulatorError, error_of
from simulator.testing.links.extra import httpx
from simulator.testing.links.link import Link, parsed

_OPTIONS: Mapping[str, Any] = {"trust_env": False, "timeout": 30.0}


@dataclass(frozen=True)
class Keys:
    """The credentials of one environment: key pair, webhook key and base URL."""

    public_key: str
    secret_key: str
    webhook_key: str
    base_url: str


class SignIn(httpx.Auth):
    """Exchanges the key pair for a token before the first request, and again after a 401 `unauthorized`.

    A request with its own Authorization header is sent unchanged. If the exchange is refused, the caller gets its
    response. Clients of one environment can share an instance across threads.
    """

    requires_request_body = True
    requires_response_body = True

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._token: str | None = None

    def forget(self) -> None:
        """Discard the token, because a restored world has no tokens. The next request authenticates again."""
        self._token = None

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        _refuse(request, request.content, httpx.URL(self._keys.base_url).host)  # before a token is requested
        if "Authorization" in request.headers or request.url.path.endswith(TOKEN_EXCHANGE.path):
            yield request
            return
        token = self._token
        if token is None:
            token = self._taken((yield self._sign_in()))
            if token is None:
                return
        request.headers["Authorization"] = f"Bearer {token}"
        response = yield request
        if response.status_code != 401 or error_of(401, parsed(response.content)).code != "unauthorized":
            return
        token = self._taken((yield self._sign_in()))
        if token is not None:
            request.headers["Authorization"] = f"Bearer {token}"
            yield request

    def _sign_in(self) -> httpx.Request:
        url, pair = self._keys.base_url + TOKEN_EXCHANGE.path, TOKEN_EXCHANGE.body(vars(self._keys))
        return httpx.Request("POST", url, json=pair, headers=marked("kit"))

    def _taken(self, answer: httpx.Response) -> str | None:
        self._token = TOKEN_EXCHANGE.token_in(parsed(answer.content))
        return self._token


def exchange(link: Link, keys: Keys) -> str:
    """Return a new token. Raises SimulatorError if the exchange is refused."""
    with make_client(link, keys, SignIn(keys)) as client:
        answer = client.post(TOKEN_EXCHANGE.path, json=TOKEN_EXCHANGE.body(vars(keys)), headers=marked("kit"))
    token = TOKEN_EXCHANGE.token_in(parsed(answer.content))
    if token is None:
        raise error_of(answer.status_code, parsed(answer.content))
    return token


class Connected(Protocol):
    """A connection that sends the clients' requests."""

    def transport(self) -> httpx.BaseTransport: ...


def make_client(link: Connected, keys: Keys, sign_in: SignIn) -> httpx.Client:
    """Return a client for an environment's base URL. It refuses to send live keys, and requests to any other host."""
    transport = _Guarded(link.transport(), keys.base_url)
    return httpx.Client(base_url=keys.base_url, auth=sign_in, transport=transport, **_OPTIONS)


def make_async_client(link: Link, keys: Keys, sign_in: SignIn) -> httpx.AsyncClient:
    """Like `make_client`, but for asyncio and trio."""
    transport = _AsyncGuarded(link.async_transport(), keys.base_url)
    return httpx.AsyncClient(base_url=keys.base_url, auth=sign_in, transport=transport, **_OPTIONS)


class _Guarded(httpx.BaseTransport):
    """The transport of a connection, as used by one client. Closing the client leaves the transport open."""

    def __init__(self, transport: httpx.BaseTransport, base_url: str) -> None:
        self._transport = transport
        self._host = httpx.URL(base_url).host

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        _refuse(request, request.read(), self._host)
        return self._transport.handle_request(request)


class _AsyncGuarded(httpx.AsyncBaseTransport):
    def __init__(self, transport: httpx.AsyncBaseTransport, base_url: str) -> None:
        self._transport = transport
        self._host = httpx.URL(base_url).host

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        _refuse(request, await request.aread(), self._host)
        return await self._transport.handle_async_request(request)


def _refuse(request: httpx.Request, content: bytes, host: str) -> None:
    """Raise SimulatorError if a request has a live key or goes to an untrusted host."""
    try:
        if request.url.host != host:
            guard.check_host(str(request.url))
        LIVE_KEYS.check(content.decode("utf-8", "replace"), f"{request.method} {request.url.path}")
    except guard.Refused as error:
        raise SimulatorError(str(error)) from None
