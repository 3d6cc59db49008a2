"""The persistence layer of a replica. It executes the steps that the ownership protocol returns: locks worlds in
PostgreSQL, reads worlds into memory, and releases worlds.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from decimal import Decimal
from typing import Any, TypeAlias

from simulator.engine import webhooks
from simulator.engine.control.access import Access
from simulator.engine.durable.backend import StoreDamaged, StoreError
from simulator.engine.durable.persistence import PersistenceLayer
from simulator.engine.durable.shared import ownership
from simulator.engine.durable.shared.ownership import Ask, Forward, Ownership, Refuse, Serve, Step
from simulator.engine.durable.shared.postgres import PostgresStore
from simulator.engine.durable.shared.session import OwnershipLost
from simulator.engine.rows.error import ControlError
from simulator.engine.server.runtime import Runtime
from simulator.engine.server.storage import Unavailable
from simulator.engine.webhooks.courier.courier import wall_clock_ms
from simulator.kernel.clock import LAST_MS
from simulator.kernel.world import DEFAULT_WORLD, World

WAIT_SECONDS = 8.0
"""The time for which a request waits for a replica to serve its world, or for permission to create a world."""
AGAIN_SECONDS = 0.1
_DRAIN_SECONDS = 10.0
_BUSY = "Other worlds are being created with this token. Nothing was done. Send the request again."

Decision: TypeAlias = "Serve | Forward | Refuse"
"""The decision whether to serve, forward or refuse a request."""

_log = logging.getLogger(__name__)


class Sharing(PersistenceLayer):
    """Loads, serves and releases the worlds that this replica owns, and saves their changes.

    `make_default` creates the world `default` if it does not exist. A world that is unused for `idle_seconds` is
    released, unless a timer is due.
    """

    def __init__(
        self, runtime: Runtime, store: PostgresStore, make_default: Callable[[], None], idle_seconds: float
    ) -> None:
        super().__init__(runtime, store, make_default)
        self.machine = Ownership(store.address)
        self.store = store
        self.environments = runtime.simulator.provider.environments
        self.exchange = runtime.simulator.provider.identity.exchange
        self.idle_seconds = idle_seconds
        self._sessions = self._count = 0
        self._tickets: dict[int, asyncio.Future[Decision]] = {}
        self._used_at: dict[str, float] = {}
        self._reported: set[tuple[str, str]] = set()
        self._ends: tuple[int, str | None] = (0, None)
        self._drained = asyncio.Event()
        self._creating: dict[str, asyncio.Lock] = {}
        runtime.look_at = self.look_at
        store.lost = lambda: self._throw_away(OwnershipLost("the connection to PostgreSQL has ended"))
        store.credentials = self._new_credentials
        store.wake_at_ms = self._acts_at_ms

    # Called by the server

    def reached_at(self, origin: str) -> None:
        if not self.machine.address:
            self.machine.address = self.store.address = origin

    @property
    def is_leaving(self) -> bool:
        return self.machine.is_draining

    async def drain(self) -> None:
        """Complete all requests and release all worlds. Other replicas can then take the worlds immediately."""
        self._batches.note_uses()
        self._do(self.machine.drain())
        with suppress(TimeoutError):
            await asyncio.wait_for(self._drained.wait(), _DRAIN_SECONDS)

    async def look_at(self, world_id: str) -> World | None:
        """Return a copy of a saved world for display, or None if it does not exist or cannot be read."""
        try:
            base, _ = await asyncio.to_thread(self._loader.decode, await self.store.load(world_id))
        except (KeyError, StoreError):
            return None
        world = self._simulator.from_state(base.state, world_id)
        clock, rate = world.clock, {"manual": Decimal(0), "real": Decimal(1), "scaled": world.clock.rate}
        passed_ms = int(Decimal(base.clock.passed_seconds()) * rate[clock.mode] * 1000)
        clock.now_ms = min(clock.now_ms + passed_ms, LAST_MS)
        return world

    # Requests

    def finds(self, path: str) -> bool:
        """Return True if the service's API has an operation with this path."""
        return self._runtime.router.find(path) is not None

    def world_here(self, credential: str) -> str | None:
        """Return the id of the world that a key or token belongs to, or None if this replica does not own it."""
        world = self._simulator.directory.get(credential)
        return world if world is not None and self.machine.epoch_of(world) is not None else None

    async def ask(self, world: str, *, is_forwarded: bool, may_repeat: bool, creates: bool) -> tuple[int, Decision]:
        """Return a ticket number for a request, and the decision to serve, forward or refuse the request."""
        self._count += 1
        ticket = self._count
        steps = self.machine.asked(Ask(ticket, world, is_forwarded, may_repeat, creates))
        if len(steps) == 1 and isinstance(steps[0], Serve):  # This is nearly always the case.
            return ticket, steps[0]
        asyncio.get_running_loop().call_later(WAIT_SECONDS, lambda: self._do(self.machine.expired(ticket, world)))
        return ticket, await self._decided(ticket, steps)

    async def forwarded(self, ticket: int, outcome: ownership.Outcome) -> Decision | None:
        """Decide what to do with a request that was forwarded. Return None if the other replica responded to it."""
        steps = self.machine.forwarded(ticket, outcome)
        return None if outcome == "answered" else await self._decided(ticket, steps)

    async def _decided(self, ticket: int, steps: list[Step]) -> Decision:
        decision: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
        self._tickets[ticket] = decision
        try:
            self._do(steps)
            return await decision
        finally:
            del self._tickets[ticket]

    def finished(self, ticket: int, world: str) -> None:
        """Record that a request that this replica served has ended."""
        self._used_at[world] = asyncio.get_running_loop().time()
        self._do(self.machine.finished(ticket, world))
        if world not in self._simulator.worlds and world not in self.unreadable:
            # The world was not created, or has ended. Without the next statement, its lock would remain for a minute.
            self._do(self.machine.idle(world))

    @asynccontextmanager
    async def creating(self, access: Access | None) -> AsyncIterator[None]:
        """Let a control token create only one world at a time, across all replicas. If `access` is None, do nothing.

        If two replicas compared the number of worlds in the database with `most_worlds` at the same time, both would
        allow one more world. Raise `ControlError` 503 if other requests take too long. The owning connection holds the
        lock of the token, so the lock ends with this connection.
        """
        if access is None:
            yield
            return
        lock = self._creating.setdefault(access.prefix, asyncio.Lock())
        until = asyncio.get_running_loop().time() + WAIT_SECONDS
        try:
            await asyncio.wait_for(lock.acquire(), WAIT_SECONDS)
        except TimeoutError:
            raise ControlError(503, "storage_unavailable", _BUSY) from None
        try:
            # Shield the queries, because a cancelled query ends the owning connection and releases its worlds.
            while not await asyncio.shield(self.store.try_turn(access.prefix)):
                if asyncio.get_running_loop().time() > until:
                    raise ControlError(503, "storage_unavailable", _BUSY)
                await asyncio.sleep(AGAIN_SECONDS / 2)
            try:
                yield
            finally:
                if (unsettled := self.unsettled()) is not None:
                    with suppress(Unavailable):
                        await asyncio.shield(unsettled)
                with suppress(StoreError):  # The connection has ended, which released the lock.
                    await asyncio.shield(self.store.end_turn(access.prefix))
        finally:
            lock.release()

    # Steps

    def _do(self, steps: list[Step]) -> None:
        for step in steps:
            match step:
                case Serve() | Forward() | Refuse():
                    decision = self._tickets.get(step.ticket)
                    if decision is not None and not decision.done():
                        decision.set_result(step)
                case ownership.TryLock():
                    self._carry_out(self._try_lock(step))
                case ownership.Later():
                    asyncio.get_running_loop().call_later(AGAIN_SECONDS, self._again, step.ticket)
                case ownership.Settle():
                    self._carry_out(self._settle(step))
                case ownership.Unload():
                    self._used_at.pop(step.world, None)
                    self.unreadable.pop(step.world, None)
                    if step.world in self._simulator.worlds:
                        self._simulator.release_world(step.world)
                case ownership.Release():
                    self._carry_out(self._release(step))
                case ownership.Drained():
                    self._drained.set()
                case ownership.Connect():
                    """The persistence layer opens the store again and calls `_opened`."""

    def _again(self, ticket: int) -> None:
        self._do(self.machine.again(ticket))

    async def _try_lock(self, step: ownership.TryLock) -> None:
        session, world = step.session, step.world
        claim = await self.store.claim(world, creates=step.creates)
        if claim.outcome == "absent":
            self._do(self.machine.absent(session, world))
        elif claim.outcome == "denied":
            self._do(self.machine.denied(session, world, claim.owner))
        else:
            try:
                if claim.is_there and not claim.is_here:
                    stored = await self.store.load(world)
                    self._batches.of_server.take_in(await self.store.server())
                    base, snapshots = await asyncio.to_thread(self._loader.decode, stored)
                    if not self.machine.is_former(session):
                        self._loader.let_live(stored, base, snapshots)
                elif not claim.is_there and world == DEFAULT_WORLD and not self.machine.is_former(session):
                    self._make_default()
            except StoreDamaged as error:
                _log.error("the world %s cannot be read: %s", world, error)
                self.unreadable[world] = str(error)
            self._used_at[world] = asyncio.get_running_loop().time()
            self._do(self.machine.granted(session, world, claim.epoch))

    async def _settle(self, step: ownership.Settle) -> None:
        while not self.machine.is_former(step.session):
            unsettled = self.unsettled()
            if unsettled is not None:
                await asyncio.shield(unsettled)
            if self.is_saved(step.world):
                self._do(self.machine.settled(step.session, step.world))
                return

    async def _release(self, step: ownership.Release) -> None:
        await self.store.release(step.world)
        self._do(self.machine.released(step.session, step.world))

    def _carry_out(self, step: Coroutine[Any, Any, None]) -> None:
        self._spawn(self._guarded(step))

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        """Await a step. If it fails, close the owning connection, because the state of the lock is then unknown."""
        try:
            await work
        except Unavailable:
            return
        except StoreError as error:
            self._throw_away(error)
        except Exception as error:
            _log.exception("a step of sharing worlds failed")
            self._throw_away(StoreError(f"a step of sharing worlds failed ({error})"))

    # The store

    def _opened(self) -> None:
        self._sessions += 1
        self._reported, self._ends = set(), (0, None)
        self._do(self.machine.connected(self._sessions))

    def _failed(self) -> None:
        self._do(self.machine.lost(self._sessions))

    async def look(self) -> None:
        """Take ownership of worlds whose timers are due, and release idle worlds."""
        if self.machine.is_draining:
            return
        # Worlds with generated ids are in memory here before the state machine knows about them.
        for world in [*await self.store.due(), *self._simulator.worlds]:
            self._do(self.machine.woken(world))
        now = asyncio.get_running_loop().time()
        for world in self.machine.owned():
            if self._used_at.get(world, 0) + self.idle_seconds < now:
                acts_at_ms = self._acts_at_ms(world)
                if acts_at_ms is None or acts_at_ms >= wall_clock_ms() + self.idle_seconds * 1000:
                    self._do(self.machine.idle(world))

    def _acts_at_ms(self, world_id: str) -> int | None:
        """Return the wall-clock time of the world's next timer or webhook attempt, or None if there is none."""
        world = self._simulator.worlds.get(world_id)
        if world is not None and (len(webhooks.in_flight(world)) or webhooks.may_take(world)):
            return wall_clock_ms()
        return None if world is None else self._wakes_at_ms(world)

    def _new_credentials(self) -> list[tuple[str, str]]:
        """Return the keys and tokens that are not yet in PostgreSQL."""
        directory = self._simulator.directory
        ends = len(directory), next(reversed(directory), None)
        if ends == self._ends:  # This is nearly always the case.
            return []
        new = [pair for pair in directory.items() if pair not in self._reported]
        self._reported, self._ends = set(directory.items()), ends
        return new
