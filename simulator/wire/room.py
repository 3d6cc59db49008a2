"""A room: what one chapter of the specification hands to the composition root."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from simulator.kernel.world import CreationListener, EventListener, TimerHandler, World
from simulator.wire.actions import Action
from simulator.wire.operation import Operation
from simulator.wire.records import Kind


@dataclass(frozen=True)
class Room:
    """The tables of one room: its operations, actions, timers and kinds, and what it wants to hear of events.

    `lay` puts down the room's part of a fresh account (profile, keys, opening balances), inside a change.
    """

    name: str
    operations: tuple[Operation, ...] = ()
    actions: tuple[Action, ...] = ()
    timers: Mapping[str, TimerHandler] = field(default_factory=dict)
    kinds: tuple[Kind, ...] = ()
    on_event: tuple[EventListener, ...] = ()
    on_created: tuple[CreationListener, ...] = ()
    lay: Callable[[World], None] | None = None
