"""Locks that let a control token with a world limit create only one world at a time, across all replicas.

If two replicas compared the number of worlds in the database with `most_worlds` at the same time, both would allow one
more world. A replica therefore holds a lock from then until the new world is committed.
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
"""The time for which a request waits for permission to create a world."""
AGAIN_SECONDS = 0.05
_BUSY = "Other worlds are being created with this token. Nothing was done. Send the request again."


class Turns:
    """The locks of one replica. Its owning connection holds them, so they end when this connection ends."""

    def __init__(self, store: PostgresStore, persistence: Persistence) -> None:
        self._store = store
        self._persistence = persistence
        self._locks: dict[str, asyncio.Lock] = {}

    @asynccontextmanager
    async def of(self, access: Access | None) -> AsyncIterator[None]:
        """Hold the lock for a control token, or no lock if `access` is None.

        Raise `ControlError` 503 if other requests hold the lock for too long.
        """
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
            # The queries are shielded: cancelling a query would end the owning connection and release its locks on
            # worlds.
            while not await asyncio.shield(self._store.try_turn(access.prefix)):
                if asyncio.get_running_loop().time() > until:
                    raise ControlError(503, "storage_unavailable", _BUSY)
                await asyncio.sleep(AGAIN_SECONDS)
            try:
                yield
            finally:
                if (unsettled := self._persistence.unsettled()) is not None:
                    with suppress(Unavailable):
                        await asyncio.shield(unsettled)
                with suppress(StoreError):  # The connection has ended, which released the lock.
                    await asyncio.shield(self._store.end_turn(access.prefix))
        finally:
            lock.release()
