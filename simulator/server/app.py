"""The server as a Starlette application: its routes, and the interface in front of them.

The interface is plain ASGI with a router of its own, because a list of routes that is searched one after another costs
a third of its throughput; everything else (control interface, pages, stream) are routes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, MutableMapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from simulator.kernel.dataclass import dataclass
from simulator.server.eager import Begun
from simulator.server.endpoint import BASES, DEFECT, Endpoint
from simulator.server.hosts import Hosts
from simulator.server.messages import CUT, NoCut, Outgoing, drop, head_of, read_body, route_path, write, write_raw
from simulator.server.runtime import Runtime
from simulator.wire.errors import ApiError
from simulator.wire.json import MAX_BYTES, dumps

_STOPPING = ApiError("service_unavailable", "The simulator is stopping.")


@dataclass(frozen=True)
class ConnectionLimits:
    """How long connections may stay idle, and how long a request may take to come in whole; wall seconds."""

    idle_seconds: float = 60.0
    request_seconds: float = 30.0


class Application(Starlette):
    """The whole server. `routes` are what it answers besides the interface; any other path is the interface's 404.

    Mounted in another application it works without the events of a lifespan, which Starlette does not send to what is
    mounted: running clocks then begin to run with the first call of their world. `runtime.close()` lets go of the
    connections to receivers of webhooks.
    """

    def __init__(
        self,
        runtime: Runtime,
        routes: Sequence[BaseRoute] = (),
        *,
        hosts: Hosts | None = None,
        limits: ConnectionLimits | None = None,
    ) -> None:
        self.runtime = runtime
        self.limits = limits or ConnectionLimits()
        self.endpoint = Endpoint(runtime)
        self.calls = CallsUnderWay(runtime)
        hosts = hosts or Hosts()
        self.interface = Interface(self.endpoint, hosts)
        super().__init__(
            routes=routes,
            middleware=[
                Middleware(ErrorBoundary, calls=self.calls),
                Middleware(InterfaceFirst, interface=self.interface),
            ],
            lifespan=_lifespan,
        )
        self.router.default = self.interface
        self.router.redirect_slashes = False
        self._at_once = AtOnce(self.endpoint, hosts, self.calls)
        self._layers = len(self.user_middleware)

    @property
    def at_once(self) -> AtOnce | None:
        """The short way to the interface; None where somebody has put a middleware of his own before it."""
        return self._at_once if len(self.user_middleware) == self._layers else None

    def end_calls(self) -> None:
        """End whatever is still being answered: 503, or a cut where the answer has begun."""
        self.calls.end()


@asynccontextmanager
async def _lifespan(application: Application) -> AsyncIterator[None]:
    application.runtime.start()
    yield
    await application.runtime.close()


class Interface:
    """The interface itself, and whatever path nobody else knows."""

    def __init__(self, endpoint: Endpoint, hosts: Hosts) -> None:
        self._endpoint = endpoint
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await WebSocketClose()(scope, receive, send)
            return
        incoming = head_of(scope)
        refusal = self._hosts.refusal(scope)
        if refusal is not None:
            outgoing = await self._endpoint.refuse(incoming, ApiError("forbidden", refusal))
        else:
            body, is_whole = await read_body(receive, MAX_BYTES)
            incoming.body = body if is_whole else None
            outgoing = await self._endpoint.answer(incoming)
        await write(scope, receive, send, outgoing)


class InterfaceFirst:
    """Middleware: a path under a base of the interface goes to the interface, before any route is searched."""

    def __init__(self, app: ASGIApp, interface: Interface) -> None:
        self._app = app
        self._interface = interface

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and route_path(scope).startswith(_BASES):
            await self._interface(scope, receive, send)
        else:
            await self._app(scope, receive, send)


_BASES = tuple(f"{base}/" for base in BASES)


class AtOnce:
    """The short way of a call to the interface, without ASGI, for a server that has it in memory already."""

    def __init__(self, endpoint: Endpoint, hosts: Hosts, calls: CallsUnderWay) -> None:
        self._endpoint = endpoint
        self._hosts = hosts
        self._calls = calls

    def takes(self, scope: Scope) -> bool:
        """Whether a call may go this way once its body is whole: it is one of the interface, and not refused."""
        return (
            route_path(scope).startswith(_BASES) and self._hosts.refusal(scope) is None and not self._calls.are_ending
        )

    def begin(self, scope: Scope, body: bytes) -> Begun[Outgoing]:
        """Begin to answer a call; mostly that is all."""
        incoming = head_of(scope)
        incoming.body = body
        return Begun(self._endpoint.answer(incoming))

    def rest_of(self, begun: Begun[Outgoing]) -> ASGIApp:
        """The application that ends a call which has to wait, or whose answer is not sent in one."""

        async def rest(scope: Scope, receive: Receive, send: Send) -> None:
            await write(scope, receive, send, await begun)

        return ErrorBoundary(rest, self._calls)


class CallsUnderWay:
    """What is being answered right now, so that a server that stops can end it."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.tasks: set[asyncio.Task[object]] = set()
        self.are_ending = False

    def end(self) -> None:
        self.are_ending = True
        for task in tuple(self.tasks):
            task.cancel()


class ErrorBoundary:
    """Middleware: answers whatever was raised, so that uvicorn never has to answer in its place."""

    def __init__(self, app: ASGIApp, calls: CallsUnderWay) -> None:
        self._app = app
        self._calls = calls

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, calls = False, self._calls

        async def sending(message: MutableMapping[str, Any]) -> None:
            nonlocal begun
            begun = True
            await send(message)

        task: asyncio.Task[object] | None = asyncio.current_task()
        if task is not None:
            calls.tasks.add(task)
        try:
            if calls.are_ending:
                raise asyncio.CancelledError
            await self._app(scope, receive, sending)
        except ClientDisconnect:
            pass
        except asyncio.CancelledError:
            if not calls.are_ending:
                raise
            await (_abandon(scope) if begun else _say(scope, send, _STOPPING))
        except NoCut:
            raise
        except Exception:
            calls.runtime.log_defect()
            await (_abandon(scope) if begun else _say(scope, send, ApiError("internal_error", DEFECT)))
        finally:
            if task is not None:
                calls.tasks.discard(task)


async def _say(scope: Scope, send: Send, error: ApiError) -> None:
    headers = [(b"connection", b"close")]
    await write_raw(scope, send, error.status, dumps(error.envelope()), "application/json", headers)


async def _abandon(scope: Scope) -> None:
    """An answer that has begun cannot be taken back: its connection ends, so that nobody takes it for whole."""
    if CUT in scope.get("extensions", {}):
        drop(scope)
