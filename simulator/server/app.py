"""The ASGI application of a server: reads requests, hands them to the interface or the control, writes answers.

Plain ASGI, no middleware: the one place where HTTP bytes come in and go out.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from typing import Any, Protocol

from simulator.assembly import Simulator
from simulator.courier.courier import Courier
from simulator.insight import EndedWorlds
from simulator.kernel.world import World
from simulator.server.driver import Driver
from simulator.server.endpoint import DEFECT, Endpoint
from simulator.server.hosts import Hosts
from simulator.server.messages import CUT, Gone, NoCut, Receive, Scope, Send, drop, head_of, read_body, write, write_raw
from simulator.wire.errors import ApiError
from simulator.wire.json import MAX_BYTES, dumps
from simulator.wire.masking import Masker

CONTROL_BASE = "/_simulator"
_STOPPING = ApiError("service_unavailable", "The simulator is stopping.")
_log = logging.getLogger(__name__)

ASSUMPTIONS = (
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
        simulator: Simulator,
        courier: Courier | None = None,
        *,
        hosts: Hosts | None = None,
        masker: Masker | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.simulator = simulator
        self.courier = courier or Courier()
        self.hosts = hosts or Hosts()
        self.masker = masker or Masker()
        self.limits = limits or Limits()
        self.watchers: list[Callable[[World], None]] = []
        self.ended_worlds = EndedWorlds(simulator.operations)
        self.on_end: list[Callable[[World], None]] = []
        """Told of every world that lives no more: deleted, or replaced by another of its id."""
        self._calls: set[asyncio.Task[object]] = set()
        self._remembering: asyncio.Task[None] | None = None
        self._stopping = False
        self.driver = Driver(self.courier, self.changed)
        self.closers: list[Callable[[], None]] = [self.driver.end_advances]
        self.courier.on_change = self._reported
        self.courier.before_report = self.driver.bring_up_to_date
        self.endpoint = Endpoint(simulator, self.courier, self.driver, self.changed, self.masker)
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

    def attach(self, world: World) -> None:
        """A world lives from now on: it was made, or put in place of another."""
        self.driver.anchor(world)
        self.changed(world)

    def detach(self, world: World) -> None:
        """A world lives no more: its clock stands still and what is on its way from it is cut off."""
        self.driver.forget(world)
        self.courier.forget(world)
        self.ended_worlds.keep(world)
        self._begin_to_remember()
        for listener in (*self.on_end, *self.watchers):
            listener(world)

    async def remembered(self) -> None:
        """Wait until what is known of all worlds that have ended is in `ended_worlds`."""
        while not self.ended_worlds.is_complete:
            await asyncio.wait({self._begin_to_remember()})

    def _begin_to_remember(self) -> asyncio.Task[None]:
        if self._remembering is None or self._remembering.done():
            self._remembering = asyncio.get_running_loop().create_task(self._remember())
        return self._remembering

    async def _remember(self) -> None:
        """Take in the worlds that have ended, one after another, beside the loop."""
        while not self.ended_worlds.is_complete:
            try:
                await asyncio.to_thread(self.ended_worlds.take_in)
            except Exception:
                self.log_defect()

    def _reported(self, world: World) -> None:
        """The courier reported an attempt; while the clock is being moved, only that fires timers."""
        self.driver.begin_firing(world)
        self.changed(world)

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
            self.log_defect()
            await (_abandon(scope) if begun else _last_word(scope, send, ApiError("internal_error", DEFECT)))
        finally:
            if task is not None:
                self._calls.discard(task)

    def log_defect(self) -> None:
        """Log the exception being handled, without the secrets its message may hold."""
        _log.error("a defect of the simulator\n%s", self.masker.text(traceback.format_exc()))

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

    def end_calls(self) -> None:
        """End whatever is still being answered: 503, or a cut where the answer has begun."""
        self._stopping = True
        for task in tuple(self._calls):
            task.cancel()

    async def close(self) -> None:
        self.end_streams()
        self.driver.close()
        await self.courier.close()

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
