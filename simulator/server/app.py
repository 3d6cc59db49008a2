"""The ASGI application of a server: reads requests, hands them to the interface or the control, writes answers.

Plain ASGI, no middleware: the one place where HTTP bytes come in and go out.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Protocol, TypeAlias

from simulator.assembly import Simulator
from simulator.courier.courier import Courier
from simulator.insight import Past
from simulator.kernel.world import World
from simulator.server.driver import Driver
from simulator.server.endpoint import Endpoint
from simulator.server.messages import Incoming, Outgoing
from simulator.wire.json import MAX_BYTES

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
CONTROL_BASE = "/_simulator"
CONTROL_MAX_BYTES = 256 * 1024 * 1024


class Mounted(Protocol):
    """An ASGI application below this one."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send, /) -> None: ...


class Application:
    """The whole server as one ASGI application."""

    def __init__(self, simulator: Simulator, courier: Courier | None = None) -> None:
        self.simulator = simulator
        self.courier = courier or Courier()
        self.watchers: list[Callable[[World], None]] = []
        self.past = Past(simulator.operations)
        self.driver = Driver(self.courier, self.changed)
        self.closers: list[Callable[[], None]] = [self.driver.end_advances]
        self.courier.on_change = self._reported
        self.courier.before_report = self.driver.bring_up_to_date
        self.endpoint = Endpoint(simulator, self.courier, self.driver, self.changed)
        self.control: Mounted | None = None
        self.home: str | None = None
        """The page that a browser asking for / is sent to; without one, / is a path like any unknown one."""

    def changed(self, world: World) -> None:
        """Something happened in a world: tell the courier, the alarm of its clock, and whoever watches.

        In a world that lives no more (a call was still under way when it was reset) nothing starts any more.
        """
        if self.simulator.worlds.get(world.id) is not world:
            return
        self.courier.pump(world)
        if not self.driver.is_busy(world):
            self.driver.set_alarm(world)
        for watcher in self.watchers:
            watcher(world)

    async def follow_up(self, world: World) -> None:
        """A call changed a world: what it planned without delay fires, then everybody is told."""
        await self.driver.fire_due(world)
        self.changed(world)

    def begin(self, world: World) -> None:
        """A world lives from now on: it was made, or put in place of another."""
        self.driver.anchor(world)
        self.changed(world)

    def end(self, world: World) -> None:
        """A world lives no more: its clock stands still and what is on its way from it is cut off."""
        self.driver.forget(world)
        self.courier.forget(world)
        self.past.keep(world)
        for watcher in self.watchers:
            watcher(world)

    def _reported(self, world: World) -> None:
        """The courier reported an attempt; while the clock is being moved, only that fires timers."""
        self.driver.begin_firing(world)
        self.changed(world)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
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
                for world in self.simulator.worlds.values():
                    self.driver.anchor(world)
                await send({"type": "lifespan.startup.complete"})
            else:
                await self.close()
                await send({"type": "lifespan.shutdown.complete"})
                return

    def end_streams(self) -> None:
        """End the answers that would go on for ever, so that the server can stop."""
        for closer in self.closers:
            closer()

    async def close(self) -> None:
        self.end_streams()
        self.driver.close()
        await self.courier.close()

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        incoming = await read(scope, receive, MAX_BYTES)
        outgoing = await self.endpoint.answer(incoming)
        await write(scope, receive, send, outgoing, with_body=incoming.method != "HEAD")


async def read(scope: Scope, receive: Receive, limit: int) -> Incoming:
    """The request with its whole body, or without one when it is larger than `limit`."""
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            break
        chunk: bytes = message.get("body", b"")
        size += len(chunk)
        if size <= limit:
            chunks.append(chunk)
        if not message.get("more_body", False):
            break
    body = b"".join(chunks) if size <= limit else None
    return Incoming(scope["method"], scope["path"], scope["query_string"], headers, body)


CUT = "simulator.cut"
"""The ASGI extension by which the HTTP server offers to drop the connection."""


async def write(scope: Scope, receive: Receive, send: Send, outgoing: Outgoing, *, with_body: bool = True) -> None:
    """Write an answer; one that is cut drops the connection without a byte."""
    if outgoing.cut:
        cut = scope.get("extensions", {}).get(CUT)
        if cut is None:
            raise ConnectionError("the connection was cut by a fault")
        cut()
        while (await receive())["type"] != "http.disconnect":
            pass
        return
    headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in outgoing.headers.items()]
    if outgoing.status != 204:
        headers.append((b"content-type", b"application/json"))
        headers.append((b"content-length", str(len(outgoing.body)).encode()))
    await send({"type": "http.response.start", "status": outgoing.status, "headers": headers})
    await send({"type": "http.response.body", "body": outgoing.body if with_body else b""})
