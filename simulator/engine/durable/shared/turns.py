"""Creating worlds one at a time for each token with a limit, across all replicas.

`most_worlds` is compared with the worlds in the database. Two replicas that counted at the same time would both allow
one more world, so a replica holds a lock from counting until the new world is committed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from simulator.engine.control.access import Access
from simulator.engine.durable.backend import StoreError
from simulator.engine.durable.shared.postgres import PostgresStore
from simulator.engine.rows.error import ControlError
from simulator.engine.server.storage import Persistence, Unavailable

WAIT_SECONDS = 8.0
"""The time a request waits for its turn."""
AGAIN_SECONDS = 0.05
_BUSY = "Other worlds are being created with this token. Nothing was done. Send the request again."


class Turns:
    """The turns of one replica. The owning connection holds the lock, so the lock ends with it at the latest."""

    def __init__(self, store: PostgresStore, persistence: Persistence) -> None:
        self._store = store
        self._persistence = persistence
        self._locks: dict[str, asyncio.Lock] = {}

    @asynccontextmanager
    async def of(self, access: Access | None) -> AsyncIterator[None]:
        """Hold the turn of a token in a block; None needs no turn. Raise ControlError 503 if others take too long."""
        if access is None:
            yield
            return
        lock = self._locks.setdefault(access.prefix, asyncio.Lock())
        until = asyncio.get_running_loop().time() + WAIT_SECONDS
        try:
            await asyncio.wait_for(lock.acquire(), WAIT_SECONDS)
        except TimeoutError:
            raise ControlError(503, "storage_unavailable", _BUSY) from None
        try:
            # The queries are shielded: a cancelled one would end the owning connection and its locks on worlds.
            while not await asyncio.shield(self._store.try_turn(access.prefix)):
                if asyncio.get_running_loop().time() > until:
                    raise ControlError(503, "storage_unavailable", _BUSY)
                await asyncio.sleep(AGAIN_SECONDS)
            try:
                yield
            finally:
                await self._committed()
                with suppress(StoreError):  # the connection has ended, and the lock with it
                    await asyncio.shield(self._store.end_turn(access.prefix))
        finally:
            lock.release()

    async def _committed(self) -> None:
        unsettled = self._persistence.unsettled()
        if unsettled is not None:
            with suppress(Unavailable):
                await asyncio.shield(unsettled)
