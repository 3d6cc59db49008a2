"""The server as a Starlette application. Calls to the two APIs are handled before Starlette searches its routes.

Starlette searches the routes one by one for every call, which reduced the throughput by a third.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from simulator.engine.rows.error import ApiError
from simulator.engine.server.endpoint import Endpoint
from simulator.engine.server.http.boundary import CallsUnderWay, ErrorBoundary
from simulator.engine.server.http.fast_path import FastPath, Handler, Handlers, InlineCall, serve
from simulator.engine.server.http.hosts import Hosts
from simulator.engine.server.http.known_heads import Whole
from simulator.engine.server.http.messages import Incoming, Outgoing, head_of
from simulator.engine.server.performer import Answering
from simulator.engine.server.runtime import Runtime
from simulator.engine.text.json import MAX_BYTES
from simulator.kernel.dataclass import dataclass


@dataclass(frozen=True)
class ConnectionLimits:
    """Time limits for an HTTP connection, in seconds of real time."""

    idle_seconds: float = 60.0
    """How long a connection can be idle before it is closed."""
    request_seconds: float = 30.0
    """How long a request can take to arrive completely."""


class Application(Starlette):
    """The whole server: the API, the control API and additional `routes`. For any other path, the API returns 404.

    A mounted application gets no lifespan events. The clock of a world then starts with the first call to the world,
    and you must call `runtime.close()` to close the connections to webhook receivers.
    """

    def __init__(
        self,
        runtime: Runtime,
        routes: Sequence[BaseRoute] = (),
        *,
        control: Handler | None = None,
        hosts: Hosts | None = None,
        limits: ConnectionLimits | None = None,
    ) -> None:
        self.runtime = runtime
        self.limits = limits or ConnectionLimits()
        self.endpoint = Endpoint(runtime)
        self.calls = CallsUnderWay(runtime)
        self.pages = frozenset(route.path for route in routes if isinstance(route, Route))
        self.interface = Interface(self.endpoint, hosts or Hosts())
        handlers = Handlers(self.interface, self.endpoint.bases, control)
        super().__init__(
            routes=routes,
            middleware=[Middleware(ErrorBoundary, calls=self.calls), Middleware(_ApisFirst, handlers=handlers)],
            lifespan=_lifespan,
        )
        self.router.default = self.interface
        self.router.redirect_slashes = False
        self._fast_path = FastPath(handlers, self.calls)
        self._layers = len(self.user_middleware)

    @property
    def fast_path(self) -> FastPath | None:
        """The fast path to the two APIs, or None if middleware was added, which must process every call."""
        return self._fast_path if len(self.user_middleware) == self._layers else None


@asynccontextmanager
async def _lifespan(application: Application) -> AsyncIterator[None]:
    await application.runtime.begin()
    yield
    await application.runtime.close()


class Interface:
    """The simulated API. This handler also responds to every path that no other handler matches."""

    def __init__(self, endpoint: Endpoint, hosts: Hosts) -> None:
        self._endpoint = endpoint
        self._hosts = hosts

    def refusal(self, scope: Scope) -> str | None:
        """Return the reason to refuse a call because of its headers, or None to accept it."""
        return self._hosts.api_refusal(scope)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await WebSocketClose()(scope, receive, send)
        else:
            await serve(self, scope, receive, send)

    def admit(self, scope: Scope) -> InlineCall:
        refusal = self.refusal(scope)
        if refusal is not None:
            raise ApiError("forbidden", refusal)
        return InlineCall(partial(self._answer, scope), MAX_BYTES)

    def admit_known(self, whole: Whole) -> InlineCall | None:
        return (
            InlineCall(partial(self._answer_known, whole), MAX_BYTES) if self._hosts.know(whole.head.headers) else None
        )

    async def refuse(self, error: ApiError) -> Outgoing:
        return self._endpoint.refuse(error)

    def _answer_known(self, whole: Whole, body: bytes, is_whole: bool) -> Answering:
        method, path, query, head, _ = whole
        return self._endpoint.begin(Incoming(method, path, query, head.headers, body if is_whole else None))

    def _answer(self, scope: Scope, body: bytes, is_whole: bool) -> Answering:
        return self._endpoint.begin(head_of(scope, body if is_whole else None))


class _ApisFirst:
    """Middleware that passes calls directly to the API or the control API, without searching the routes."""

    def __init__(self, app: ASGIApp, handlers: Handlers) -> None:
        self._app = app
        self._handlers = handlers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        handler = self._handlers.find(scope) if scope["type"] == "http" else None
        if handler is None:
            await self._app(scope, receive, send)
        else:
            await serve(handler, scope, receive, send)
