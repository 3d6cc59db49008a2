"""The ASGI application of a server: reads requests, hands them to the interface or the control, writes answers.

Plain ASGI, no middleware: the one place where HTTP bytes come in and go out.
"""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Any, Protocol

from simulator.server.endpoint import DEFECT, Endpoint
from simulator.server.hosts import Hosts
from simulator.server.messages import CUT, Gone, NoCut, Receive, Scope, Send, drop, head_of, read_body, write, write_raw
from simulator.server.runtime import Runtime
from simulator.wire.assumptions import SIMULATOR_ONLY, assume
from simulator.wire.errors import ApiError
from simulator.wire.json import MAX_BYTES, dumps

CONTROL_BASE = "/_simulator"
_STOPPING = ApiError("service_unavailable", "The simulator is stopping.")

ASSUMPTIONS = assume(
    "what the server lets through",
    SIMULATOR_ONLY,
    (
        "allowed-hosts",
        "On a loopback address the interface, too, answers only requests whose `Host` is a loopback name or named by "
        "`--allowed-host`, else 403 `forbidden`; any `Origin` may call it.",
    ),
    ("broken-bodies", "A request whose body breaks off is dropped: it is neither carried out nor journalled."),
)


@dataclass(frozen=True)
class Limits:
    """How long connections may stay idle, and how long a request may take to come in whole; wall seconds."""

    idle_seconds: float = 60.0
    request_seconds: float = 30.0


class Mounted(Protocol):
    """An ASGI application below this one."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send, /) -> None: ...


class Application:
    """The whole server as one ASGI application."""

    def __init__(
        self,
        runtime: Runtime,
        *,
        hosts: Hosts | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.runtime = runtime
        self.hosts = hosts or Hosts()
        self.limits = limits or Limits()
        self.endpoint = Endpoint(runtime)
        self._calls: set[asyncio.Task[object]] = set()
        self._stopping = False
        self.control: Mounted | None = None
        self.home: str | None = None
        """The page that a browser asking for / is sent to; without one, / is a path like any unknown one."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, whatever happens: the server below never has to speak for this application."""
        begun = False

        async def sending(message: MutableMapping[str, Any]) -> None:
            nonlocal begun
            begun = True
            await send(message)

        task: asyncio.Task[object] | None = asyncio.current_task()
        if task is not None:
            self._calls.add(task)
        try:
            if self._stopping:
                raise asyncio.CancelledError
            await self._route(scope, receive, sending)
        except Gone:
            pass
        except asyncio.CancelledError:
            if not self._stopping:
                raise
            await (_abandon(scope) if begun else _last_word(scope, send, _STOPPING))
        except NoCut:
            raise
        except Exception:
            self.runtime.log_defect()
            await (_abandon(scope) if begun else _last_word(scope, send, ApiError("internal_error", DEFECT)))
        finally:
            if task is not None:
                self._calls.discard(task)

    async def _route(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope["path"]
        if self.control is not None and (path == CONTROL_BASE or path.startswith(f"{CONTROL_BASE}/")):
            await self.control(scope, receive, send)
        elif path == "/" and scope["method"] == "GET" and self.home is not None:
            headers = [(b"location", self.home.encode()), (b"content-length", b"0")]
            await send({"type": "http.response.start", "status": 307, "headers": headers})
            await send({"type": "http.response.body", "body": b""})
        else:
            await self._serve(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                self.runtime.start()
                await send({"type": "lifespan.startup.complete"})
            else:
                await self.runtime.close()
                await send({"type": "lifespan.shutdown.complete"})
                return

    def end_calls(self) -> None:
        """End whatever is still being answered: 503, or a cut where the answer has begun."""
        self._stopping = True
        for task in tuple(self._calls):
            task.cancel()

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        incoming = head_of(scope)
        refusal = self.hosts.refusal(hosts_of(scope), scope.get("http_version", "1.1"))
        if refusal is not None:
            outgoing = await self.endpoint.refuse(incoming, ApiError("forbidden", refusal))
        else:
            body, is_whole = await read_body(receive, MAX_BYTES)
            incoming.body = body if is_whole else None
            outgoing = await self.endpoint.answer(incoming)
        await write(scope, receive, send, outgoing)


def hosts_of(scope: Scope) -> list[str]:
    """Every `Host` header of a request."""
    return [value.decode("latin-1") for name, value in scope["headers"] if name.lower() == b"host"]


async def _last_word(scope: Scope, send: Send, error: ApiError) -> None:
    headers = [(b"connection", b"close")]
    await write_raw(scope, send, error.status, dumps(error.envelope()), "application/json", headers)


async def _abandon(scope: Scope) -> None:
    """An answer that has begun cannot be taken back: its connection ends, so that nobody takes it for whole."""
    if CUT in scope.get("extensions", {}):
        drop(scope)
