"""The server as a Starlette application: its routes, and in front of them the interface and the control interface.

Both are plain ASGI with a router of their own, because a list of routes that is searched one after another costs
a third of their throughput; everything else are routes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, MutableMapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from simulator.engine.clients.address import CONTROL_BASE
from simulator.engine.rows.error import ApiError, ControlError
from simulator.engine.server import storage
from simulator.engine.server.endpoint import DEFECT, Endpoint
from simulator.engine.server.http.hosts import Hosts, is_of_a_page
from simulator.engine.server.http.inline import Begun
from simulator.engine.server.http.messages import (
    CUT,
    NoCut,
    Outgoing,
    drop,
    enter_world,
    head_of,
    read_body,
    route_path,
    write,
    write_raw,
)
from simulator.engine.server.running.chunks import Content
from simulator.engine.server.runtime import Runtime
from simulator.engine.text.json import MAX_BYTES, dumps
from simulator.kernel.dataclass import dataclass

_STOPPING = ApiError("service_unavailable", "The simulator is stopping.")


@dataclass(frozen=True)
class ConnectionLimits:
    """How long connections may stay idle, and how long a request may take to come in whole; wall seconds."""

    idle_seconds: float = 60.0
    request_seconds: float = 30.0


class Way(Protocol):
    """A call that may be answered without ASGI, because it is in memory already."""

    def begin(self, body: bytes) -> Outgoing[Content] | None:
        """Begin to answer it; mostly that is all. None where it has to wait, or is not answered in one."""

    async def rest(self, scope: Scope, receive: Receive, send: Send) -> None:
        """What is left of it then, as an ASGI application."""


class Steering(Protocol):
    """The control interface, below `CONTROL_BASE`."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None: ...

    def way_of(self, scope: Scope) -> Way | None:
        """The short way of a call whose head has come in; None for one that is to be refused."""


class Application(Starlette):
    """The whole server. `routes` are what it answers besides interface and control interface (`steering`); any other
    path is the interface's 404.

    Mounted in another application it works without the events of a lifespan, which Starlette does not send to what is
    mounted: running clocks then begin to run with the first call of their world. `runtime.close()` lets go of the
    connections to receivers of webhooks.
    """

    def __init__(
        self,
        runtime: Runtime,
        routes: Sequence[BaseRoute] = (),
        *,
        steering: Steering | None = None,
        hosts: Hosts | None = None,
        limits: ConnectionLimits | None = None,
    ) -> None:
        self.runtime = runtime
        self.limits = limits or ConnectionLimits()
        self.endpoint = Endpoint(runtime)
        self.calls = CallsUnderWay(runtime)
        self.pages = frozenset(route.path for route in routes if isinstance(route, Route))
        hosts = hosts or Hosts()
        self.interface = Interface(self.endpoint, hosts)
        super().__init__(
            routes=routes,
            middleware=[
                Middleware(ErrorBoundary, calls=self.calls),
                Middleware(InterfacesFirst, interface=self.interface, steering=steering),
            ],
            lifespan=_lifespan,
        )
        self.router.default = self.interface
        self.router.redirect_slashes = False
        self._at_once = AtOnce(self.endpoint, steering, hosts, self.calls)
        self._layers = len(self.user_middleware)

    @property
    def at_once(self) -> AtOnce | None:
        """The short way to both interfaces; None where somebody has put a middleware of his own before them."""
        return self._at_once if len(self.user_middleware) == self._layers else None

    def end_calls(self) -> None:
        """End whatever is still being answered: 503, or a cut where the answer has begun."""
        self.calls.end()


@asynccontextmanager
async def _lifespan(application: Application) -> AsyncIterator[None]:
    await application.runtime.begin()
    yield
    await application.runtime.close()


class Interface:
    """The interface itself, and whatever path nobody else knows."""

    def __init__(self, endpoint: Endpoint, hosts: Hosts) -> None:
        self._endpoint = endpoint
        self._hosts = hosts
        self.bases = endpoint.bases

    def refusal(self, scope: Scope) -> str | None:
        """Return why a call is refused before its body is read, or None if it is not."""
        return self._hosts.refusal(scope) or self._hosts.page_refusal(scope)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await WebSocketClose()(scope, receive, send)
            return
        refusal = self.refusal(scope)
        if refusal is not None:
            outgoing = self._endpoint.refuse(ApiError("forbidden", refusal))
        else:
            incoming = head_of(scope)
            body, is_whole = await read_body(receive, MAX_BYTES)
            incoming.body = body if is_whole else None
            outgoing = await self._endpoint.answer(incoming)
        await write(scope, receive, send, outgoing)


class InterfacesFirst:
    """Middleware: a path under a base of an interface goes to that interface, before any route is searched."""

    def __init__(self, app: ASGIApp, interface: Interface, steering: Steering | None) -> None:
        self._app = app
        self._interface = interface
        self._steering = steering

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            enter_world(scope, self._interface.bases)
        path = route_path(scope) if scope["type"] == "http" else ""
        if path.startswith(self._interface.bases):
            await self._interface(scope, receive, send)
        elif self._steering is not None and (path.startswith(_CONTROL) or path == CONTROL_BASE):
            await self._steering(scope, receive, send)
        else:
            await self._app(scope, receive, send)


_CONTROL = f"{CONTROL_BASE}/"


class AtOnce:
    """The short way of a call to either interface, without ASGI, for a server that has it in memory already."""

    def __init__(self, endpoint: Endpoint, steering: Steering | None, hosts: Hosts, calls: CallsUnderWay) -> None:
        self._endpoint = endpoint
        self._steering = steering
        self._hosts = hosts
        self._calls = calls

    @property
    def persistence(self) -> storage.Persistence | None:
        """What an answer has to wait for before it leaves."""
        return self._calls.runtime.persistence

    def way_of(self, scope: Scope) -> Way | None:
        """The way of a call that may go it once its body is whole: it is one of an interface, and not refused.

        A call of a web page never goes it: its own origin has the scheme that a proxy in front names, which only the
        server beneath ASGI knows to believe.
        """
        enter_world(scope, self._endpoint.bases)
        path = route_path(scope)
        if self._calls.are_ending or (self.persistence is not None and self.persistence.refusal is not None):
            return None
        if path.startswith(self._endpoint.bases):
            is_answered = not is_of_a_page(scope) and self._hosts.refusal(scope) is None
            return _InterfaceWay(self._endpoint, scope) if is_answered else None
        return self._steering.way_of(scope) if self._steering is not None and path.startswith(_CONTROL) else None

    def rest_of(self, way: Way) -> ASGIApp:
        """The application that ends a call which has to wait, or whose answer is not sent in one."""
        return ErrorBoundary(way.rest, self._calls)


class _InterfaceWay:
    """The short way of a call to the interface."""

    __slots__ = ("_begun", "_endpoint", "_scope")

    def __init__(self, endpoint: Endpoint, scope: Scope) -> None:
        self._endpoint = endpoint
        self._scope = scope

    def begin(self, body: bytes) -> Outgoing | None:
        incoming = head_of(self._scope)
        incoming.body = body
        self._begun = begun = Begun(self._endpoint.answer(incoming))
        return begun.result if begun.is_done else None

    async def rest(self, scope: Scope, receive: Receive, send: Send) -> None:
        await write(scope, receive, send, await self._begun)


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
    """Middleware: answers whatever was raised, so that uvicorn never has to answer in its place.

    Where worlds are kept beyond the process, no answer leaves before what it tells is kept, but for that of a stream.
    Around a boundary that sees to this, another one (`settles=False`) need not.
    """

    def __init__(self, app: ASGIApp, calls: CallsUnderWay, *, settles: bool = True) -> None:
        self._app = app
        self._calls = calls
        self._settles = settles

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, calls = False, self._calls
        persistence = calls.runtime.persistence if self._settles else None
        if persistence is not None and storage.is_of_the_server(scope["path"]):
            persistence = None
        generation = 0 if persistence is None else persistence.generation

        async def sending(message: MutableMapping[str, Any]) -> None:
            nonlocal begun
            if persistence is not None and not begun and not _is_stream(message):
                await _settled(persistence, generation)
            begun = True
            await send(message)

        task: asyncio.Task[object] | None = asyncio.current_task()
        is_outermost = task is not None and task not in calls.tasks
        if task is not None:
            calls.tasks.add(task)
        try:
            if calls.are_ending:
                raise asyncio.CancelledError
            if persistence is not None and persistence.refusal is not None:
                raise storage.Unavailable(persistence.refusal)
            await self._app(scope, receive, sending)
        except ClientDisconnect:
            pass
        except asyncio.CancelledError:
            if not calls.are_ending:
                raise
            await (_abandon(scope) if begun else _say(scope, send, _STOPPING))
        except NoCut:
            raise
        except storage.Unavailable as error:
            await (_abandon(scope) if begun else _say(scope, send, storage.unavailable(scope["path"], str(error))))
        except Exception:
            calls.runtime.log_defect()
            await (_abandon(scope) if begun else _say(scope, send, ApiError("internal_error", DEFECT)))
        finally:
            if task is not None and is_outermost:
                calls.tasks.discard(task)


async def _settled(persistence: storage.Persistence, generation: int) -> None:
    """Wait until what has happened is kept; Unavailable where it is not, or is thrown away meanwhile."""
    if (unsettled := persistence.unsettled()) is not None:
        await asyncio.shield(unsettled)
    if persistence.generation != generation:
        raise storage.Unavailable("what this call did was thrown away, because it could not be kept; nothing was done")


def _is_stream(message: MutableMapping[str, Any]) -> bool:
    """Whether an answer begins that tells what happens as it happens."""
    return (b"content-type", b"text/event-stream; charset=utf-8") in message.get("headers", ())


async def _say(scope: Scope, send: Send, error: ApiError | ControlError) -> None:
    headers = [(b"connection", b"close")]
    headers += [(name.lower().encode(), value.encode()) for name, value in storage.headers_of(error).items()]
    await write_raw(scope, send, error.status, dumps(error.envelope()), "application/json", headers)


async def _abandon(scope: Scope) -> None:
    """An answer that has begun cannot be taken back: its connection ends, so that nobody takes it for whole."""
    if CUT in scope.get("extensions", {}):
        drop(scope)
