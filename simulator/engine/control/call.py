"""A control call: what its handler gets, and how it waits and moves clocks for its caller."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from math import inf
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect

from simulator.engine.clients.address import CONTROL_BASE
from simulator.engine.control.access import EVERYBODY, Access
from simulator.engine.control.history.lookups import Lookups
from simulator.engine.control.refusals import clock_busy, unanswered, wrong
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
from simulator.kernel.world import DEFAULT_WORLD, World

T = TypeVar("T")
WORLD_HEADER = "x-simulator-world"
ENVIRONMENT_HEADER = "x-simulator-environment"

RECEIVER_PATIENCE_SECONDS = 0.7
"""How long a call that waits for deliveries waits for a receiver that may itself be waiting for that call.

Nothing tells the two apart but time. A receiver that answers promptly needs a hundredth of it; to a person it is
still at once.
"""


REST_SECONDS = 15.0
"""How long a call waits for a world with nothing in flight while a receiver hangs: one attempt may take 10 seconds."""
MOST_REST_SECONDS = 60.0
"""How long it waits if every receiver answers and there is always something new for them."""


@dataclass
class ControlCall:
    """One control call: the world of its header, path variables, query, headers, and the validated body.

    `sent` is the body as it came, `raw` what it says: a JSON object, or bytes where the row says so. `origin` is the
    address of the server, with the prefix of a mount; `below` is `/_worlds/ID` where the call came below that. `id` is
    its number in the journal of control calls ("" where it is not kept), `began_ms` the simulated time at which it
    came. `is_whole`: nothing of the body was cut off. `gone` is done when the client leaves while the call is under
    way. `shows_keys`: the answer is made to show keys. `unanswered` are the webhook attempts of its world whose
    receiver may be the caller: sent before the call came, over a connection opened later (`connection_opened_at`, in
    seconds of the event loop), and not answered yet. `last_entry` is the newest entry of its world's logbook when it
    came. `access` is what its token reaches; `are_apart`: tokens differ in that. `rows`: the interface by name.
    """

    runtime: Runtime
    path: Mapping[str, str]
    query: Mapping[str, str]
    headers: Mapping[str, str]
    origin: str
    lookups: Lookups
    rows: Mapping[str, object]
    sent: bytes = b""
    raw: Any = field(default_factory=dict)
    body: Any = None
    id: str = ""
    began_ms: int = 0
    is_whole: bool = True
    gone: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    shows_keys: bool = False
    connection_opened_at: float = inf
    cut: Callable[[], None] = lambda: None
    unanswered: frozenset[str] = frozenset()
    last_entry: int = 0
    access: Access = EVERYBODY
    are_apart: bool = False
    below: str = ""

    async def while_here(self, waiting: Coroutine[Any, Any, T], seconds: float) -> T:
        """Wait for something; TimeoutError when the time is over, ClientDisconnect when the client leaves first."""
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
        """The world of the header; 404 not_found when there is none of that id."""
        return self.world_called(self.world_id)

    def world_called(self, world_id: str) -> World:
        """The world of that id; 404 not_found when there is none, or none for the token of this call.

        503 world_unreadable when it is set aside.
        """
        world = self.find_world(world_id)
        if world is None:
            self.require_readable(world_id)
            raise self.access.no_world(world_id)
        return world

    async def wake(self, world_id: str) -> None:
        """Have a world in memory that is at rest; nothing happens for one that the token does not reach."""
        if self.access.reaches(world_id):
            await self.runtime.wake(world_id)

    async def wake_snapshot(self, snapshot_id: str) -> None:
        """Have the world of a snapshot in memory."""
        if snapshot_id not in self.simulator.snapshots and self.runtime.persistence is not None:
            await self.runtime.persistence.wake_snapshot(snapshot_id)

    def require_readable(self, world_id: str) -> None:
        """503 world_unreadable for a world that is set aside."""
        why = self.runtime.unreadable(world_id) if self.access.reaches(world_id) else None
        if why is not None:
            raise unreadable_error(CONTROL_BASE, world_id, why)

    def find_world(self, world_id: str) -> World | None:
        """The world of that id, None when there is none for the token of this call."""
        return self.simulator.worlds.get(world_id) if self.access.reaches(world_id) else None

    @property
    def world_id(self) -> str:
        """The world of the header, `default` without one; there need be none of that id."""
        return self.headers.get(WORLD_HEADER, DEFAULT_WORLD)

    @property
    def environment(self) -> str:
        """The environment of the header, the first one without it."""
        return self.headers.get(ENVIRONMENT_HEADER, self.simulator.wiring.environments[0])

    def check_environment(self) -> None:
        """400 for a header that names no environment, whether the call looks at it or not."""
        known = self.simulator.wiring.environments
        if self.environment not in known:
            raise wrong("X-Simulator-Environment", f"it is {' or '.join(known)}")

    def require_idle(self, world: World) -> None:
        """409 clock_busy while the clock of a world is being advanced."""
        if self.runtime.driver.is_busy(world):
            raise clock_busy()

    async def advance(
        self, world: World, to: Target, reached: Callable[[], bool] | None = None, horizon_ms: int = LAST_MS
    ) -> Receipt:
        """Move the clock of a world as `Driver.advance` does, for as long as the caller is there.

        409 clock_busy during another advance and where `settle` raises it, advance_cancelled with the receipt.
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
            message = f"The advance was called off: {error.why}."
            receipt = {**show_receipt(error.receipt, reached=False), **self.stopped_scenarios(world)}
            raise ControlError(409, "advance_cancelled", message, receipt=receipt) from None

    async def settle(self, world: World) -> int:
        """Wait until no webhook attempt of a world is in flight; returns how many were made that nobody had counted.

        409 clock_busy when a receiver does not answer an attempt that had reached it before this call came: it may be
        the receiver itself that calls. 409 too when the world does not come to rest in `REST_SECONDS` because a
        receiver hangs. With `wait=true` in the query the call waits however long it takes.
        """
        courier = self.runtime.courier
        try:
            with self._leaving(lambda: courier.wake(world)):
                made = await courier.settle(world, patience=self.patience(at_rest=True), called_off=self.gone.done)
        except Unanswered as error:
            raise unanswered(error) from None
        if self.gone.done():
            raise ControlError(409, "invalid_state", "The caller has gone before all deliveries were answered.")
        return made

    def stopped_scenarios(self, world: World) -> StoppedScenarios:
        """`stopped_scenarios`: those that were stopped while this call was answered; nothing when there are none."""
        stopped = stopped_since(world, self.last_entry)
        return {"stopped_scenarios": stopped} if stopped else {}

    @contextmanager
    def _leaving(self, then: Callable[[], object]) -> Iterator[None]:
        """Do something as soon as the caller leaves, while the block works."""

        def leave(_gone: asyncio.Future[None]) -> None:
            then()

        self.gone.add_done_callback(leave)
        try:
            yield
        finally:
            self.gone.remove_done_callback(leave)

    def patience(self, *, at_rest: bool = False) -> Patience | None:
        """How long this call waits for receivers, as its `wait` says (None: for ever); 400 when that is no boolean.

        `at_rest`: the call needs a world with nothing in flight, which one that hangs could put off for ever.
        """
        given = self.query.get("wait") or "false"
        if given not in ("true", "false"):
            raise wrong("wait", "it is true or false")
        if given == "true":
            return None
        rest = (REST_SECONDS, MOST_REST_SECONDS) if at_rest else (inf, inf)
        return Patience(RECEIVER_PATIENCE_SECONDS, self.unanswered, *rest)

    def limit(self) -> int | None:
        """The query parameter `limit`: how many of the newest."""
        return self.whole("limit")

    def whole(self, name: str) -> int | None:
        """A query parameter that is a whole number from 0, None when it is left out; 400 for anything else."""
        text = self.query.get(name)
        if text is None or text == "":
            return None
        if not is_whole(text):
            raise wrong(name, "it must be a whole number from 0")
        return int(text)
