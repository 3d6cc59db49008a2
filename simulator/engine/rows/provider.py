"""A provider: all that engine and tools get to know of a simulated service."""

from __future__ import annotations

from simulator.engine.rows.room import Room
from simulator.kernel.dataclass import dataclass


@dataclass(frozen=True, eq=False)
class Provider:
    """One simulated service, in one row. A member that loads slow modules is a function."""

    name: str
    """What people call the service."""

    rooms: tuple[Room, ...]
    """Its rooms, in the order in which they may import each other; room `webhooks` of the engine among them."""

    environments: tuple[str, ...]
    """The environments of an account; the first is meant where none is named."""
