"""A provider's part in triggering events: how to create its objects, and how to make moves that no row explains."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import field
from typing import Any

from simulator.engine.rows.action import ActionTable
from simulator.engine.rows.vocabulary import vocabulary_of
from simulator.engine.scenario.run.drive import Drive
from simulator.engine.text.json import JsonObject
from simulator.kernel.dataclass import dataclass
from simulator.kernel.journal import Cause
from simulator.kernel.machine import Move
from simulator.kernel.world import World


@dataclass(frozen=True, slots=True)
class Setup:
    """The steps that create an object."""

    drive: Drive
    subject: str = ""
    """The id of the object, such as `${wallet.id}`; "" for the account."""


@dataclass(frozen=True, slots=True)
class Factory:
    """Creates objects of a kind."""

    kind: str
    set_up: Callable[[World, str, str], Setup]
    """Returns the setup for a world, an environment and the event to reach."""
    usual: Mapping[str, Drive] = field(default_factory=dict)
    """The preferred steps to an event that could be reached in several ways."""


@dataclass(frozen=True)
class Triggers:
    """The provider knowledge that state tables, actions, timers and operations do not show."""

    without_funds: Callable[[World, ActionTable, str, Cause], AbstractContextManager[None]]
    """Empties the balance that pays for a resource, given by id, while the block runs; inside a change."""
    factories: tuple[Factory, ...] = ()
    """If several kinds emit an event, the first factory wins."""
    incoming: Callable[[World, Any, str], Setup | None] = lambda world, record, event: None
    """Returns the setup if the event is about something that arrives at this resource, such as a deposit."""
    parameters: Callable[[Any, Move], JsonObject] = lambda record, move: {}
    """Returns the parameters that make an action choose this one of its moves."""
    steps: Mapping[str, Callable[[World, Any, str], Drive]] = field(default_factory=dict)
    """By kind, the steps for moves that need more than one call or timer; () leaves a move to the rows."""


def triggers_of(world: World) -> Triggers:
    """Return the triggers of a world's provider. They are loaded at the first call."""
    triggers = vocabulary_of(world).provider.triggers()
    assert isinstance(triggers, Triggers)
    return triggers
