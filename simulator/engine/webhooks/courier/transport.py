"""The webhook transport: its protocol, and its implementation over HTTP.

Webhooks leave the process only through this module. It checks every address to which a name resolves, and connects to
exactly these addresses (decision W3). It ignores redirects, cookies and the proxy settings in the environment.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Sequence
from functools import lru_cache
from time import perf_counter
from typing import Protocol

from simulator.engine.clients.connecting import addresses_of, connect
from simulator.engine.clients.exchange import ConnectionClosed, Exchange, Headers, NoHttp
from simulator.engine.webhooks import Outcome
from simulator.engine.webhooks.urls import check_address, check_url, is_on_this_machine, parse_url
from simulator.kernel.dataclass import dataclass

_CLOSE = ("Connection", "close")


class Transport(Protocol):
    """Posts requests. It never raises an exception for an error of the receiver."""

    async def post(self, url: str, headers: Headers, body: bytes, timeout_seconds: float, policy: str) -> Outcome:
        """POST to a URL if the policy (`public`, `local` or `any`) allows it.

        Return the response, or the reason why there is none.
        """
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...


class AddressRefused(OSError):
    """A name resolved to an address that the policy does not allow."""


@dataclass(frozen=True, slots=True)
class _Target:
    """The destination of a URL."""

    host: str
    port: int
    tls: bool
    verified: bool
    """True if the certificate is checked."""
    first_line: str
    host_header: tuple[str, str]


@lru_cache(maxsize=1024)
def _target_of(url: str, policy: str) -> _Target | str:
    """Return the target of a URL, or the reason why the policy does not allow it."""
    # Few endpoints get many deliveries. Parsing the URL for each delivery took a fifth of the time per delivery.
    refusal = check_url(url, policy)
    if refusal is not None:
        return refusal
    target = parse_url(url)
    host = target.host if target.address is None else str(target.address)
    shown = f"[{host}]" if ":" in host else host
    tls = target.scheme == "https"
    if target.port != (443 if tls else 80):
        shown = f"{shown}:{target.port}"
    first_line = f"POST {target.path} HTTP/1.1"
    return _Target(host, target.port, tls, not is_on_this_machine(url), first_line, ("Host", shown))


class HttpTransport:
    """The transport for real receivers, with one connection for each request.

    Receivers may close a connection early, serve one at a time, or omit the length of a response. A reused connection
    could then lose or duplicate a delivery. A new one takes 30 µs of kernel time, a fifth of the time of a delivery.
    """

    def __init__(self) -> None:
        self._deadlines: Deadlines | None = None

    async def post(self, url: str, headers: Headers, body: bytes, timeout_seconds: float, policy: str) -> Outcome:
        target = _target_of(url, policy)
        if isinstance(target, str):
            return Outcome(None, f"refused: {target}", request_headers=headers)
        sent = (target.host_header, *headers, ("Content-Length", str(len(body))), _CLOSE)
        head = "\r\n".join([target.first_line, *[f"{name}: {value}" for name, value in sent], "", ""])
        loop = asyncio.get_running_loop()
        if self._deadlines is None or self._deadlines.loop is not loop:
            self._deadlines = Deadlines(loop)
        deadlines = self._deadlines
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
            return Outcome(None, describe(failure, target.host, timeout_seconds), milliseconds_since(started), sent)
        return Outcome(exchange.status, None, milliseconds_since(started), sent, exchange.headers, exchange.body)

    async def close(self) -> None:
        """Do nothing, because no connection is open between requests."""


async def _connect(loop: asyncio.AbstractEventLoop, target: _Target, policy: str, exchange: Exchange) -> None:
    """Connect an exchange to its target. Raise `OSError`, `ssl.SSLError` or `AddressRefused` if this fails."""
    found = await addresses_of(target.host, target.port)
    for address, _ in found:
        refusal = _check_address(address, policy, target.host)
        if refusal is not None:
            raise AddressRefused(refusal)
    # Connect to the addresses, not to the name: a second lookup could return other addresses, which were not checked.
    context = _tls(target.verified) if target.tls else None
    name = target.host if target.tls else None
    await connect(loop, lambda: exchange, found, target.port, ssl=context, server_hostname=name)


_check_address = lru_cache(maxsize=1024)(check_address)
"""The check result for an address never changes, so it is cached.

The addresses of a name can change, so `addresses_of` is not cached.
"""


@lru_cache(maxsize=2)
def _tls(verified: bool) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if not verified:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["http/1.1"])
    return context


def milliseconds_since(started: float) -> int:
    """Return the time since a value of `perf_counter`, in whole milliseconds."""
    return round((perf_counter() - started) * 1000)


def describe(error: BaseException, host: str, timeout_seconds: float) -> str:
    """Return the reason why there is no response. The wording does not depend on the machine."""
    if isinstance(error, AddressRefused):
        return f"refused: {error}"
    if isinstance(error, TimeoutError) and error.errno is None:
        return f"timeout: no answer within {timeout_seconds:g} seconds"
    if isinstance(error, socket.gaierror):
        return f"the host name {host} could not be resolved"
    found = next((words for kind, words in _REASONS if isinstance(error, kind)), None)
    return found or f"the request could not be made ({type(error).__name__})"


_REASONS: Sequence[tuple[type[BaseException], str]] = (
    (ssl.CertificateError, "the certificate could not be verified"),
    (ssl.SSLError, "the TLS connection could not be made"),
    (ConnectionClosed, "the connection was closed without an answer"),
    (ConnectionRefusedError, "connection refused"),
    (OSError, "the host could not be reached"),
    (NoHttp, "the answer was not valid HTTP"),
)
"""Reasons by exception class. All classes but the last are subclasses of OSError, so the order is important."""


class Limit:
    """The time limit of one task. When the time is up, the task gets a `CancelledError`."""

    __slots__ = ("_cancelled_before", "_task", "at", "passed")

    def __init__(self, at: float) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._cancelled_before = task.cancelling()
        self.at = at
        self.passed = False
        """True once the task was cancelled because its time was over."""

    def cut_off(self) -> None:
        self.passed = True
        self._task.cancel()

    def absorbs(self) -> bool:
        """Return True if only this time limit caused the task's `CancelledError`. Call this once for each error."""
        # Without `uncancel`, the task would count as cancelled permanently. A task that was also cancelled by other
        # code must stay cancelled.
        return self.passed and self._task.uncancel() <= self._cancelled_before


class Deadlines:
    """The time limits of all tasks in one event loop."""

    __slots__ = ("_alarm", "_limits", "loop")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._limits: set[Limit] = set()
        self._alarm: asyncio.TimerHandle | None = None

    def begin(self, seconds: float) -> Limit:
        """Limit the current task until `end` is called."""
        limit = Limit(self.loop.time() + seconds)
        self._limits.add(limit)
        if self._alarm is None or self._alarm.when() > limit.at:
            self._ring_at(limit.at)
        return limit

    def end(self, limit: Limit) -> None:
        self._limits.discard(limit)

    def _ring_at(self, moment: float) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = self.loop.call_at(moment, self._ring)

    def _ring(self) -> None:
        self._alarm = None
        now = self.loop.time()
        over = sorted((limit for limit in self._limits if limit.at <= now), key=lambda limit: limit.at)
        self._limits.difference_update(over)
        for limit in over:
            limit.cut_off()
        if self._limits:
            self._ring_at(min(limit.at for limit in self._limits))
