"""A server in the test process without sockets. Requests and webhooks are passed in memory.

The server runs in an event loop in its own thread, without the clock that the test may freeze.
"""

from __future__ import annotations

import asyncio
from asyncio import wrap_future
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future
from itertools import count
from time import perf_counter
from urllib.parse import urlsplit

import anyio.to_thread

from simulator.engine.clients.address import CONTROL_BASE
from simulator.engine.clients.exchange import MAX_BODY_BYTES, ConnectionClosed, Headers, recorded_header
from simulator.engine.clients.synchronous import Response
from simulator.engine.lazy import run_all
from simulator.engine.server.app import Application
from simulator.engine.server.config import Config
from simulator.engine.server.http.messages import CUT, OPENED_AT
from simulator.engine.webhooks import ENDPOINTS, Outcome, check_url
from simulator.engine.webhooks.courier import transport as transports
from simulator.engine.webhooks.urls import parse_url
from simulator.host import create_app
from simulator.kernel.world import World
from simulator.testing.errors import SimulatorError, hides_traceback
from simulator.testing.links.asgi import Conversation, scope_of
from simulator.testing.links.extra import httpx
from simulator.testing.links.link import Link
from simulator.testing.links.loop_thread import LoopThread, is_handling
from simulator.testing.receiving.loopback import Answer, Request

__tracebackhide__ = hides_traceback
_HOST = "simulator.localhost"
ORIGIN = f"http://{_HOST}"
"""The URL of every in-process server. No socket listens there. Names below `localhost` never leave the machine."""
_RECEIVERS = ".receiver.localhost"
"""The host of in-process receivers. Webhooks may be sent there, as to every host below `localhost` (decision W3)."""

Handler = Callable[[Request], "Future[Answer]"]


class InProcessLink(Link):
    """A server in this process. Use the clients of its worlds, or pass `transport()` to your own client."""

    def __init__(self, config: Config | None = None) -> None:
        self.url = ORIGIN
        self._receivers = _Receivers()
        self._app = create_app(config or Config(clock="manual"), transport=self._receivers)
        self._receivers.sender_of = self._app.runtime.courier.sender_of
        self._thread = LoopThread("rampsim in process")
        self._thread.run(self._start())
        self.control("GET", "/health")
        run_all()  # import all modules now: one imported while time is frozen would keep the frozen functions

    def send(
        self, method: str, path: str, query: str, content: bytes, headers: Mapping[str, str], seconds: float | None
    ) -> Response:
        named = [(name.lower().encode(), value.encode()) for name, value in (("host", _HOST), *headers.items())]
        try:
            reply = self._wait(_Call(method, path, query.encode(), named, content), seconds)
        except _Closed:
            raise SimulatorError("The simulator in this process has been closed.") from None
        except TimeoutError:
            what = f"{method} {path.removeprefix(CONTROL_BASE)}"
            raise SimulatorError(f"{what} got no response within {seconds:g} seconds.") from None
        return Response(reply.status, dict(reply.headers), reply.body)

    def transport(self) -> httpx.BaseTransport:
        return _Transport(self)

    def async_transport(self) -> httpx.AsyncBaseTransport:
        return _AsyncTransport(self)

    def deliver_to(self, world_id: str, handler: Handler) -> tuple[str, Callable[[], object]]:
        """Deliver a world's webhooks to a handler. Return the origin of the receiver's URL, and a function that stops
        this.

        Origins are numbered per world, so they are the same in every run, and receivers in different worlds can share
        one.
        """
        return self._receivers.add(self._thread.run(self._urls_of(world_id)), world_id, handler)

    def close(self) -> None:
        if self._thread.is_alive:
            self._thread.run(self._app.runtime.close())
            self._thread.stop()

    def answer(self, request: httpx.Request, call: _Call) -> httpx.Response:
        """Return the response for an httpx client. Errors are the same as over HTTP."""
        timeout = request.extensions.get("timeout", {}).get("read")
        try:
            reply = self._wait(call, timeout)
        except _Closed:
            raise httpx.ConnectError("the simulator in this process has been closed", request=request) from None
        except TimeoutError:
            raise httpx.ReadTimeout("timed out", request=request) from None
        if reply.cut:
            raise httpx.RemoteProtocolError("Server disconnected without sending a response.", request=request)
        return httpx.Response(
            reply.status,
            headers=reply.headers,
            stream=httpx.ByteStream(reply.body),
            extensions={"http_version": b"HTTP/1.1"},
        )

    async def _start(self) -> None:
        self._app.runtime.start()

    def _wait(self, call: _Call, timeout_seconds: float | None) -> Answer:
        if not self._thread.is_alive:
            raise _Closed
        future = self._thread.submit(call.reply(self._app, calls_back=is_handling.get()))
        try:
            return future.result(timeout_seconds)
        except CancelledError:
            raise _Closed from None
        except BaseException:
            self.leave(call)
            raise

    def leave(self, call: _Call) -> None:
        """Release the waiting client. The server finishes the request in the background."""
        self._thread.loop.call_soon_threadsafe(call.leave)

    async def _urls_of(self, world_id: str) -> set[str]:
        """Return the URLs of a world's endpoints. A fork has the endpoints of the world from which it was forked."""
        world = self._app.runtime.simulator.worlds.get(world_id)
        if world is None:
            return set()
        return {
            row.url for environment in world.environments for row in world.store[ENDPOINTS.of(environment)].values()
        }


class _Closed(Exception):
    """The server of a connection has stopped."""


class _Call(Conversation):
    def __init__(self, method: str, path: str, query: bytes, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
        super().__init__(body)
        self._scope = scope_of(method, path, query, headers, _HOST)
        self._cut = False
        self.leave = self.over.set
        """Called when the client no longer waits."""

    async def reply(self, app: Application, *, calls_back: bool) -> Answer:
        """Send the request to the application and return the response. `calls_back`: True if a webhook handler made the
        request. In that case, a delivery may be waiting for the response.
        """
        opened_at = asyncio.get_running_loop().time() if calls_back else 0.0
        self._scope["extensions"] = {CUT: self._cut_off, OPENED_AT: opened_at}
        answering = asyncio.ensure_future(app(self._scope, self.receive, self.send))
        gone = asyncio.ensure_future(self.over.wait())
        await asyncio.wait({answering, gone}, return_when=asyncio.FIRST_COMPLETED)
        if answering.done():
            answering.result()
        self.leave()
        return self.answer(cut=self._cut)

    def _cut_off(self) -> None:
        self._cut = True
        self.leave()


class _Transport(httpx.BaseTransport):
    def __init__(self, link: InProcessLink) -> None:
        self._link = link

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self._link.answer(request, _call_of(request, request.read()))


class _AsyncTransport(httpx.AsyncBaseTransport):
    """The transport for asyncio and trio. A thread waits for the response."""

    def __init__(self, link: InProcessLink) -> None:
        self._link = link

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        call = _call_of(request, await request.aread())
        try:
            return await anyio.to_thread.run_sync(self._link.answer, request, call, abandon_on_cancel=True)
        except BaseException:
            self._link.leave(call)
            raise


def _call_of(request: httpx.Request, content: bytes) -> _Call:
    headers = [(name.lower(), value) for name, value in request.headers.raw]
    return _Call(request.method, request.url.path, request.url.query, headers, content)


class _Receivers:
    """Delivers webhooks: in memory to receivers in this process, over HTTP to all others."""

    def __init__(self) -> None:
        self._handlers: dict[tuple[str, str], Handler] = {}
        self._http = transports.HttpTransport()
        self.sender_of: Callable[[str], tuple[bool, World | None]] = lambda _signature: (False, None)

    def add(self, taken: set[str], world_id: str, handler: Handler) -> tuple[str, Callable[[], object]]:
        hosts = {urlsplit(url).hostname for url in taken}
        hosts |= {host for of_world, host in self._handlers if of_world == world_id}
        host = next(name for number in count(1) if (name := f"{number}{_RECEIVERS}") not in hosts)
        self._handlers[world_id, host] = handler
        return f"http://{host}", lambda: self._handlers.pop((world_id, host), None)

    async def post(self, url: str, headers: Headers, body: bytes, timeout_seconds: float, policy: str) -> Outcome:
        """Send a POST request, as `courier.transport.Transport` defines."""
        host = urlsplit(url).hostname or ""
        if not host.endswith(_RECEIVERS) or check_url(url, policy) is not None:
            return await self._http.post(url, headers, body, timeout_seconds, policy)
        sent = (("Host", host), *headers, ("Content-Length", str(len(body))), ("Connection", "close"))
        started = perf_counter()
        try:
            handler = self._handler(host, dict(headers).get("X-Signature", ""))
            reply = wrap_future(handler(Request("POST", parse_url(url).path, sent, body)))
            # The receiver continues after a timeout, as it does over HTTP.
            await asyncio.wait({reply}, timeout=timeout_seconds)
            if not reply.done():
                raise TimeoutError
            if reply.cancelled() or (answer := reply.result()).cut:
                raise ConnectionClosed
        except Exception as error:
            why = transports.describe(error, host, timeout_seconds)
            return Outcome(None, why, transports.milliseconds_since(started), sent)
        received = tuple(recorded_header(name.encode(), value.encode()) for name, value in answer.headers)
        took_ms = transports.milliseconds_since(started)
        return Outcome(answer.status, None, took_ms, sent, received, answer.body[:MAX_BODY_BYTES])

    def _handler(self, host: str, signature: str) -> Handler:
        """Return the handler for a request to this host. `signature` identifies the world that sent the request. A fork
        can deliver to the receiver of the world from which it was forked.
        """
        _known, world = self.sender_of(signature)
        own = self._handlers.get((world.id, host)) if world is not None else None
        found = own or next((other for (_id, name), other in self._handlers.items() if name == host), None)
        if found is None:
            raise ConnectionRefusedError
        return found

    async def close(self) -> None:
        await self._http.close()
