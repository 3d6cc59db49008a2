"""Helpers of the tests: a world made of some rooms, and calls of operations and actions without HTTP."""

from __future__ import annotations

import dataclasses
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from simulator.engine.rows.action import ActionTable, Performed
from simulator.engine.rows.operation import Call, Operation
from simulator.engine.rows.provider import Provider
from simulator.engine.rows.room import Room
from simulator.engine.server.pipeline import perform
from simulator.engine.vocabulary.vocabulary import Vocabulary, vocabulary_of, wiring_of
from simulator.kernel.clock import Clock, parse_timestamp
from simulator.kernel.journal import Cause
from simulator.kernel.world import World
from simulator.providers.ramp.provider import PROVIDER


@contextmanager
def untraced() -> Iterator[None]:
    """Without what measures coverage: for a block whose own time is judged."""
    tracing = sys.gettrace()
    sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(tracing)


def whole(number: int, *, short: int) -> int:
    """How long a campaign is that `make test` runs in a short form and `make long` whole."""
    return number if os.environ.get("LONG") else short


START = "2026-01-05T08:00:00.000Z"
KEYS = {"public_key": "pk_test_simulator", "secret_key": "sk_test_simulator"}
"""The sandbox key pair of the world `default`."""

CELO = "0x52908400098527886E0F7030069857D2E4169EE7"
STELLAR = "GAAZI4TCR3TY5OJHCTJC2A4QSY6CJWJH5IAJTGKIN2ER7LBNVKOCCWN7"
"""Addresses of somebody outside."""

UNUSUAL_PHONES = (
    "+254 712 000 111",
    "+254-712-000-111",
    "+254(712)000111",
    " +254712000111",
    "+254712000111 ",
    "254712000111",
)
"""The phone number of the user Amina, not written as + and digits only (decision R4)."""

QUOTE = {
    "type": "onramp",
    "network": "celo",
    "asset": "USDC",
    "fiat_currency": "KES",
    "amount": "5000",
    "amount_currency": "KES",
    "method": "mobile_money",
}
"""The body of a quote that nothing is wrong with."""

BENEFICIARY = {
    "type": "phone_number",
    "name": "Wanjiru Otieno",
    "country": "KE",
    "fiat_currency": "KES",
    "phone_number": {"phone_number": "+254722000000", "provider": "mpesa"},
}
"""The body of a beneficiary that nothing is wrong with."""


ENVIRONMENTS = ("sandbox", "production")


def ramp_with(*rooms: Room) -> Provider:
    """The ramp, with further rooms."""
    return dataclasses.replace(PROVIDER, rooms=(*PROVIDER.rooms, *rooms))


def make_world(*rooms: Room, seed: int = 1, now: str = START, world_id: str = "default") -> World:
    """A world of the ramp with a manual clock that knows exactly these rooms."""
    return world_of(dataclasses.replace(PROVIDER, rooms=rooms), seed=seed, now=now, world_id=world_id)


def world_of(provider: Provider, *, seed: int = 1, now: str = START, world_id: str = "default") -> World:
    """A world of a service, with a manual clock."""
    world, rooms = World(world_id, seed, Clock(parse_timestamp(now)), wiring_of(Vocabulary(provider))), provider.rooms
    with world.change(Cause("start", "world")):
        for room in rooms:
            if room.setup is not None:
                room.setup(world)
    return world


def invoke(
    world: World,
    operation: Operation,
    body: dict[str, Any] | None = None,
    *,
    environment: str = "sandbox",
    query: dict[str, str] | None = None,
    caller: Any = None,
    **path: str,
) -> Any:
    """Call one operation of a room: resource, validation, action, timers due now; ApiError when refused."""
    call = Call(world, environment, path, caller=caller)
    answer = perform(operation, call, body, query, cause=Cause("request", operation.name))
    world.fire_due()
    return answer


def find_operation(rooms: tuple[Room, ...], method: str, path: str) -> Operation:
    """The row of the operation table for this method and path template."""
    return next(op for room in rooms for op in room.operations if (op.method, op.path) == (method, path))


def act(
    world: World,
    rooms: tuple[Room, ...],
    action: str,
    target: str | None = None,
    environment: str = "sandbox",
    **values: Any,
) -> Performed:
    """Perform an action as the control interface does; ControlError when refused."""
    table = ActionTable((row for room in rooms for row in room.actions), vocabulary_of(world).events)
    done = table.perform(world, action, target, values, environment, Cause("action", action))
    world.fire_due()
    return done


def advance(world: World, to_ms: int) -> None:
    """Move the simulated clock, firing what is due on the way."""
    world.fire_due(to_ms)
    world.clock.move_to(to_ms)


def event_types(world: World) -> list[str]:
    return [event.type for event in world.journal.events()]


def eventually(holds: Any) -> None:
    """Look until something holds that another thread brings about."""
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end, "it never came to be"
        threading.Event().wait(0.01)
