"""HTTP on a connection: as uvicorn speaks it, bounded in bytes and time, and with a short way for the interfaces.

A call of the interface or a control call that has come in whole is answered at once, in one write: its task, its ASGI
messages and the layers of middleware around it would take longer than the work of most calls does. Whatever is not that
plain (a call that has to wait, one behind another on its connection, a long body, a connection that is to be cut) goes
by ASGI.
"""

from __future__ import annotations

import asyncio
import re
from functools import partial
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from simulator.engine.rows.error import ApiError
from simulator.engine.server import storage
from simulator.engine.server.http.messages import CUT, OPENED_AT, WITHOUT_BODY, Outgoing, header_lines
from simulator.engine.server.running.chunks import PIECE, Content
from simulator.engine.text.json import dumps

if TYPE_CHECKING:
    from uvicorn._types import ASGI3Application

    from simulator.engine.server.app import Application, Way

MAX_HEAD_BYTES = 64 * 1024
"""How much the request line and the headers of a request may take in all."""

_WISH = re.compile(rb"(\r\n)upgrade(:)", re.IGNORECASE)
"""The header by which a client offers to go on in another protocol."""

_REASONS = {400: "Bad Request", 408: "Request Timeout", 431: "Request Header Fields Too Large"}
_TOO_LARGE = (431, f"The request line and headers are larger than {MAX_HEAD_BYTES} bytes.")


class _HeadTooLarge(Exception):
    """The request line and headers are larger than the server takes."""


class BoundedProtocol(HttpToolsProtocol):
    """One connection. It has a way for the application to drop it, and one timer.

    The timer ends a connection that is idle, or whose request does not come in whole in time; while a request that is
    whole is being answered none runs out.
    """

    _reading_head = False
    _head_bytes = 0
    _incomplete = False
    _begins = False
    _timer: asyncio.TimerHandle | None = None
    _ends_at: float | None = None
    _next: RequestResponseCycle | None = None
    """The call that is coming in, to be answered when it is whole."""
    _way: Way | None = None
    """How it is answered then."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # of TCP
        super().connection_made(transport)
        application: Application = self.config.app  # type: ignore[assignment]  # uvicorn knows no more than that it is one of ASGI
        self._limits, self._at_once = application.limits, application.at_once
        self._refusal = (400, "This is no valid HTTP request.")
        self._opened_at = self.loop.time()
        self._unanswered: list[RequestResponseCycle] = []
        self._wait(self._limits.request_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell every call under way and waiting that its client has gone; uvicorn tells the newest alone."""
        self._next = None
        self._stop_waiting()
        if self._timer is not None:
            self._timer.cancel()
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
        self._chunk_bytes, self._has_answered, self._begins = len(data), False, False
        super().data_received(data if self._incomplete else _stay(data))
        if self._begins and self._incomplete:  # a request that came in whole needs no timer
            self._wait(self._limits.request_seconds)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        scope: Any = self.scope
        scope["extensions"] = {CUT: self.transport.abort, OPENED_AT: self._opened_at}
        self._reading_head, self._head_bytes, self._incomplete, self._begins = True, 0, True, True
        self._begun_in_bytes = self._chunk_bytes

    def on_headers_complete(self) -> None:
        # A head is no longer than the chunks that it came in, so there is hardly ever one to be measured.
        if self._begun_in_bytes + self._head_bytes > MAX_HEAD_BYTES and self._size_of_head() > MAX_HEAD_BYTES:
            self._refusal = _TOO_LARGE
            raise _HeadTooLarge
        self._reading_head, self._head_bytes = False, 0
        super().on_headers_complete()
        if self._unanswered and self._unanswered[-1].response_complete:  # they are answered in their order
            self._unanswered.clear()
        self._unanswered.append(self.cycle)

    def _size_of_head(self) -> int:
        return len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        """Begin with a call: its head is whole, and the calls before it are answered."""
        scope: Any = cycle.scope
        is_coming_in = cycle.more_body and not cycle.waiting_for_100_continue
        way = self._at_once.way_of(scope) if is_coming_in and self._at_once is not None else None
        if way is not None:
            self._next, self._way = cycle, way
        else:
            super()._start_asgi_task(cycle, app)

    def on_body(self, body: bytes) -> None:
        super().on_body(body)
        if self._next is not None and len(self._next.body) > HIGH_WATER_LIMIT:
            self._by_asgi(self._next, self.app)

    def on_message_complete(self) -> None:
        self._incomplete = False
        super().on_message_complete()
        if self._next is not None:
            self._answer(self._next)
        elif self.cycle is not None and self.cycle.response_complete:
            self._wait(self._limits.idle_seconds)
        else:
            self._stop_waiting()

    def _answer(self, cycle: RequestResponseCycle) -> None:
        """Answer a call that has come in whole: at once, but for the further ones of a chunk, so that others go on."""
        at_once, way = self._at_once, self._way
        if at_once is None or way is None or self._has_answered:
            self._by_asgi(cycle, self.app)
            return
        self._next, self._way, self._has_answered = None, None, True
        outgoing = way.begin(bytes(cycle.body))
        raw = _written(cycle, outgoing) if outgoing is not None else None
        if outgoing is None or raw is None or self.flow.write_paused:
            self._by_asgi(cycle, at_once.rest_of(way))
            return
        persistence = at_once.persistence
        unsettled = (
            None if persistence is None or storage.is_of_the_server(cycle.scope["path"]) else persistence.unsettled()
        )
        if unsettled is None:
            self._send(cycle, raw)
        else:
            self._stop_waiting()
            unsettled.add_done_callback(partial(self._settled, cycle, outgoing, raw))

    def _settled(
        self, cycle: RequestResponseCycle, outgoing: Outgoing[Content], raw: bytes, kept: asyncio.Future[None]
    ) -> None:
        """What a call did is kept, or it is not: now its answer may leave."""
        if self.transport.is_closing():
            cycle.response_complete = True
            return
        error = kept.exception()
        if error is not None:
            refusal = storage.unavailable(cycle.scope["path"], str(error))
            outgoing = Outgoing(refusal.status, dumps(refusal.envelope()), storage.headers_of(refusal))
        if error is not None or not cycle.keep_alive:  # the server has begun to stop meanwhile, and says so
            raw = _written(cycle, outgoing) or raw
        self._send(cycle, raw)

    def _send(self, cycle: RequestResponseCycle, raw: bytes) -> None:
        """Send a whole answer."""
        self.transport.write(raw)
        cycle.response_started = cycle.response_complete = True
        if not cycle.keep_alive:
            self.transport.close()
        self.on_response_complete()

    def _by_asgi(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._next = None
        if not self._incomplete:
            self._stop_waiting()
        super()._start_asgi_task(cycle, app)

    def on_response_complete(self) -> None:
        """As uvicorn does it, but for its timer of idle connections: that of this class knows what is coming in."""
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
        elif not self._incomplete:
            self._wait(self._limits.idle_seconds)

    def shutdown(self) -> None:
        """The server stops: a call that is still coming in is ended with those that are being answered."""
        if self._next is not None:
            self._by_asgi(self._next, self.app)
        super().shutdown()

    def _wait(self, seconds: float) -> None:
        """Let the connection end in so many seconds, unless told otherwise until then.

        The timer is left where it is and looks again when it rings: one made anew with every request and answer took
        a twentieth of the time of a call.
        """
        self._ends_at = self.loop.time() + seconds
        if self._timer is None:
            self._set_timer(self._ends_at)
        elif self._ends_at < self._rings_at:
            self._timer.cancel()
            self._set_timer(self._ends_at)

    def _set_timer(self, at: float) -> None:
        self._rings_at = at
        self._timer = self.loop.call_at(at, self._ring)

    def _stop_waiting(self) -> None:
        self._ends_at = None

    def _ring(self) -> None:
        self._timer = None
        if self._ends_at is None or self.transport.is_closing():
            return
        if self.loop.time() < self._ends_at:
            self._set_timer(self._ends_at)
        else:
            self._out_of_time()

    def _out_of_time(self) -> None:
        """Time is over: an idle connection is closed, one whose request is not whole is answered 408."""
        self._stop_waiting()
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


def _written(cycle: RequestResponseCycle, outgoing: Outgoing[Content]) -> bytes | None:
    """A whole answer as it goes on the wire; None for one that takes more than one write, or is none."""
    body = outgoing.body
    if outgoing.cut or not isinstance(body, bytes) or len(body) > PIECE:
        return None
    lines = header_lines(outgoing)
    if lines is None:
        return None
    close = "" if cycle.keep_alive else "connection: close\r\n"
    content = b"" if cycle.scope["method"] == "HEAD" or outgoing.status in WITHOUT_BODY else body
    return b"%b%b\r\n%b" % (STATUS_LINE[outgoing.status], f"{lines}{close}".encode(), content)


def _stay(data: bytes) -> bytes:
    """The beginning of a request that offers another protocol (Java's client offers HTTP/2), with the offer hidden.

    A server may ignore it; the parser, once it has seen it, takes what follows the head for the other protocol, and the
    body is lost.
    """
    if b"\r\nupgrade:" not in data.lower():  # three times as quick as the pattern
        return data
    head, end, rest = data.partition(b"\r\n\r\n")
    return _WISH.sub(rb"\1x-other\2", head) + end + rest
