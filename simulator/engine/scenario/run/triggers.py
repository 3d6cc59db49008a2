"""Types with which a provider declares how to create objects and trigger its events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import field
from typing import TYPE_CHECKING, Any

from simulator.engine.rows.action import ActionTable
from simulator.engine.text.json import JsonObject
from simulator.engine.vocabulary.vocabulary import vocabulary_of
from simulator.kernel.dataclass import dataclass
from simulator.kernel.journal import Cause
from simulator.kernel.machine import Move
from simulator.kernel.world import World

if TYPE_CHECKING:
    from simulator.engine.scenario.run.drive import Drive, DriveAction


@dataclass(frozen=True, slots=True)
class Episode:
    """One payment: the steps that create it, and the third-party actions that complete it."""

    drive: Drive
    """The steps that create the order. If one of them is refused, the later steps are omitted."""
    later: tuple[tuple[int, DriveAction], ...] = ()
    """The actions of third parties, each with its delay after the previous step, in milliseconds."""


@dataclass(frozen=True, slots=True)
class History:
    """A provider's functions that generate the payments of an account over several days."""

    mixes: Mapping[str, str]
    """The mixes of outcomes, each with its description."""
    begin: Callable[[World, str, int], Drive]
    """Returns the steps before the first order, given the world, an environment and the number of days."""
    episode: Callable[[World, str, str, int], Episode]
    """Returns an order, given the world, an environment, a mix and the order's number. Choices depend on the seed."""
    hours: tuple[int, int]
    """The hours of the day, in UTC, between which orders are created."""


@dataclass(frozen=True, slots=True)
class Setup:
    """The steps that create an object."""

    drive: Drive
    subject: str = ""
    """The id of the object, such as `${wallet.id}`; "" for the account."""


@dataclass(frozen=True, slots=True)
class Factory:
    """Returns the steps that create an object of one kind."""

    kind: str
    set_up: Callable[[World, str, str], Setup]
    """Returns the setup, given a world, an environment and the event to reach."""
    usual: Mapping[str, Drive] = field(default_factory=dict)
    """The preferred steps, by event, for events that could be reached in several ways."""


@dataclass(frozen=True)
class Triggers:
    """A provider's functions for triggering any of its events on request, where its tables and rows do not suffice."""

    without_funds: Callable[[World, ActionTable, str, Cause], AbstractContextManager[None]]
    """Empties the balance that pays for a resource, given its id, until the end of the block, inside a transaction."""
    factories: tuple[Factory, ...] = ()
    """The factories. If several kinds emit an event, the first factory is used."""
    incoming: Callable[[World, Any, str], Setup | None] = lambda world, record, event: None
    """Returns the setup if the event concerns something that arrives at this resource, such as a deposit."""
    parameters: Callable[[Any, Move], JsonObject] = lambda record, move: {}
    """Returns the parameters with which an action triggers this transition and not another."""
    steps: Mapping[str, Callable[[World, Any, str], Drive]] = field(default_factory=dict)
    """The steps for transitions that need more than one call or timer, by kind. For (), an API call is used."""
    history: History | None = None
    """The orders that `POST /_simulator/seed` creates, if the service has any."""


def triggers_of(world: World) -> Triggers:
    """Return the declared triggers of a world's provider. Their module is imported on the first call."""
    triggers = vocabulary_of(world).provider.triggers()
    assert isinstance(triggers, Triggers)
    return triggers
