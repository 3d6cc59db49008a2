"""Protocols of the server that the courier and the clock driver work for."""

from __future__ import annotations

import asyncio
from typing import Protocol

from simulator.engine.webhooks import Attempt, Outcome
from simulator.kernel.world import World


class Port(Protocol):
    """Callbacks of courier and driver to their server, about one world."""

    async def catch_up(self, world: World) -> None:
        """Advance a running clock to the present, because an input is about to reach the world."""

    def reported(self, world: World) -> None:
        """Handle a reported attempt: fire timers that are due, and start attempts."""

    def changed(self, world: World) -> None:
        """Handle fired timers or a moved clock: start attempts, and notify observers."""


class WriteBarrier(Protocol):
    """A store that saves the worlds of a server. Without one, they are in memory only."""

    def unsettled(self) -> asyncio.Future[None] | None:
        """Return a future that is done once all writes so far are saved, or None if they are.

        It raises `Unavailable` if they cannot be saved. Several callers wait for the same future: shield it.
        """


class Tracing(Protocol):
    """An observer of delivery attempts. It never raises."""

    def delivered(self, world: World, attempt: Attempt, outcome: Outcome) -> None:
        """Handle the outcome of an attempt."""
