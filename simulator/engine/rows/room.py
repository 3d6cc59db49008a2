"""A room: what one chapter of the specification hands to the composition root."""

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
    """The tables of one room: its operations, actions, timers and kinds, and its listeners to events.

    `tables` are those it keeps besides the tables of its kinds.
    `setup` makes the room's part of a fresh account (profile, keys, opening balances), inside a change. `clauses` say
    which clause of the specification describes which of its shapes.
    """

    name: str
    operations: tuple[Operation, ...] = ()
    actions: tuple[Action, ...] = ()
    timers: tuple[TimerRow, ...] = ()
    kinds: tuple[Kind, ...] = ()
    tables: tuple[TableKey[Any], ...] = ()
    on_event: tuple[EventListener, ...] = ()
    on_created: tuple[CreationListener, ...] = ()
    setup: Callable[[World], None] | None = None
    verify: Callable[[World], None] | None = None
    """Calculates with the room's rows of a saved world, and raises if they do not hold together."""
    clauses: Callable[[], Clauses] = dict
    events: tuple[EventType, ...] = ()
    """The events that it owns. Other rooms may emit them too."""
    errors: tuple[ErrorCode, ...] = ()
    """The error codes that it owns, besides those of the engine. Other rooms may answer them too."""

    def all_tables(self) -> tuple[TableKey[Any], ...]:
        """Every table that it owns or whose rows it has kinds of, each once."""
        return tuple(dict.fromkeys((*(kind.table for kind in self.kinds), *self.tables)))


def kinds_in_order(rooms: Iterable[Room]) -> list[Kind]:
    """The kinds of all rooms; last those of which a world has but one."""
    return sorted((kind for room in rooms for kind in room.kinds), key=lambda kind: kind.sole is not None)
