"""The relay: forwards calls to the upstream and webhooks to their receiver, and records both.

Each client connection has one connection to the upstream. So the client sees the same behaviour as without the relay:
connections that stay open, and connections that close early.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import field
from typing import NoReturn
from urllib.parse import SplitResult, urlsplit

from simulator.evidence.capture import messages
from simulator.evidence.capture.messages import Cut, Head, Inlet, NotHttp, Outlet, Tee, copy_body, read_head
from simulator.evidence.capture.recorder import Recorder, decoded
from simulator.evidence.corpus import Traffic
from simulator.evidence.corpus.exchange import SignatureVerdict
from simulator.evidence.corpus.known import known
from simulator.kernel.dataclass import dataclass
from simulator.service import SIGNATURE

BASE = "/v1"
INBOX = "/inbox"
CONNECT_SECONDS = 10.0
_BUFFERED = 64 * 1024
"""A request body up to this size is sent before the response is read. A longer body is sent while the response is read.
"""
_WRITE_SECONDS = 0.02
_MOST_UNWRITTEN = 32
"""The number of complete exchanges that are kept before they are written."""
_DEFAULT_PORTS = {"http": 80, "https": 443}


class ClientLeft(ConnectionError):
    """Raised if a client closes its connection before its request is complete."""


class Unreachable(ConnectionError):
    """Raised if the upstream cannot be reached. The message is one line."""


@dataclass(frozen=True)
class Place:
    """A server to which requests are forwarded: its URL, and the option that specified the URL."""

    url: SplitResult
    option: str
    """The option that contains the address, for messages."""
    context: ssl.SSLContext | None

    @property
    def host(self) -> str:
        return self.url.netloc.rpartition("@")[2]

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Open a connection to the address. Raise `Unreachable` if this fails."""
        name = self.url.hostname or ""
        port = self.url.port or _DEFAULT_PORTS[self.url.scheme]
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                loop, reader = asyncio.get_running_loop(), Inlet(limit=messages.BUFFER_BYTES)
                protocol = asyncio.StreamReaderProtocol(reader)
                transport, _ = await loop.create_connection(
                    lambda: protocol, name, port, ssl=self.context, server_hostname=name if self.context else None
                )
                return reader, asyncio.StreamWriter(transport, protocol, reader, loop)
        except ssl.SSLCertVerificationError as error:
            why = f"the certificate is not trusted ({error.verify_message}). Give the file of its CA with --ca"
        except ssl.SSLError:
            why = "it does not speak TLS. Check whether the URL begins with http:// or https://"
        except TimeoutError:
            why = f"no connection within {CONNECT_SECONDS:g} s"
        except ConnectionRefusedError:
            why = "the connection is refused"
        except OSError as error:
            why = error.strerror or str(error)
        raise Unreachable(f"{self.option}: {self.host}: {why}")


def place_of(url: str, option: str, ca: str | None = None) -> Place:
    """Return the host and port in a URL, with the TLS settings for connections to them. The certificate of an https
    server must be trusted by the system, or by the CA file `ca` if given.
    """
    parts = urlsplit(url.rstrip("/") if option == "--upstream" else url)
    context = ssl.create_default_context(cafile=ca) if parts.scheme == "https" else None
    return Place(parts, option, context)


@dataclass
class _Seen:
    """One message exchange in progress."""

    n: int
    at_ms: int
    head: Head
    method: str
    target: str
    request: Tee = field(default_factory=Tee)
    response: Tee = field(default_factory=Tee)
    answer: Head | None = None
    status: int | None = None
    is_complete: bool = False


class Relay:
    """The server that forwards calls and webhooks. `say` prints one line about a problem."""

    def __init__(
        self,
        upstream: Place,
        recorder: Recorder,
        *,
        now_ms: Callable[[], int],
        say: Callable[[str], None],
        inbox: bool = False,
        receiver: Place | None = None,
        webhook_key: str | None = None,
        recorded: Callable[[], None] = lambda: None,
    ) -> None:
        self._upstream, self._recorder = upstream, recorder
        self._now_ms, self._say = now_ms, say
        self._has_inbox, self._receiver, self._webhook_key = inbox or receiver is not None, receiver, webhook_key
        self._recorded = recorded
        self._said: set[str] = set()
        self._unwritten: list[_Seen] = []
        self._later: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def problem(self, line: str) -> None:
        """Print a line. If the same line has been printed before, do nothing."""
        if line not in self._said:
            self._said.add(line)
            self._say(line)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one client connection to its end."""
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        connection = _Connection(self, reader, writer)
        try:
            while await connection.exchange():
                pass
        except (OSError, NotHttp, asyncio.CancelledError):
            pass  # the client is gone, or does not speak HTTP
        finally:
            self._tasks.discard(task)
            connection.close()
            self.write_recorded()

    async def end(self) -> None:
        """End all connections."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def destination(self, target: str) -> tuple[Place | None, str | None]:
        """Return the address to which a request is forwarded, and the request target to use at that address. Return
        (None, None) if the path is not served.
        """
        path, mark, query = target.partition("?")
        if path.startswith(f"{BASE}/"):
            return self._upstream, f"{self._upstream.url.path}{path.removeprefix(BASE)}{mark}{query}"
        if self._has_inbox and (path == INBOX or path.startswith(f"{INBOX}/")):
            there = self._receiver.url if self._receiver is not None else None
            return self._receiver, (f"{there.path or '/'}{f'?{there.query}' if there.query else ''}" if there else "")
        return None, None

    def begin(self, head: Head, method: str, target: str) -> _Seen:
        at_ms = self._now_ms()
        return _Seen(self._recorder.begin(at_ms), at_ms, head, method, target)

    def record(self, seen: _Seen) -> None:
        """Schedule a completed exchange to be written soon. If it were written immediately, the client's next call
        would have to wait.
        """
        self._unwritten.append(seen)
        if len(self._unwritten) >= _MOST_UNWRITTEN:
            self.write_recorded()
        elif self._later is None:
            self._later = asyncio.get_running_loop().call_later(_WRITE_SECONDS, self.write_recorded)

    def write_recorded(self) -> None:
        """Write all completed exchanges that are not written yet."""
        if self._later is not None:
            self._later.cancel()
            self._later = None
        over, self._unwritten = self._unwritten, []
        if not over:
            return
        try:
            self._recorder.write(*map(self._traffic, over))
        except OSError as error:  # forward the traffic even if the disk is full
            self.problem(f"{self._recorder.path}: cannot be written ({error.strerror or error})")
        self._recorded()
        for seen in over:
            self._check_kind(seen)

    def _traffic(self, seen: _Seen) -> Traffic:
        path, _, query = seen.target.partition("?")
        is_call = path.startswith(f"{BASE}/")
        headers = seen.head.texts()
        answered = seen.answer.texts() if seen.answer is not None else []
        body = seen.request.content
        return Traffic(
            n=seen.n,
            direction="call" if is_call else "webhook",
            at_ms=seen.at_ms,
            method=seen.method,
            path=path.removeprefix(BASE) if is_call else INBOX,
            query=query,
            headers=headers,
            body=decoded(body, headers),
            status=seen.status,
            response_headers=answered,
            response=decoded(seen.response.content, answered),
            is_cut=not seen.is_complete,
            signature="absent" if is_call else self._verdict(headers, body),
        )

    def _check_kind(self, seen: _Seen) -> None:
        if seen.answer is None or not seen.is_complete or not seen.target.startswith(f"{BASE}/"):
            return
        kinds = seen.answer.values(b"content-type")
        if kinds and kinds[0].lower().startswith(b"text/html"):
            self.problem(
                f"{self._upstream.option}: {self._upstream.host} returned a web page ({seen.status}), not JSON. "
                f"Check that the URL is the base URL of the API"
            )

    def _verdict(self, pairs: list[tuple[str, str]], body: bytes | None) -> SignatureVerdict:
        """Return the verdict on a webhook's signature: absent, unknown, invalid or valid. The age of the signature is
        ignored.
        """
        headers = {name.lower(): value for name, value in pairs}
        if SIGNATURE.signature_header.lower() not in headers:
            return "absent"
        if self._webhook_key is None or body is None:
            return "unknown"
        stamp = headers.get(SIGNATURE.timestamp_header.lower(), "")
        now_ms = int(stamp) if stamp.isdecimal() else 0
        return "invalid" if SIGNATURE.problem(headers, body, [self._webhook_key], now_ms) else "valid"


class _Connection:
    """One client connection, and the connection on which its requests are forwarded."""

    def __init__(self, relay: Relay, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._relay, self._reader, self._writer = relay, reader, Outlet(writer)
        self._has_left = False
        self._place: Place | None = None
        self._far: tuple[asyncio.StreamReader, Outlet] | None = None

    def close(self) -> None:
        self._leave()
        self._writer.close()

    def _leave(self) -> None:
        if self._far is not None:
            self._far[1].close()
            self._far = None

    async def exchange(self) -> bool:
        """Forward one request and its response. Return True if the connection stays open afterwards."""
        head = await read_head(self._reader)
        if head is None:
            return False
        parts = head.first.decode("latin-1").split(" ")
        try:
            length = messages.body_length(head)
            if len(parts) != 3:
                raise NotHttp("the request line must have a method, a path and a version")
        except NotHttp as error:
            return await self._answer(400, str(error), stays=False)
        place, target = self._relay.destination(parts[1])
        if target is None:
            await copy_body(length, self._reader, None, Tee())
            served = f"rampsim capture serves {BASE} and, with --inbox, {INBOX}"
            return await self._answer(404, served, stays=not head.is_last)
        seen = self._relay.begin(head, parts[0], parts[1])
        if place is not None:
            first = f"{parts[0]} {target} {parts[2]}".encode("latin-1")
            return await self._passed(seen, length, place, first)
        await copy_body(length, self._reader, None, seen.request)  # a webhook that is not forwarded
        seen.status, seen.is_complete = 200, True
        self._relay.record(seen)
        return await self._answer(200, "", stays=not head.is_last)

    async def _passed(self, seen: _Seen, length: int, place: Place, first: bytes) -> bool:
        try:
            reader, writer = await self._connected(place)
        except Unreachable as error:
            self._relay.problem(str(error))
            await copy_body(length, self._reader, None, seen.request)
            self._relay.record(seen)
            return await self._answer(502, str(error), stays=not seen.head.is_last)
        writer.begin(seen.head.forwarded(first, host=place.host.encode(), closes=seen.head.is_last))
        sending: asyncio.Task[None] | None = None
        try:
            if length and (not 0 <= length <= _BUFFERED or seen.head.values(b"expect")):
                sending = asyncio.create_task(self._send_body(seen, length, writer))
            else:
                await self._send_body(seen, length, writer)
            stays = await self._answered(seen, reader)
        except (OSError, NotHttp) as error:
            self._fail(seen, place, error)
        finally:
            is_unsent = sending is not None and not sending.done()
            if sending is not None:
                sending.cancel()
                with suppress(asyncio.CancelledError, OSError, NotHttp):
                    await sending
            self._relay.record(seen)
        stays = stays and not is_unsent
        if not stays:
            self._leave()
        return stays

    async def _send_body(self, seen: _Seen, length: int, writer: Outlet) -> None:
        """Forward the body of a request. If the client disconnects before the end of the body, close the upstream
        connection too.
        """
        try:
            await copy_body(length, self._reader, writer, seen.request)
        except Cut:
            self._has_left = True
            writer.close()
            raise ClientLeft from None

    async def _connected(self, place: Place) -> tuple[asyncio.StreamReader, Outlet]:
        if self._far is not None and (self._place is not place or self._far[0].at_eof() or self._far[1].is_closing):
            self._leave()
        if self._far is None:
            reader, writer = await place.connect()
            self._far = reader, Outlet(writer)
            self._place = place
        return self._far

    async def _answered(self, seen: _Seen, reader: asyncio.StreamReader) -> bool:
        """Forward the response. Return True if both connections stay open."""
        while True:
            head = await read_head(reader)
            if head is None:
                raise Cut("no response came")
            status = messages.status_of(head)
            if status >= 200:
                break
            self._writer.write(head.forwarded(head.first, closes=False))
        length = messages.body_length(head, seen.method, status)
        closes = head.is_last or seen.head.is_last or length == messages.UNTIL_CLOSED
        seen.answer, seen.status = head, status
        self._writer.begin(head.forwarded(head.first, closes=closes))
        await copy_body(length, reader, self._writer, seen.response)
        await self._writer.drain()
        seen.is_complete = True
        return not closes

    def _fail(self, seen: _Seen, place: Place, error: Exception) -> NoReturn:
        """Report a broken exchange. End the client's connection by a reset or a close, as the server did."""
        if self._has_left or self._writer.is_closing:
            raise error
        path = seen.target.partition("?")[0].removeprefix(BASE)
        call = known().operation(seen.method, path)[0] or seen.method  # without ids
        why = f"{place.host} closed the connection before the response to {call} was complete"
        if isinstance(error, NotHttp):
            why = f"{place.host}: the response to {call} is not HTTP/1.1: {error}"
        self._relay.problem(f"{place.option}: {why}")
        if isinstance(error, ConnectionResetError):
            self._writer.abort()
        raise error

    async def _answer(self, status: int, text: str, *, stays: bool) -> bool:
        """Send a response that the relay created."""
        reason = {200: "OK", 400: "Bad Request", 404: "Not Found", 502: "Bad Gateway"}[status]
        content = f"{text}\n".encode() if text else b""
        kind = "Content-Type: text/plain; charset=utf-8\r\n" if text else ""
        end = "" if stays else "Connection: close\r\n"
        head = f"HTTP/1.1 {status} {reason}\r\n{kind}Content-Length: {len(content)}\r\n{end}\r\n"
        self._writer.write(head.encode() + content)
        await self._writer.drain()
        return stays
