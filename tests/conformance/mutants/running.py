"""A wrong service on a port of loopback, for as long as it is judged."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from simulator.config import Config
from simulator.courier.transport import AiohttpTransport
from simulator.host import create_app
from simulator.server.process import serving
from tests.conformance.mutants.service import Mutant, Tally, WrongService, WrongTransport


@asynccontextmanager
async def wrong_service(mutant: Mutant | None) -> AsyncIterator[tuple[str, Tally]]:
    """Serve the mutant, or the simulator as it is; gives the origin, and what the mutant changed so far."""
    application = create_app(Config(clock="manual"))
    tally = Tally()
    if mutant is not None and mutant.sender is not None:
        runtime = application.runtime
        runtime.courier._transport = WrongTransport(AiohttpTransport(), mutant, tally, runtime.simulator)
    elif mutant is not None:
        application.add_middleware(WrongService, mutant=mutant, tally=tally)
    async with serving(application) as origin:
        yield origin, tally
