"""How the courier reaches receivers: the port, the adapter for real ones, and a fake for tests, side by side.

Only here are webhooks put on the wire. Every address a name resolves to is checked (decision W3), and the connection
goes to exactly those addresses. Redirects, proxies of the environment and cookies play no part.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache
from ipaddress import ip_address
from time import perf_counter
from typing import Protocol

from aiohappyeyeballs import AddrInfoType, pop_addr_infos_interleave, start_connection
from yarl import URL

from simulator.engine.webhooks import Outcome, check_address, check_url, is_on_this_machine
from simulator.engine.webhooks.courier.deadlines import Deadlines
from simulator.engine.webhooks.courier.exchange import ConnectionClosed, Exchange, Headers, NoHttp
from simulator.kernel.dataclass import dataclass

_HEAD_START_SECONDS = 0.25
"""How long one address of a name is tried before the next is, beside it (RFC 8305)."""


_THIS_MACHINE = "127.0.0.1"
_LAST_OF_ITS_CONNECTION = ("Connection", "close")


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


@dataclass(frozen=True, slots=True)
class _Target:
    """What a URL means for a request: where it goes, what its first line and its `Host` are.

    `is_address`: the host needs no resolving. `tls`: whether the connection is encrypted; `verified`: and its
    certificate checked.
    """

    host: str
    port: int
    is_address: bool
    tls: bool
    verified: bool
    first_line: str
    host_header: tuple[str, str]


@lru_cache(maxsize=1024)
def _target_of(url: str, policy: str) -> _Target | str:
    """The target of a URL, or why it may not be reached under a policy."""
    # Endpoints are few and their deliveries many: reading a URL anew each time took a fifth of a delivery.
    refusal = check_url(url, policy)
    if refusal is not None:
        return refusal
    target = URL(url)
    host, shown = target.raw_host or "", target.host_subcomponent or ""
    return _Target(
        host,
        target.port or 0,
        _is_address(host),
        target.scheme == "https",
        not is_on_this_machine(str(target)),
        f"POST {target.raw_path_qs} HTTP/1.1",
        ("Host", shown if target.is_default_port() else f"{shown}:{target.port}"),
    )


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


class HttpTransport:
    """The adapter for real receivers.

    A connection serves one request and says so: a receiver that closes early, serves one connection at a time or does
    not tell how long its answer is must not cost a delivery, and none may ever come twice. To keep connections would
    save the 30 µs that one takes the kernel on this machine, a fifth of a delivery.
    """

    def __init__(self) -> None:
        self._deadlines: Deadlines | None = None

    async def post(self, url: str, headers: Headers, body: bytes, timeout_seconds: float, policy: str) -> Outcome:
        target = _target_of(url, policy)
        if isinstance(target, str):
            return Outcome(None, f"refused: {target}", request_headers=headers)
        sent = (target.host_header, *headers, ("Content-Length", str(len(body))), _LAST_OF_ITS_CONNECTION)
        head = "\r\n".join([target.first_line, *[f"{name}: {value}" for name, value in sent], "", ""])
        deadlines = self._deadlines_of(asyncio.get_running_loop())
        exchange = Exchange(head.encode() + body, deadlines.loop.create_future())
        limit, started = deadlines.begin(timeout_seconds), perf_counter()
        failure: BaseException | None
        try:
            await _connect(deadlines.loop, target, policy, exchange)
            failure = await exchange.ended
        except asyncio.CancelledError:
            if not limit.absorbs():
                raise
            failure = TimeoutError()
        except Exception as error:
            failure = error
        finally:
            deadlines.end(limit)
            exchange.close()
        if exchange.status is None and failure is not None:
            return Outcome(None, describe(failure, target.host, timeout_seconds), _since(started), sent)
        return Outcome(exchange.status, None, _since(started), sent, exchange.headers, exchange.body)

    def _deadlines_of(self, loop: asyncio.AbstractEventLoop) -> Deadlines:
        if self._deadlines is None or self._deadlines.loop is not loop:
            self._deadlines = Deadlines(loop)
        return self._deadlines

    async def close(self) -> None:
        """Nothing is kept open between requests."""


async def _connect(loop: asyncio.AbstractEventLoop, target: _Target, policy: str, exchange: Exchange) -> None:
    """Connect to the first address of a target that takes the connection; OSError, ssl.SSLError, AddressRefused."""
    context = _tls(target.verified) if target.tls else None
    if target.is_address:
        await loop.create_connection(lambda: exchange, target.host, target.port, ssl=context)
        return
    found = await addresses_of(target.host, target.port)
    for address, _ in found:
        refusal = _check_address(address, policy, target.host)
        if refusal is not None:
            raise AddressRefused(refusal)
    name = target.host.rstrip(".") if target.tls else None
    first, only = found[0][0], len(found) == 1
    if only or first == _THIS_MACHINE:
        # This machine answers at once: to race its addresses would take half as long again as a delivery.
        try:
            await loop.create_connection(lambda: exchange, first, target.port, ssl=context, server_hostname=name)
            return
        except ConnectionRefusedError:
            if only:
                raise
    waiting: list[AddrInfoType] = [
        (family, socket.SOCK_STREAM, 0, "", (address, target.port)) for address, family in found
    ]
    while True:
        try:
            reached = await start_connection(waiting, happy_eyeballs_delay=_HEAD_START_SECONDS)
            await loop.create_connection(lambda: exchange, sock=reached, ssl=context, server_hostname=name)
            return
        except OSError:
            pop_addr_infos_interleave(waiting)
            if not waiting:
                raise


_check_address = lru_cache(maxsize=1024)(check_address)
"""What is to be said of an address never changes; only what a name resolves to does."""


@lru_cache(maxsize=2)
def _tls(verified: bool) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if not verified:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["http/1.1"])
    return context


def _since(started: float) -> int:
    return round((perf_counter() - started) * 1000)


async def addresses_of(host: str, port: int) -> list[tuple[str, int]]:
    """Every address of a name with its family; OSError when there is none."""
    if host == "localhost" or host.endswith(".localhost"):
        return [(_THIS_MACHINE, socket.AF_INET), ("::1", socket.AF_INET6)]
    infos = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    found = dict.fromkeys((str(info[4][0]), int(info[0])) for info in infos)
    if not found:
        raise socket.gaierror(f"no address for {host}")
    return list(found)


def describe(error: BaseException, host: str, timeout_seconds: float) -> str:
    """Why there is no answer, in words that do not depend on the machine."""
    if isinstance(error, AddressRefused):
        return f"refused: {error}"
    if isinstance(error, TimeoutError) and error.errno is None:
        return f"timeout: no answer within {timeout_seconds:g} seconds"
    if isinstance(error, socket.gaierror):
        return f"the host name {host} could not be resolved"
    if isinstance(error, ssl.CertificateError):
        return "the certificate could not be verified"
    if isinstance(error, ssl.SSLError):
        return "the TLS connection could not be made"
    if isinstance(error, ConnectionClosed):
        return "the connection was closed without an answer"
    if isinstance(error, OSError):
        known = isinstance(error, ConnectionRefusedError) or "refused" in str(error).lower()
        return "connection refused" if known else "the host could not be reached"
    if isinstance(error, NoHttp):
        return "the answer was not valid HTTP"
    return f"the request could not be made ({type(error).__name__})"


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
