"""Protocols that a server implements for the courier and the clock driver."""

from __future__ import annotations

import asyncio
from typing import Protocol

from simulator.engine.webhooks import Attempt, Outcome
from simulator.kernel.world import World


class Port(Protocol):
    """Callbacks from the courier and the driver to the server. Each call concerns one world."""

    async def catch_up(self, world: World) -> None:
        """Advance a running clock to the current time before an input reaches the world."""

    def reported(self, world: World) -> None:
        """Fire the timers that are due and start further attempts, after the result of an attempt was saved."""

    def changed(self, world: World) -> None:
        """Handle fired timers or an advanced clock: start attempts, and notify observers."""


class WriteBarrier(Protocol):
    """A store that saves a server's worlds. Without a store, the worlds are in memory only."""

    def unsettled(self) -> asyncio.Future[None] | None:
        """Return a future that is done once all writes so far are saved, or None if they are already saved.

        The future raises `Unavailable` if the writes cannot be saved. Await the future with `asyncio.shield`, because
        several callers wait for it.
        """


class Tracing(Protocol):
    """An observer of delivery attempts. It never raises an exception."""

    def delivered(self, world: World, attempt: Attempt, outcome: Outcome) -> None:
        """Handle the result of an attempt."""
