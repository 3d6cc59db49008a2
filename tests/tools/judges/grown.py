"""The service as it may be in a year: each object in responses and events has an additional field, and some values are
new.

Clients in production must handle this, and the open form of the contract exists for this purpose.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from simulator.engine.server.config import Config
from simulator.engine.server.process import serving
from simulator.engine.webhooks import Outcome
from simulator.engine.webhooks.courier.transport import HttpTransport
from simulator.host import create_app
from tests.tools.conformance.mutants.service import (
    Answer,
    Call,
    Mutant,
    Post,
    Sender,
    Service,
    Tally,
    WrongService,
    WrongTransport,
)

NEW_VALUES = {("POST /quotes", "status"): "priced", ("POST /webhooks", "status"): "warming_up"}
"""By operation and member: a value that no contract of today knows."""


def grown(value: Any) -> Any:
    """A copy with a member more in each object."""
    if isinstance(value, dict):
        return {name: grown(member) for name, member in value.items()} | {"added_later": {"note": "new"}}
    return [grown(item) for item in value] if isinstance(value, list) else value


async def _answer(call: Call, ask: Service) -> Answer:
    found = await ask(call)
    found.body = None if found.body is None else grown(found.body)
    for (operation, name), new in NEW_VALUES.items():
        if call.operation == operation and found.status < 300:
            found.body[name] = new
    return found


async def _deliver(post: Post, send: Sender) -> Outcome:
    return await send(post.carrying(grown(post.event)))


_GROWN = Mutant("grown", "has members and values that are new", (), service=_answer, sender=_deliver)


@asynccontextmanager
async def grown_service() -> AsyncIterator[str]:
    """Serve it; gives the origin."""
    application, tally = create_app(Config()), Tally()
    courier, simulator = application.runtime.courier, application.runtime.simulator
    courier._transport = WrongTransport(HttpTransport(), _GROWN, tally, simulator)
    application.add_middleware(WrongService, mutant=_GROWN, tally=tally)
    async with serving(application) as origin:
        yield origin
