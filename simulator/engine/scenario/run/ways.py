"""What a provider says of the ways to its events: how objects are made, and who makes moves that no row explains."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import field
from typing import Any, TypeAlias

from simulator.engine.rows.action import ActionTable
from simulator.engine.rows.vocabulary import vocabulary_of
from simulator.engine.scenario.run.drive import Drive
from simulator.engine.text.json import JsonObject
from simulator.kernel.dataclass import dataclass
from simulator.kernel.journal import Cause
from simulator.kernel.machine import Move
from simulator.kernel.world import World


@dataclass(frozen=True, slots=True)
class Start:
    """Where the way to an event begins: a drive, and the id of the object that it makes ("" = the account)."""

    drive: Drive
    subject: str = ""


Make: TypeAlias = Callable[[World, str, str], Start]
"""From a world, an environment and the event that is wanted."""


@dataclass(frozen=True, slots=True)
class Fresh:
    """How objects of a kind are made."""

    kind: str
    make: Make
    usual: Mapping[str, Drive] = field(default_factory=dict)
    """The steps to an event that such objects could come to in many other ways."""


def _nothing_arrives(world: World, record: Any, event: str) -> Start | None:
    return None


def _no_parameters(record: Any, move: Move) -> JsonObject:
    return {}


@dataclass(frozen=True)
class Ways:
    """The ways to events that state tables, actions, timers and operations do not say by themselves."""

    emptied: Callable[[World, ActionTable, str, Cause], AbstractContextManager[None]]
    """Leaves nothing of what a resource, by id, is paid from while the block works; inside a change."""
    fresh: tuple[Fresh, ...] = ()
    """In the order in which they are asked for an event that several kinds emit."""
    arriving_at: Callable[[World, Any, str], Start | None] = _nothing_arrives
    """The start of an event about what comes to a resource, not about itself; None where there is none."""
    parameters: Callable[[Any, Move], JsonObject] = _no_parameters
    """The parameters that make an action take this cell of its row."""
    steps: Mapping[str, Callable[[World, Any, str], Drive]] = field(default_factory=dict)
    """By kind, the steps to a move that needs more than one call or timer; () leaves it to the rows."""


def ways_of(world: World) -> Ways:
    """The ways of the provider of a world, loaded when they are first asked for."""
    ways = vocabulary_of(world).provider.ways()
    assert isinstance(ways, Ways)
    return ways
