"""A room: the declarations of one package, which implements one section of the specification."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from simulator.engine.rows.action import Action
from simulator.engine.rows.error import ErrorCode
from simulator.engine.rows.event import EventType
from simulator.engine.rows.kind import Kind
from simulator.engine.rows.operation import Operation
from simulator.engine.text.shapes import Clauses
from simulator.kernel.dataclass import dataclass
from simulator.kernel.store import TableKey
from simulator.kernel.world import CreationListener, EventListener, TimerRow, World


@dataclass(frozen=True)
class Room:
    """The declarations of one package: operations, actions, timers, resource kinds and event listeners."""

    name: str
    operations: tuple[Operation, ...] = ()
    actions: tuple[Action, ...] = ()
    timers: tuple[TimerRow, ...] = ()
    kinds: tuple[Kind, ...] = ()
    tables: tuple[TableKey[Any], ...] = ()
    """The tables of the room, except the tables of its resource kinds."""
    on_event: tuple[EventListener, ...] = ()
    on_created: tuple[CreationListener, ...] = ()
    setup: Callable[[World], None] | None = None
    """Creates this room's part of a new account (profile, keys, opening balances) inside a transaction."""
    verify: Callable[[World], None] | None = None
    """Raises an exception if the rows of the room in a saved world are inconsistent."""
    clauses: Callable[[], Clauses] = dict
    """The specification clause that describes each of the room's shapes."""
    events: tuple[EventType, ...] = ()
    """The events that the room declares. Other rooms may also emit them."""
    errors: tuple[ErrorCode, ...] = ()
    """The error codes that the room declares, in addition to the engine's. Other rooms may also return them."""


def kinds_in_order(rooms: Iterable[Room]) -> list[Kind]:
    """Return the resource kinds of all rooms (packages). Kinds with only one resource per world are last."""
    return sorted((kind for room in rooms for kind in room.kinds), key=lambda kind: kind.sole is not None)
