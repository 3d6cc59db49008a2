"""What the courier and the driver of a server need of the server they work in."""

from __future__ import annotations

import asyncio
from typing import Protocol

from simulator.engine.webhooks import Attempt, Outcome
from simulator.kernel.world import World


class Port(Protocol):
    """What courier and driver call on the server that owns them, about one of their worlds."""

    async def catch_up(self, world: World) -> None:
        """Bring a running clock to the present: something from outside is about to reach the world."""

    def reported(self, world: World) -> None:
        """The report of a webhook attempt has changed a world: fire what is due now, start what may go."""

    def changed(self, world: World) -> None:
        """Timers of a world have fired, or its clock was moved: start what may go, and tell whoever watches."""


class WriteBarrier(Protocol):
    """What keeps the worlds of a server beyond its process; without one they are in memory alone."""

    def unsettled(self) -> asyncio.Future[None] | None:
        """None where all that has happened is kept; else a future that ends when it is.

        It raises `Unavailable` where that cannot be. Many wait for the same one: shield it.
        """


class Tracing(Protocol):
    """Who is told of every attempt to deliver a webhook; never raises."""

    def delivered(self, world: World, attempt: Attempt, outcome: Outcome) -> None:
        """An attempt was answered, or will not be."""
