"""Uvicorn's HTTP protocol, extended with size limits, time limits and the fast path.

A call that has arrived completely runs inline (see `fast_path`), and its response is sent in one write. If its headers
are known (see `known_heads`), the parser is not used. Calls that wait, pipelined calls, and calls with long bodies or
streamed responses run in ASGI tasks, as in uvicorn.
"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from simulator.engine.rows.error import ApiError
from simulator.engine.server.http.known_heads import Whole
from simulator.engine.server.http.messages import CUT, OPENED_AT, PARSED, WITHOUT_BODY, Outgoing, header_lines
from simulator.engine.server.running.chunks import PIECE, Content
from simulator.engine.text.json import dumps
from simulator.kernel.patterns import compile_late

if TYPE_CHECKING:
    from uvicorn._types import ASGI3Application

    from simulator.engine.server.app import Application
    from simulator.engine.server.http.fast_path import InlineCall

MAX_HEAD_BYTES = 64 * 1024
"""The maximum size of the request line and headers together."""

_UPGRADE = compile_late(rb"(\r\n)upgrade(:)", re.IGNORECASE)

_REASONS = {400: "Bad Request", 408: "Request Timeout", 431: "Request Header Fields Too Large"}
_TOO_LARGE = (431, f"The request line and headers are larger than {MAX_HEAD_BYTES} bytes.")


class _HeadTooLarge(Exception):
    """Raised if the request line and headers are longer than `MAX_HEAD_BYTES`."""


class BoundedProtocol(HttpToolsProtocol):
    """One HTTP connection. The application can drop the connection, and a timer can close it.

    The timer closes the connection if it is idle or if a request does not arrive in time. The timer never expires while
    the server is responding to a complete request.
    """

    _reading_head = False
    _head_bytes = 0
    _incomplete = False
    _begins = False
    _timer: asyncio.TimerHandle | None = None
    _ends_at: float | None = None
    _cycle_arriving: RequestResponseCycle | None = None
    """The request that is currently arriving, if it will run inline once it is complete."""
    _call: InlineCall | None = None
    """The same request, as accepted by the fast path."""
    _unknown: bytes | None = None
    """The data that begins with the header block of the next request, if the block may be stored in `KnownHeads`."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # of TCP
        super().connection_made(transport)
        application: Application = self.config.app  # type: ignore[assignment]  # uvicorn knows only that it is ASGI
        self._limits, self._fast_path = application.limits, application.fast_path
        self._refusal = (400, "This is not a valid HTTP request.")
        self._opened_at = self.loop.time()
        self._unanswered: list[RequestResponseCycle] = []
        self._scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": self.asgi_version, "spec_version": "2.3"},
            "http_version": "1.1",
            "server": self.server,
            "client": self.client,
            "scheme": self.scheme,
            "root_path": self.root_path,
            "extensions": {CUT: transport.abort, OPENED_AT: self._opened_at},
        }
        self._wait(self._limits.request_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        """Notify all calls on this connection that the client has disconnected. Uvicorn notifies only the newest."""
        self._cycle_arriving = None
        self._stop_waiting()
        if self._timer is not None:
            self._timer.cancel()
        for cycle in self._unanswered:
            if not cycle.response_complete:
                cycle.disconnected = True
                cycle.message_event.set()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        # The exact size is known once the headers are complete. This check limits headers that never end.
        if self._reading_head:
            self._head_bytes += len(data)
        if self._head_bytes > MAX_HEAD_BYTES:
            self._refusal = _TOO_LARGE
            self.send_400_response("")
            return
        fast_path, self._unknown = self._fast_path, None
        if fast_path is not None and not self._incomplete and (self.cycle is None or self.cycle.response_complete):
            whole = fast_path.known_heads.split(data)
            if whole is not None and len(whole.body) <= HIGH_WATER_LIMIT and self._answered(whole):
                return
            self._unknown = data
        self._chunk_bytes, self._has_answered, self._begins = len(data), False, False
        super().data_received(data if self._incomplete else _without_upgrade(data))
        if self._begins and self._incomplete:  # A request that arrived in one piece needs no timer.
            self._wait(self._limits.request_seconds)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        scope: Any = self.scope
        scope["extensions"] = {CUT: self.transport.abort, OPENED_AT: self._opened_at}
        self._reading_head, self._head_bytes, self._incomplete, self._begins = True, 0, True, True
        self._begun_in_bytes = self._chunk_bytes

    def on_headers_complete(self) -> None:
        # The headers are never longer than the chunks they arrived in, so their size rarely has to be computed.
        if self._begun_in_bytes + self._head_bytes > MAX_HEAD_BYTES and self._size_of_head() > MAX_HEAD_BYTES:
            self._refusal = _TOO_LARGE
            raise _HeadTooLarge
        self._reading_head, self._head_bytes = False, 0
        if self._unknown is not None and self._fast_path is not None:
            self._fast_path.known_heads.learn(self._unknown, self.headers)
            self._unknown = None
        super().on_headers_complete()
        # Responses are sent in the order of the requests.
        if self._unanswered and self._unanswered[-1].response_complete:
            self._unanswered.clear()
        self._unanswered.append(self.cycle)

    def _size_of_head(self) -> int:
        return len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        """Start a request whose headers are complete, after the responses to all earlier requests were sent."""
        # If the body has already arrived, the request was pipelined behind another one, and `on_message_complete`
        # will not be called again. Uvicorn asks for the body of an `Expect: 100-continue` request only in an ASGI
        # task.
        is_arriving = cycle.more_body and not cycle.waiting_for_100_continue
        scope: Any = cycle.scope
        call = self._fast_path.accept(scope) if is_arriving and self._fast_path is not None else None
        if call is not None:
            self._cycle_arriving, self._call = cycle, call
        else:
            super()._start_asgi_task(cycle, app)

    def on_body(self, body: bytes) -> None:
        super().on_body(body)
        # Uvicorn stops reading at this size until the body is received by the application, so a longer body never
        # becomes complete.
        if self._cycle_arriving is not None and len(self._cycle_arriving.body) > HIGH_WATER_LIMIT:
            self._to_asgi(self._cycle_arriving, self.app)

    def on_message_complete(self) -> None:
        self._incomplete = False
        super().on_message_complete()
        if self._cycle_arriving is not None:
            self._answer(self._cycle_arriving)
        elif self.cycle is not None and self.cycle.response_complete:
            self._wait(self._limits.idle_seconds)
        else:
            self._stop_waiting()

    def _answered(self, whole: Whole) -> bool:
        """Carry out a request that was read without the parser. Return False if the fast path does not accept it."""
        fast_path = self._fast_path
        assert fast_path is not None
        call, scope = None if self.root_path else fast_path.accept_known(whole), None
        if call is None:
            scope = self._scope_of(whole)
            call = fast_path.accept(scope)
        if call is None:
            return False
        outgoing = call.begin(whole.body)
        waits = outgoing is None or fast_path.must_wait(whole.path)
        raw = None if outgoing is None or waits else _in_one_piece(whole.method, outgoing)
        if raw is not None and not self.flow.write_paused:
            self.transport.write(raw)
            self.server_state.total_requests += 1
            if not self.transport.is_closing():
                self._wait(self._limits.idle_seconds)
            return True
        self.scope = self._scope_of(whole) if scope is None else scope
        self.headers = whole.head.raw
        cycle = self.cycle = RequestResponseCycle(
            scope=self.scope,
            transport=self.transport,
            flow=self.flow,
            logger=self.logger,
            access_logger=self.access_logger,
            access_log=self.access_log,
            default_headers=self.server_state.default_headers,
            message_event=asyncio.Event(),
            expect_100_continue=False,
            keep_alive=True,
            on_response=self.on_response_complete,
        )
        cycle.body, cycle.more_body = bytearray(whole.body), False
        self._unanswered[:] = [cycle]
        self._to_asgi(cycle, fast_path.finisher(call))
        return True

    def _scope_of(self, whole: Whole) -> Any:
        """Return the ASGI scope of a request that was read without the parser."""
        path = self.root_path + whole.path
        return self._scope | {
            "method": whole.method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": whole.query,
            "headers": whole.head.raw,
            "state": self.app_state.copy(),
            PARSED: whole.head.headers,
        }

    def _answer(self, cycle: RequestResponseCycle) -> None:
        """Carry out a complete request. The request runs inline if it is the first request in a chunk of received data.

        Further requests in the chunk run in tasks. Otherwise, a client that pipelines a thousand requests would block
        all other clients.
        """
        fast_path, call = self._fast_path, self._call
        if fast_path is None or call is None or self._has_answered:
            self._to_asgi(cycle, self.app)
            return
        self._cycle_arriving, self._call, self._has_answered = None, None, True
        scope: Any = cycle.scope
        outgoing = call.begin(bytes(cycle.body))
        waits = outgoing is None or fast_path.must_wait(scope["path"])
        raw = (
            None if outgoing is None or waits else _in_one_piece(scope["method"], outgoing, closes=not cycle.keep_alive)
        )
        if raw is None or self.flow.write_paused:
            self._to_asgi(cycle, fast_path.finisher(call))
            return
        self.transport.write(raw)
        cycle.response_started = cycle.response_complete = True
        if not cycle.keep_alive:
            self.transport.close()
        self.on_response_complete()

    def _to_asgi(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._cycle_arriving = None
        if not self._incomplete:
            self._stop_waiting()
        super()._start_asgi_task(cycle, app)

    def on_response_complete(self) -> None:
        """Start the next request, or the idle timer, which unlike that of uvicorn takes arriving data into account."""
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
        elif not self._incomplete:
            self._wait(self._limits.idle_seconds)

    def shutdown(self) -> None:
        """Close the connection after its calls, including a request that is still arriving, have ended."""
        if self._cycle_arriving is not None:
            self._to_asgi(self._cycle_arriving, self.app)
        super().shutdown()

    def _wait(self, seconds: float) -> None:
        """Set the connection to be closed after `seconds`, unless `_wait` or `_stop_waiting` is called before then.

        The running timer is not replaced. When it fires, it checks `_ends_at` and is set again if necessary. Creating
        a new timer for every request and response took 5% of the time per call.
        """
        self._ends_at = self.loop.time() + seconds
        if self._timer is None:
            self._set_timer(self._ends_at)
        elif self._ends_at < self._timer_at:
            self._timer.cancel()
            self._set_timer(self._ends_at)

    def _set_timer(self, at: float) -> None:
        self._timer_at = at
        self._timer = self.loop.call_at(at, self._on_timer)

    def _stop_waiting(self) -> None:
        self._ends_at = None

    def _on_timer(self) -> None:
        self._timer = None
        if self._ends_at is None or self.transport.is_closing():
            return
        if self.loop.time() < self._ends_at:
            self._set_timer(self._ends_at)
            return
        self._stop_waiting()
        if not self._incomplete:
            self.transport.close()
            return
        seconds = self._limits.request_seconds
        self._refusal = (408, f"The request did not arrive completely within {seconds:g} seconds.")
        self.send_400_response("")

    def send_400_response(self, msg: str) -> None:
        """Close the connection, after an error response unless an earlier request still waits for its response."""
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


def _in_one_piece(method: str, outgoing: Outgoing[Content], *, closes: bool = False) -> bytes | None:
    """Return a response as bytes (`closes`: the last one), or None if it is cut or needs several writes."""
    body = outgoing.body
    if outgoing.cut or not isinstance(body, bytes) or len(body) > PIECE:
        return None
    lines = header_lines(outgoing)
    if lines is None:
        return None
    close = "connection: close\r\n" if closes else ""
    content = b"" if method == "HEAD" or outgoing.status in WITHOUT_BODY else body
    return b"%b%b\r\n%b" % (STATUS_LINE[outgoing.status], f"{lines}{close}".encode(), content)


def _without_upgrade(data: bytes) -> bytes:
    """Hide the `Upgrade` header of a request. Java's HTTP client sends this header to offer HTTP/2.

    The server ignores the offer, but the parser does not: it would treat everything after the headers as HTTP/2, and
    the body would be lost.
    """
    if b"\r\nupgrade:" not in data.lower():  # This check takes a third of the time of the pattern.
        return data
    head, end, rest = data.partition(b"\r\n\r\n")
    return _UPGRADE.sub(rb"\1x-other\2", head) + end + rest
