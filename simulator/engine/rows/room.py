"""A room: the rows of one chapter of the specification."""

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
    """The rows of one room: operations, actions, timers, kinds, and its listeners to events."""

    name: str
    operations: tuple[Operation, ...] = ()
    actions: tuple[Action, ...] = ()
    timers: tuple[TimerRow, ...] = ()
    kinds: tuple[Kind, ...] = ()
    tables: tuple[TableKey[Any], ...] = ()
    """Its tables besides those of its kinds."""
    on_event: tuple[EventListener, ...] = ()
    on_created: tuple[CreationListener, ...] = ()
    setup: Callable[[World], None] | None = None
    """Creates the room's part of a new account (profile, keys, opening balances), inside a change."""
    verify: Callable[[World], None] | None = None
    """Raises if the room's rows of a saved world are inconsistent."""
    clauses: Callable[[], Clauses] = dict
    """The clause of the specification that describes each of its shapes."""
    events: tuple[EventType, ...] = ()
    """The events that it declares. Other rooms may emit them too."""
    errors: tuple[ErrorCode, ...] = ()
    """The error codes that it declares, in addition to those of the engine. Other rooms may return them too."""

    def all_tables(self) -> tuple[TableKey[Any], ...]:
        """Return all tables of the room, including those of its kinds, without duplicates."""
        return tuple(dict.fromkeys((*(kind.table for kind in self.kinds), *self.tables)))


def kinds_in_order(rooms: Iterable[Room]) -> list[Kind]:
    """Return the kinds of all rooms. Kinds with one resource for each world come last."""
    return sorted((kind for room in rooms for kind in room.kinds), key=lambda kind: kind.sole is not None)
