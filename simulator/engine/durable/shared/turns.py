"""Turns at making worlds: one at a time for each bounded token, on all replicas together.

`most_worlds` is held against the worlds in the database. Two replicas that counted at the same time would both find
room for one more, so whoever counts holds a lock until the world that it makes is committed.
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
"""How long a call waits for its turn."""
AGAIN_SECONDS = 0.05
_BUSY = "Other worlds are being made with this token right now; nothing was done, send it again."


class Turns:
    """The turns of one replica. The lock is held by the connection that commits, so it ends with that at the latest."""

    def __init__(self, store: PostgresStore, persistence: Persistence) -> None:
        self._store = store
        self._persistence = persistence
        self._locks: dict[str, asyncio.Lock] = {}

    @asynccontextmanager
    async def of(self, access: Access | None) -> AsyncIterator[None]:
        """Hold the turn of a token while it makes a world; None for a call that needs none. ControlError 503."""
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
            # No question to the store is cancelled: that would end the connection, and all that it owns.
            while not await asyncio.shield(self._store.try_turn(access.prefix)):
                if asyncio.get_running_loop().time() > until:
                    raise ControlError(503, "storage_unavailable", _BUSY)
                await asyncio.sleep(AGAIN_SECONDS)
            try:
                yield
            finally:
                await self._committed()
                with suppress(StoreError):  # the lock has ended with the connection
                    await asyncio.shield(self._store.end_turn(access.prefix))
        finally:
            lock.release()

    async def _committed(self) -> None:
        unsettled = self._persistence.unsettled()
        if unsettled is not None:
            with suppress(Unavailable):
                await asyncio.shield(unsettled)
