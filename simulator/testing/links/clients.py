"""Clients of the interface that sign in by themselves."""

from __future__ import annotations

from collections.abc import Generator

from simulator.engine.clients import guard
from simulator.engine.clients.tool_mark import marked
from simulator.kernel.dataclass import dataclass
from simulator.service import LIVE_KEYS
from simulator.testing.errors import SimulatorError, error_of, missing
from simulator.testing.links.link import Link, parsed

try:
    import httpx
except ImportError as error:
    raise missing("httpx", "The test kit") from error

_TIMEOUT_SECONDS = 30.0
_SIGN_IN = "/auth/token"


@dataclass(frozen=True)
class Keys:
    """What an integrator gets of one environment: key pair, webhook key, and where its interface begins."""

    public_key: str
    secret_key: str
    webhook_key: str
    base_url: str


class SignIn(httpx.Auth):
    """Exchanges the key pair for a token at the first call, and anew, once, when a call is answered 401 unauthorized.

    A call that brings its own Authorization goes as it is. A sign-in that is refused is the answer of the call.
    Clients of one environment may share it, in whatever threads.
    """

    requires_request_body = True
    requires_response_body = True

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._token: str | None = None

    def forget(self) -> None:
        """Sign in anew at the next call: the world has been put back, and with it went its tokens."""
        self._token = None

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        _refuse(request, request.content, httpx.URL(self._keys.base_url).host)  # before it signs in for the call
        if "Authorization" in request.headers or request.url.path.endswith(_SIGN_IN):
            yield request
            return
        token = self._token
        if token is None:
            token = self._taken((yield self._sign_in()))
            if token is None:
                return
        request.headers["Authorization"] = f"Bearer {token}"
        response = yield request
        if response.status_code != 401 or _member(response, "error", "code") != "unauthorized":
            return
        token = self._taken((yield self._sign_in()))
        if token is not None:
            request.headers["Authorization"] = f"Bearer {token}"
            yield request

    def _sign_in(self) -> httpx.Request:
        pair = {"public_key": self._keys.public_key, "secret_key": self._keys.secret_key}
        return httpx.Request("POST", self._keys.base_url + _SIGN_IN, json=pair, headers=marked("kit"))

    def _taken(self, answer: httpx.Response) -> str | None:
        """The token of a sign-in, kept; None when it was refused."""
        self._token = _member(answer, "access_token")
        return self._token


def exchange(link: Link, keys: Keys) -> str:
    """A fresh token; SimulatorError when the sign-in is refused."""
    with make_client(link, keys, SignIn(keys)) as client:
        pair = {"public_key": keys.public_key, "secret_key": keys.secret_key}
        answer = client.post(_SIGN_IN, json=pair, headers=marked("kit"))
    token = _member(answer, "access_token")
    if token is None:
        raise error_of(answer.status_code, parsed(answer.content))
    return token


def _member(answer: httpx.Response, *path: str) -> str | None:
    """A text inside an answer, None where there is none."""
    found = parsed(answer.content)
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, str) else None


def make_client(link: Link, keys: Keys, sign_in: SignIn) -> httpx.Client:
    """A client on the base URL of an environment; it refuses real keys and other hosts before it sends anything."""
    return httpx.Client(
        base_url=keys.base_url,
        auth=sign_in,
        transport=_Guarded(link.transport(), keys.base_url),
        trust_env=False,
        timeout=_TIMEOUT_SECONDS,
    )


def make_async_client(link: Link, keys: Keys, sign_in: SignIn) -> httpx.AsyncClient:
    """The same for asyncio and trio."""
    return httpx.AsyncClient(
        base_url=keys.base_url,
        auth=sign_in,
        transport=_AsyncGuarded(link.async_transport(), keys.base_url),
        trust_env=False,
        timeout=_TIMEOUT_SECONDS,
    )


class _Guarded(httpx.BaseTransport):
    """The transport of a link for one client, which leaves it open when it is closed."""

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
    """SimulatorError for a request to a host that is not trusted, or with a real key in it."""
    try:
        if request.url.host != host:
            guard.check_host(str(request.url))
        LIVE_KEYS.check(content.decode("utf-8", "replace"), f"{request.method} {request.url.path}")
    except guard.Refused as error:
        raise SimulatorError(str(error)) from None
