"""The argument of control call handlers, and how they wait, move clocks and read query parameters."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from math import inf
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect

from simulator.engine.clients.address import CONTROL_BASE
from simulator.engine.control.access import EVERYBODY, Access
from simulator.engine.control.history.lookups import Lookups
from simulator.engine.control.refusals import clock_busy, invalid_parameter, invalid_state, unanswered
from simulator.engine.control.shapes import StoppedScenarios, show_receipt
from simulator.engine.rows.error import ControlError
from simulator.engine.scenario.play.stops import stopped_since
from simulator.engine.server.running.advance import AdvanceCancelled, ClockBusy, Receipt, Target
from simulator.engine.server.runtime import Runtime
from simulator.engine.server.storage import unreadable_error
from simulator.engine.text.strict import is_whole
from simulator.engine.webhooks.courier.courier import Patience, Unanswered
from simulator.engine.worlds.simulator import Simulator
from simulator.kernel.clock import LAST_MS
from simulator.kernel.dataclass import dataclass
from simulator.kernel.journal import newest
from simulator.kernel.world import DEFAULT_WORLD, World

T = TypeVar("T")
WORLD_HEADER = "x-simulator-world"
ENVIRONMENT_HEADER = "x-simulator-environment"

RECEIVER_PATIENCE_SECONDS = 0.7
"""How long a call waits for a receiver that may itself be waiting for this call.

Only time distinguishes a slow receiver from such a deadlock. A prompt receiver needs a hundredth of this time, and a
person hardly notices it.
"""

REST_SECONDS = 15.0
"""How long a call waits for pending deliveries while a receiver hangs. One attempt may take 10 seconds."""
MOST_REST_SECONDS = 60.0
"""How long a call waits if all receivers answer but new deliveries keep coming."""


@dataclass
class ControlCall:
    """One control call, as its handler receives it."""

    runtime: Runtime
    path: Mapping[str, str]
    """The path variables."""
    query: Mapping[str, str]
    headers: Mapping[str, str]
    origin: str
    """The address of the server, including the prefix of a mount."""
    lookups: Lookups
    rows: Mapping[str, object]
    """All rows of the control API, by name."""
    sent: bytes = b""
    """The raw body."""
    raw: Any = field(default_factory=dict)
    """The decoded body before validation: a JSON object, or bytes if the row says so."""
    body: Any = None
    """The validated body."""
    id: str = ""
    """The id in the journal of control calls, or "" if the call is not journalled."""
    began_ms: int = 0
    """The simulated time at which the call came."""
    is_whole: bool = True
    """False if the body was longer than the row allows and was cut."""
    gone: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    """Done when the client leaves before the response."""
    shows_keys: bool = False
    """Whether keys in the response are left unmasked."""
    connection_opened_at: float = inf
    """When the client connected, in seconds of the event loop."""
    cut: Callable[[], None] = lambda: None
    """Drops the connection."""
    unanswered: frozenset[str] = frozenset()
    """Pending webhook attempts of the world whose receiver may be the caller.

    These attempts were sent before the call came, and the caller connected after that.
    """
    last_entry: int = 0
    """The newest entry of the world's logbook when the call came."""
    access: Access = EVERYBODY
    """The worlds that the token of the call reaches."""
    has_scoped_tokens: bool = False
    """Whether tokens of this server reach different worlds."""
    below: str = ""
    """`/_worlds/ID` if the call came through such a path."""

    async def while_connected(self, waiting: Coroutine[Any, Any, T], seconds: float) -> T:
        """Await `waiting`. TimeoutError after `seconds`, ClientDisconnect if the client leaves first."""
        if seconds <= 0:
            waiting.close()
            raise TimeoutError
        wait = asyncio.ensure_future(waiting)
        try:
            await asyncio.wait((wait, self.gone), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if wait.done():
                return wait.result()
            raise ClientDisconnect if self.gone.done() else TimeoutError
        finally:
            if not wait.done():
                wait.cancel()
                await asyncio.wait((wait,))

    @property
    def simulator(self) -> Simulator:
        return self.runtime.simulator

    @property
    def world(self) -> World:
        """The world of the header. 404 not_found if it does not exist."""
        return self.world_called(self.world_id)

    def world_called(self, world_id: str) -> World:
        """Return the world of that id. 404 not_found if it does not exist or the token does not reach it.

        503 world_unreadable if it was set aside because this version cannot read it.
        """
        world = self.find_world(world_id)
        if world is None:
            self.require_readable(world_id)
            raise self.access.no_world(world_id)
        return world

    async def wake(self, world_id: str) -> None:
        """Load a world that is only in the store. A world that the token does not reach is ignored."""
        if self.access.reaches(world_id):
            await self.runtime.wake(world_id)

    async def wake_snapshot(self, snapshot_id: str) -> None:
        """Load the world of a snapshot if it is only in the store."""
        if snapshot_id not in self.simulator.snapshots and self.runtime.persistence is not None:
            await self.runtime.persistence.wake_snapshot(snapshot_id)

    def require_readable(self, world_id: str) -> None:
        """503 world_unreadable for a world that was set aside because this version cannot read it."""
        why = self.runtime.unreadable(world_id) if self.access.reaches(world_id) else None
        if why is not None:
            raise unreadable_error(CONTROL_BASE, world_id, why)

    def find_world(self, world_id: str) -> World | None:
        """Return the world of that id, or None if it does not exist or the token does not reach it."""
        return self.simulator.worlds.get(world_id) if self.access.reaches(world_id) else None

    @property
    def world_id(self) -> str:
        """The world id of the header, or `default`. Such a world need not exist."""
        return self.headers.get(WORLD_HEADER, DEFAULT_WORLD)

    @property
    def environment(self) -> str:
        """The environment of the header, or the service's first one."""
        return self.headers.get(ENVIRONMENT_HEADER, self.simulator.wiring.environments[0])

    def check_environment(self) -> None:
        """400 for an unknown environment in the header, even if the call does not depend on it."""
        known = self.simulator.wiring.environments
        if self.environment not in known:
            raise invalid_parameter("X-Simulator-Environment", f"it must be {' or '.join(known)}")

    def require_idle(self, world: World) -> None:
        """409 clock_busy while the clock of a world is being advanced."""
        if self.runtime.driver.is_busy(world):
            raise clock_busy()

    async def advance(
        self, world: World, to: Target, reached: Callable[[], bool] | None = None, horizon_ms: int = LAST_MS
    ) -> Receipt:
        """Move the clock of a world as `Driver.advance` does. The advance is cancelled if the caller leaves.

        409 clock_busy during another advance or if a receiver does not answer, 409 advance_cancelled with the receipt.
        """
        driver = self.runtime.driver
        try:
            with self._leaving(lambda: driver.call_off(world, "its caller has gone")):
                return await driver.advance(world, to, reached, horizon_ms=horizon_ms, patience=self.patience())
        except ClockBusy:
            raise clock_busy() from None
        except Unanswered as error:
            raise unanswered(error) from None
        except AdvanceCancelled as error:
            message = f"The advance was cancelled: {error.why}."
            receipt = {**show_receipt(error.receipt, reached=False), **self.stopped_scenarios(world)}
            raise ControlError(409, "advance_cancelled", message, receipt=receipt) from None

    async def settle(self, world: World) -> int:
        """Wait until no webhook attempt of a world is in flight. Return how many attempts ended that were not counted.

        409 clock_busy if a receiver does not answer an attempt that was sent before this call came, because the
        receiver itself may be the caller. 409 clock_busy also if a receiver hangs for `REST_SECONDS`. With `wait=true`
        in the query, the call waits without a limit.
        """
        courier = self.runtime.courier
        try:
            with self._leaving(lambda: courier.wake(world)):
                made = await courier.settle(world, patience=self.patience(at_rest=True), called_off=self.gone.done)
        except Unanswered as error:
            raise unanswered(error) from None
        if self.gone.done():
            raise invalid_state("The caller left before all deliveries were answered.")
        return made

    def stopped_scenarios(self, world: World) -> StoppedScenarios:
        """Return the field `stopped_scenarios` with the scenarios stopped during this call, or {} without any."""
        stopped = stopped_since(world, self.last_entry)
        return {"stopped_scenarios": stopped} if stopped else {}

    @contextmanager
    def _leaving(self, then: Callable[[], object]) -> Iterator[None]:
        """Call `then` if the caller leaves while the block runs."""

        def leave(_gone: asyncio.Future[None]) -> None:
            then()

        self.gone.add_done_callback(leave)
        try:
            yield
        finally:
            self.gone.remove_done_callback(leave)

    def patience(self, *, at_rest: bool = False) -> Patience | None:
        """Return how long this call waits for receivers, or None for `wait=true`. 400 if `wait` is not a boolean.

        `at_rest`: the call needs a world without attempts in flight, so a receiver that hangs would delay it forever.
        """
        given = self.query.get("wait") or "false"
        if given not in ("true", "false"):
            raise invalid_parameter("wait", "it must be true or false")
        if given == "true":
            return None
        rest = (REST_SECONDS, MOST_REST_SECONDS) if at_rest else (inf, inf)
        return Patience(RECEIVER_PATIENCE_SECONDS, self.unanswered, *rest)

    def given(self, name: str) -> str | None:
        """Return a query parameter, or None if it is absent or empty."""
        return self.query.get(name) or None

    def choice(self, name: str, choices: Collection[str]) -> str | None:
        """Return a query parameter that is one of `choices`, or None if it is absent. 400 for another value."""
        value = self.given(name)
        if value is not None and value not in choices:
            raise invalid_parameter(name, f"it must be one of {', '.join(choices)}")
        return value

    def whole(self, name: str) -> int | None:
        """Return a query parameter that is an integer from 0, or None if it is absent. 400 for another value."""
        value = self.given(name)
        if value is not None and not is_whole(value):
            raise invalid_parameter(name, "it must be an integer from 0")
        return None if value is None else int(value)

    def limit(self) -> int | None:
        """Return the query parameter `limit`, or None if it is absent."""
        return self.whole("limit")

    def newest(self, rows: list[T]) -> list[T]:
        """Return the newest `limit` of rows that are oldest first, in the same order."""
        return newest(rows, self.limit())
