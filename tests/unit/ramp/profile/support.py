"""A world with a profile, and helpers for its operations and actions."""

from __future__ import annotations

from typing import Any

from simulator.engine.rows.action import Performed
from simulator.kernel.world import World
from simulator.providers.ramp import profile, reference
from tests.support import act as act_in
from tests.support import find_operation, invoke, make_world

ROOMS = (reference.ROOM, profile.ROOM)


def fresh(**options: Any) -> World:
    return make_world(*ROOMS, **options)


def get(world: World, path: str, environment: str = "sandbox") -> Any:
    return invoke(world, find_operation(ROOMS, "GET", path), environment=environment)


def patch(world: World, body: dict[str, Any]) -> Any:
    return invoke(world, find_operation(ROOMS, "PATCH", "/profile"), body)


def act(world: World, action: str, environment: str = "sandbox", **values: Any) -> Performed:
    return act_in(world, ROOMS, action, None, environment, **values)
