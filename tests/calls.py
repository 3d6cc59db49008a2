"""Helpers for tests on any service: create a world of it, and call operations and actions without HTTP."""

from __future__ import annotations

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

START = "2026-01-05T08:00:00.000Z"


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
    environment: str = "",
    query: dict[str, str] | None = None,
    caller: Any = None,
    **path: str,
) -> Any:
    """Call one operation of a room: resource, validation, action, timers due now; ApiError when refused.

    Without an environment, the call is made in the first one.
    """
    call = Call(world, environment or world.environments[0], path, caller=caller)
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
    environment: str = "",
    **values: Any,
) -> Performed:
    """Perform an action as the control interface does; ControlError when refused.

    Without an environment, it is performed in the first one.
    """
    table = ActionTable((row for room in rooms for row in room.actions), vocabulary_of(world).events)
    done = table.perform(world, action, target, values, environment or world.environments[0], Cause("action", action))
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
