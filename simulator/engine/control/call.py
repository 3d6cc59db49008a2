"""`ControlCall`, the argument of handlers: it waits for receivers, advances clocks and reads query parameters."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from math import inf
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect

from simulator.engine.clients.address import CONTROL_BASE
from simulator.engine.control.access import Access
from simulator.engine.control.refusals import clock_busy, invalid_parameter, invalid_state, unanswered
from simulator.engine.control.shapes import StoppedScenarios, show_receipt
from simulator.engine.rows.error import ControlError
from simulator.engine.scenario.play.stops import stopped_since
from simulator.engine.server.running.advance import AdvanceCancelled, ClockBusy, Receipt, Target
from simulator.engine.server.runtime import Runtime
from simulator.engine.server.storage import unreadable_error
from simulator.engine.text.strict import did_you_mean, is_whole
from simulator.engine.vocabulary.vocabulary import vocabulary_of
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
"""How long a call waits for a receiver that may itself be waiting for this call. Only a timeout can distinguish a slow
receiver from such a deadlock. A fast receiver responds within a hundredth of this time, and a person hardly notices the
delay.
"""

REST_SECONDS = 15.0
"""How long a call waits for pending deliveries if a receiver hangs. One attempt can take up to 10 seconds."""
MOST_REST_SECONDS = 60.0
"""How long a call waits if all receivers respond but new deliveries keep starting."""


@dataclass
class ControlCall:
    """One control call, as passed to its handler."""

    runtime: Runtime
    path: Mapping[str, str]
    """The path variables."""
    query: Mapping[str, str]
    headers: Mapping[str, str]
    origin: str
    """The origin of the server, followed by the path at which the server is mounted, if any."""
    rows: Mapping[str, object]
    """All operations of the control API, by name."""
    gone: asyncio.Future[None]
    """A future that is done if the client disconnects before the response is sent."""
    access: Access
    """The worlds that the caller's token can access."""
    has_scoped_tokens: bool
    """Whether any token of this server is limited to some worlds."""
    shows_keys: bool
    """Whether the response shows keys instead of masking them."""
    connection_opened_at: float
    """When the client connected, in seconds on the event loop's clock."""
    cut: Callable[[], None]
    """A function that drops the connection."""
    below: str
    """`/_worlds/ID` if the request path starts with it, otherwise ""."""
    sent: bytes
    """The raw body."""
    is_whole: bool
    """False if the body exceeded the operation's limit and was truncated."""
    raw: Any = None
    """The decoded body before validation: a JSON object, or bytes if the operation takes bytes."""
    body: Any = None
    """The validated body."""
    id: str = ""
    """The id of this call in the journal of control calls, or "" if the call is not journalled."""
    began_ms: int = 0
    """The simulated time at which the call arrived."""
    unanswered: frozenset[str] = frozenset()
    """Ids of webhook attempts that were sent before the caller connected, and whose receiver may be the caller."""
    last_entry: int = 0
    """The number of the newest entry in the world's scenario logbook when the call arrived."""

    async def while_connected(self, waiting: Coroutine[Any, Any, T], seconds: float) -> T:
        """Await `waiting`. Raise `TimeoutError` after `seconds`, or `ClientDisconnect` if the client disconnects."""
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
        """The world named in the header. Raises `ControlError` 404 not_found if it does not exist."""
        return self.world_called(self.world_id)

    def world_called(self, world_id: str) -> World:
        """Return the world with this id. Raise `ControlError` 404 not_found if the world does not exist or the token
        cannot access it. Raise `ControlError` 503 world_unreadable if the world is stored in a form that this version
        cannot read.
        """
        world = self.find_world(world_id)
        if world is None:
            why = self.runtime.unreadable(world_id) if self.access.reaches(world_id) else None
            raise self.access.no_world(world_id) if why is None else unreadable_error(CONTROL_BASE, world_id, why)
        return world

    async def wake(self, world_id: str) -> None:
        """Load a world that exists only in the store. Do nothing if the token cannot access the world."""
        if self.access.reaches(world_id):
            await self.runtime.wake(world_id)

    async def wake_snapshot(self, snapshot_id: str) -> None:
        """Load a snapshot and its world into memory if they are only in the store."""
        if snapshot_id not in self.simulator.snapshots and self.runtime.persistence is not None:
            await self.runtime.persistence.wake_snapshot(snapshot_id)

    def find_world(self, world_id: str) -> World | None:
        """Return the world with this id, or None if it does not exist or the token cannot access it."""
        return self.simulator.worlds.get(world_id) if self.access.reaches(world_id) else None

    @property
    def world_id(self) -> str:
        """The world id in the header, or `default`. There might be no world with this id."""
        return self.headers.get(WORLD_HEADER, DEFAULT_WORLD)

    @property
    def environment(self) -> str:
        """The environment named in the header, or the service's first environment by default."""
        return self.headers.get(ENVIRONMENT_HEADER, self.simulator.wiring.environments[0])

    def require_idle(self, world: World) -> None:
        """Raise `ControlError` 409 clock_busy if another call is advancing the world's clock."""
        if self.runtime.driver.is_busy(world):
            raise clock_busy()

    async def advance(
        self, world: World, to: Target, reached: Callable[[], bool] | None = None, horizon_ms: int = LAST_MS
    ) -> Receipt:
        """Advance the clock of a world with `Driver.advance`. If the caller disconnects, the advance is cancelled.
        Raise `ControlError` 409 clock_busy during another advance or if a receiver does not respond. If the advance is
        cancelled, raise `ControlError` 409 advance_cancelled with the result so far.
        """
        driver = self.runtime.driver
        try:
            with self._leaving(lambda _: driver.call_off(world, "the caller disconnected")):
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
        """Wait until no webhook attempt of a world is in flight. Return the number of attempts that ended since this
        method last returned for the world. Raise `ControlError` 409 clock_busy if a receiver does not respond to an
        attempt sent before this call arrived, because the receiver may be the caller itself. Raise the same error if a
        receiver hangs for `REST_SECONDS`. With `wait=true` in the query, the call waits without a limit.
        """
        courier = self.runtime.courier
        try:
            with self._leaving(lambda _: courier.wake(world)):
                made = await courier.settle(world, patience=self.patience(at_rest=True), called_off=self.gone.done)
        except Unanswered as error:
            raise unanswered(error) from None
        if self.gone.done():
            raise invalid_state("The caller disconnected before all deliveries were acknowledged.")
        return made

    def stopped_scenarios(self, world: World) -> StoppedScenarios:
        """Return the response field with the scenarios that stopped during this call, or {} if none did."""
        stopped = stopped_since(world, self.last_entry)
        return {"stopped_scenarios": stopped} if stopped else {}

    @contextmanager
    def _leaving(self, then: Callable[[asyncio.Future[None]], object]) -> Iterator[None]:
        """Call `then` if the caller disconnects while the block is running."""
        self.gone.add_done_callback(then)
        try:
            yield
        finally:
            self.gone.remove_done_callback(then)

    def patience(self, *, at_rest: bool = False) -> Patience | None:
        """Return the time that this call waits for receivers, or None (no limit) for `wait=true`. `at_rest` is True for
        a call that waits until no attempt is in flight. The total wait is then limited, because a hanging receiver
        would delay the call forever. Raise `ControlError` 400 if the query parameter `wait` is not a boolean.
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
        """Return a query parameter or None if it is absent. Raise `ControlError` 400 if it is not in `choices`."""
        value = self.given(name)
        if value is not None and value not in choices:
            raise invalid_parameter(name, f"it must be one of {', '.join(choices)}")
        return value

    def require_event(self, param: str, name: str) -> None:
        """Raise `ControlError` 400 for the parameter `param` unless `name` is an event type."""
        events = vocabulary_of(self.world).events  # First, an unknown world is refused.
        if name not in events:
            hint = did_you_mean(name, events) or f"; the event types are {', '.join(sorted(events))}"
            raise invalid_parameter(param, f"unknown event type {name!r}{hint}")

    def whole(self, name: str) -> int | None:
        """Return a query parameter or None. Raise `ControlError` 400 if it is not a non-negative integer."""
        value = self.given(name)
        if value is not None and not is_whole(value):
            raise invalid_parameter(name, "it must be a non-negative integer")
        return None if value is None else int(value)

    def limit(self) -> int | None:
        """Return the query parameter `limit`, or None if it is absent."""
        return self.whole("limit")

    def newest(self, rows: list[T]) -> list[T]:
        """Return the newest rows, up to the query parameter `limit`. The oldest row comes first, as in `rows`."""
        return newest(rows, self.limit())
