"""A listening server: uvicorn with uvloop and httptools around the application, on a socket opened beforehand."""

from __future__ import annotations

import asyncio
import logging
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from simulator.server.app import Application
from simulator.server.messages import CUT, OPENED_AT
from simulator.wire.errors import ApiError
from simulator.wire.json import dumps
from simulator.wire.masking import Masker

MAX_HEAD_BYTES = 64 * 1024
"""How much the request line and the headers of a request may take in all."""

_GRACE_SECONDS = 0.3
"""How long calls may go on when the server stops, before they are ended."""

_WISH = re.compile(rb"(\r\n)upgrade(:)", re.IGNORECASE)
"""The header by which a client offers to go on in another protocol."""

_REASONS = {400: "Bad Request", 408: "Request Timeout", 431: "Request Header Fields Too Large"}


class _HeadTooLarge(Exception):
    """The request line and headers are larger than the server takes."""


class BoundedProtocol(HttpToolsProtocol):
    """HTTP as uvicorn speaks it, bounded in bytes and time, and with a way for the application to drop the connection.

    One timer per connection: it ends a connection that is idle, or whose request does not come in whole in time; while
    a request that is whole is being answered there is none.
    """

    _reading_head = False
    _head_bytes = 0
    _incomplete = False
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._limits = self.config.app.limits  # type: ignore[union-attr]
        self._refusal = (400, "This is no valid HTTP request.")
        self._opened_at = self.loop.time()
        self._unanswered: list[RequestResponseCycle] = []
        self._wait(self._limits.request_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell every call under way and waiting that its client has gone; uvicorn tells the newest alone."""
        self._stop_waiting()
        for cycle in self._unanswered:
            if not cycle.response_complete:
                cycle.disconnected = True
                cycle.message_event.set()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._reading_head:  # exact sums are made when the head is whole; this bounds one that never is
            self._head_bytes += len(data)
        if self._head_bytes > MAX_HEAD_BYTES:
            self._refusal = _TOO_LARGE
            self.send_400_response("")
            return
        super().data_received(data if self._incomplete else _stay(data))

    def on_message_begin(self) -> None:
        super().on_message_begin()
        scope: Any = self.scope
        scope["extensions"] = {CUT: self.transport.abort, OPENED_AT: self._opened_at}
        self._reading_head, self._head_bytes, self._incomplete = True, 0, True
        self._wait(self._limits.request_seconds)

    def on_headers_complete(self) -> None:
        if len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers) > MAX_HEAD_BYTES:
            self._refusal = _TOO_LARGE
            raise _HeadTooLarge
        self._reading_head, self._head_bytes = False, 0
        super().on_headers_complete()
        self._unanswered = [cycle for cycle in self._unanswered if not cycle.response_complete] + [self.cycle]

    def on_message_complete(self) -> None:
        self._incomplete = False
        super().on_message_complete()
        if self.cycle is not None and self.cycle.response_complete:
            self._wait(self._limits.idle_seconds)
        else:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._unset_keepalive_if_required()  # the timer of this class does it, and knows what is still coming in
        if not self._incomplete and (self.cycle is None or self.cycle.response_complete):
            self._wait(self._limits.idle_seconds)

    def _wait(self, seconds: float) -> None:
        self._stop_waiting()
        if not self.transport.is_closing():
            self._timer = self.loop.call_later(seconds, self._out_of_time)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _out_of_time(self) -> None:
        """Time is over: an idle connection is closed, one whose request is not whole is answered 408."""
        self._timer = None
        if self.transport.is_closing():
            return
        if not self._incomplete:
            self.transport.close()
            return
        self._refusal = (408, f"The request did not come in whole within {self._limits.request_seconds:g} seconds.")
        self.send_400_response("")

    def send_400_response(self, msg: str) -> None:
        """The last answer of a connection that cannot go on, as an envelope; none where another answer is due first."""
        if self.transport.is_closing():
            return
        answered = self.cycle is None or self.cycle.response_complete
        if answered or not (self._reading_head or self.pipeline or self.cycle.response_started):
            status, message = self._refusal
            body = dumps(ApiError("invalid_request", message).envelope())
            head = (
                f"HTTP/1.1 {status} {_REASONS[status]}\r\ncontent-type: application/json\r\n"
                f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
            )
            self.transport.write(head.encode() + body)
        self.transport.close()


def _stay(data: bytes) -> bytes:
    """The beginning of a request that offers another protocol (Java's client offers HTTP/2), with the offer hidden.

    A server may ignore it; the parser, once it has seen it, takes what follows the head for the other protocol, and the
    body is lost.
    """
    head, end, rest = data.partition(b"\r\n\r\n")
    return _WISH.sub(rb"\1x-other\2", head) + end + rest if _WISH.search(head) else data


_TOO_LARGE = (431, f"The request line and headers are larger than {MAX_HEAD_BYTES} bytes.")


def open_socket(host: str, port: int) -> socket.socket:
    """A bound socket; OSError when the address is taken or not this machine's. Port 0 picks a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol by name: asyncio turns Nagle's algorithm off only for sockets that say they are TCP, and without
    # that an answer in two writes waits 40 ms for the acknowledgement of the first.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError:
        listener.close()
        raise
    return listener


def origin_of(listener: socket.socket) -> str:
    """`http://HOST:PORT` of a bound socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class MaskingFormatter(logging.Formatter):
    """Log lines without secrets."""

    def __init__(self, masker: Masker) -> None:
        super().__init__("%(levelname)s %(name)s: %(message)s")
        self._masker = masker

    def format(self, record: logging.LogRecord) -> str:
        return self._masker.text(super().format(record))


class EndingServer(uvicorn.Server):
    """A uvicorn server that ends what is open when it stops: streams at once, calls after a moment."""

    def __init__(self, config: uvicorn.Config, application: Application) -> None:
        super().__init__(config)
        self._application = application

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._application.runtime.end_streams()
        ending = asyncio.get_running_loop().call_later(_GRACE_SECONDS, self._application.end_calls)
        await super().shutdown(sockets)
        ending.cancel()


def server_of(application: Application) -> uvicorn.Server:
    """A uvicorn server that logs warnings only and waits a moment for open calls when it is stopped."""
    config = uvicorn.Config(
        application,
        http=BoundedProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,  # the wall clock has no place in answers that repeat to the byte
        timeout_graceful_shutdown=2,
    )
    return EndingServer(config, application)


@asynccontextmanager
async def serving(application: Application) -> AsyncIterator[str]:
    """Serve on a free port of loopback inside a running event loop; gives the origin, and has stopped afterwards."""
    listener = open_socket("127.0.0.1", 0)
    server = server_of(application)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        while not server.started and not task.done():
            await asyncio.sleep(0.005)
        yield origin_of(listener)
    finally:
        server.should_exit = True
        await task
        listener.close()
