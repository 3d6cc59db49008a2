"""How the courier reaches receivers: the port, the aiohttp adapter, and a fake for tests, side by side.

Only here is an HTTP client used for webhooks. Every address a name resolves to is checked (decision W3), and the
connection goes to exactly those addresses. Redirects, proxies of the environment and cookies play no part.
"""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

from simulator.resources.webhooks import Outcome, check_address, check_url, is_on_this_machine

if TYPE_CHECKING:
    import aiohttp

TIMEOUT_SECONDS = 10.0
MAX_BODY_BYTES = 64 * 1024

Headers = tuple[tuple[str, str], ...]


class Transport(Protocol):
    """Posts one request and says what came back; it never raises for what a receiver does."""

    async def post(self, url: str, headers: Headers, body: bytes, timeout_seconds: float, policy: str) -> Outcome:
        """POST `body` to a URL that the policy (`public`, `local`, `any`) allows; redirects are not followed."""
        ...

    async def close(self) -> None:
        """Let go of every connection."""
        ...


class AddressRefused(OSError):
    """A name resolved to an address that may not be reached."""


@dataclass
class _Answer:
    """As much of an answer as came: the status counts even when the rest of the body never arrives."""

    status: int | None = None
    headers: Headers = ()
    chunks: list[bytes] = field(default_factory=list)


class AiohttpTransport:
    """The adapter for real receivers. aiohttp is imported when the first request is sent.

    One session for each policy, so that a connection opened under one is never used under another. A connection
    serves one request: a receiver that closes early must not cost a delivery.
    """

    def __init__(self) -> None:
        self._sessions: dict[str, aiohttp.ClientSession] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    async def post(self, url: str, headers: Headers, body: bytes, timeout_seconds: float, policy: str) -> Outcome:
        refusal = check_url(url, policy)
        if refusal is not None:
            return Outcome(None, f"refused: {refusal}", request_headers=headers)
        from yarl import URL

        target = URL(url)
        sent = (("Host", _host_header(target)), *headers, ("Content-Length", str(len(body))), ("Connection", "close"))
        answer = _Answer()
        started = perf_counter()
        try:
            async with asyncio.timeout(timeout_seconds):
                await self._exchange(target, sent, body, policy, answer)
        except Exception as error:
            if answer.status is None:
                return Outcome(None, describe(error, target.host or "", timeout_seconds), _since(started), sent)
        return Outcome(answer.status, None, _since(started), sent, answer.headers, b"".join(answer.chunks))

    async def _exchange(self, target: Any, sent: Headers, body: bytes, policy: str, answer: _Answer) -> None:
        session = self._session(policy)
        verified = not is_on_this_machine(str(target))
        async with session.post(target, data=body, headers=sent, allow_redirects=False, ssl=verified) as response:
            answer.status = response.status
            answer.headers = tuple((_text(name), _text(value)) for name, value in response.headers.items())
            room = MAX_BODY_BYTES
            while room and (chunk := await response.content.read(room)):
                answer.chunks.append(chunk)
                room -= len(chunk)

    def _session(self, policy: str) -> aiohttp.ClientSession:
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._sessions, self._loop = {}, loop
        session = self._sessions.get(policy)
        if session is None:
            session = self._sessions[policy] = _open_session(policy)
        return session

    async def close(self) -> None:
        sessions, self._sessions = self._sessions, {}
        for session in sessions.values():
            await session.close()


def _text(value: str) -> str:
    """A header as text: UTF-8, else the Latin-1 of old servers. aiohttp leaves bytes it cannot read as surrogates."""
    raw = value.encode("utf-8", "surrogateescape")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _since(started: float) -> int:
    return round((perf_counter() - started) * 1000)


def _host_header(target: Any) -> str:
    host: str = target.host_subcomponent or ""
    return host if target.is_default_port() else f"{host}:{target.port}"


def _open_session(policy: str) -> aiohttp.ClientSession:
    import aiohttp
    from aiohttp.abc import AbstractResolver, ResolveResult

    class CheckingResolver(AbstractResolver):
        """Resolves names and refuses those of which any address is not allowed under the policy."""

        async def resolve(
            self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
        ) -> list[ResolveResult]:
            found = await addresses_of(host, port)
            for address, _ in found:
                refusal = check_address(address, policy, host)
                if refusal is not None:
                    raise AddressRefused(refusal)
            return [
                ResolveResult(hostname=host, host=address, port=port, family=kind, proto=0, flags=socket.AI_NUMERICHOST)
                for address, kind in found
            ]

        async def close(self) -> None:
            return None

    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(
            limit=0, resolver=CheckingResolver(), use_dns_cache=False, force_close=True, family=socket.AF_UNSPEC
        ),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None),
        auto_decompress=False,
        trust_env=False,
        skip_auto_headers=("Accept", "Accept-Encoding", "User-Agent", "Content-Type"),
    )


async def addresses_of(host: str, port: int) -> list[tuple[str, int]]:
    """Every address of a name with its family; OSError when there is none."""
    if host == "localhost" or host.endswith(".localhost"):
        return [("127.0.0.1", socket.AF_INET), ("::1", socket.AF_INET6)]
    infos = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    found = dict.fromkeys((str(info[4][0]), int(info[0])) for info in infos)
    if not found:
        raise socket.gaierror(f"no address for {host}")
    return list(found)


def describe(error: BaseException, host: str, timeout_seconds: float) -> str:
    """Why there is no answer, in words that do not depend on the machine."""
    import aiohttp

    chain = _chain(error)
    refused = next((one for one in chain if isinstance(one, AddressRefused)), None)
    if refused is not None:
        return f"refused: {refused}"
    if isinstance(error, TimeoutError):
        return f"timeout: no answer within {timeout_seconds:g} seconds"
    if any(isinstance(one, socket.gaierror) for one in chain):
        return f"the host name {host} could not be resolved"
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return "the certificate could not be verified"
    if isinstance(error, aiohttp.ClientSSLError):
        return "the TLS connection could not be made"
    if isinstance(error, aiohttp.ClientConnectorError):
        known = isinstance(error.os_error, ConnectionRefusedError) or "refused" in str(error.os_error).lower()
        return "connection refused" if known else "the host could not be reached"
    if isinstance(error, aiohttp.ServerDisconnectedError | ConnectionError | aiohttp.ClientOSError):
        return "the connection was closed without an answer"
    if isinstance(error, aiohttp.ClientResponseError | aiohttp.ClientPayloadError):
        return "the answer was not valid HTTP"
    return f"the request could not be made ({type(error).__name__})"


def _chain(error: BaseException | None) -> list[BaseException]:
    """The error and what caused it."""
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        error = getattr(error, "os_error", None) or error.__cause__ or error.__context__
    return found


class FakeTransport:
    """Answers from a script instead of the network: statuses, Outcomes, exceptions, or a function of the request.

    When the script has ended every request is answered 200. `sent` keeps what was posted.
    """

    def __init__(self, script: Iterable[int | Outcome | BaseException] = ()) -> None:
        self.script: deque[int | Outcome | BaseException] = deque(script)
        self.sent: list[tuple[str, dict[str, str], bytes]] = []
        self.policies: list[str] = []
        self.answer: Callable[[str, bytes], int | Outcome | BaseException] | None = None
        self.gate: asyncio.Event | None = None
        self.closed = False

    async def post(self, url: str, headers: Headers, body: bytes, timeout_seconds: float, policy: str) -> Outcome:
        self.sent.append((url, dict(headers), body))
        self.policies.append(policy)
        await (asyncio.sleep(0) if self.gate is None else self.gate.wait())
        answer: int | Outcome | BaseException
        answer = self.answer(url, body) if self.answer else self.script.popleft() if self.script else 200
        if isinstance(answer, BaseException):
            raise answer
        if isinstance(answer, int):
            return Outcome(answer, None, 1, headers)
        return replace(answer, request_headers=answer.request_headers or headers)

    async def close(self) -> None:
        self.closed = True
