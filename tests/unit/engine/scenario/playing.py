"""Worlds of the shop, in which scenarios are played without calls."""

from __future__ import annotations

from typing import Any

from simulator.engine.records.origins import RequestOrigin
from simulator.engine.records.records import create, new_fields
from simulator.engine.scenario.files.library import Library
from simulator.engine.scenario.files.loader import Loader
from simulator.engine.scenario.play.engine import Engine
from simulator.engine.text.json import json_text
from simulator.engine.vocabulary.vocabulary import collected, wiring_of
from simulator.kernel.clock import Clock, parse_timestamp
from simulator.kernel.journal import Cause
from simulator.kernel.world import World
from tests.calls import START
from tests.unit.engine.scenario.shop import OUTAGES, PROVIDER, Thing

VOCABULARY = collected(PROVIDER)
ACTIONS = VOCABULARY.actions
LOADER = Loader(VOCABULARY)


def engine_of(*texts: str) -> Engine:
    """Return an engine with these shipped scenarios."""
    library = Library()
    for text in texts:
        file = LOADER.load(text, "shop.yaml", library)
        library[file.name] = file
    return Engine(ACTIONS, library, OUTAGES)


def world_of(engine: Engine, seed: int = 1) -> World:
    listeners = (engine.on_event,), (engine.on_created,)
    wiring = wiring_of(VOCABULARY, engine.timers, *listeners, engine.on_failure)
    return World("w", seed, Clock(parse_timestamp(START)), wiring)


def begin(
    world: World,
    sort: str,
    shown: dict[str, Any] | None = None,
    *,
    body: dict[str, Any] | None = None,
    scenario: str = "",
    environment: str = "practice",
    **members: Any,
) -> str:
    """Create a resource as a request with this body would. Return its id."""
    with world.change(Cause("request", "begin"), RequestOrigin(json_text(body or {}), scenario)):
        thing = Thing(
            **new_fields(world, environment, "x_", f"ids.{sort}"),
            sort=sort,
            shown={"network": "north", **(shown or {})},
            **members,
        )
        return create(world, thing, "begin").id


def activate(world: World, engine: Engine, *names: str) -> None:
    with world.change(Cause("action", "activate")):
        engine.activate(world, names)
