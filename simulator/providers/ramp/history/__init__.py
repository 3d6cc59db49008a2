"""History: orders and transactions, read from what the rooms before this one have recorded.

Chapters "Orders and transactions" and "Order" of the specification, decisions L1 to L4 and S18.
"""

from __future__ import annotations

from simulator.engine.rows.room import Room
from simulator.providers.ramp.history import shapes
from simulator.providers.ramp.history.errors import ERRORS
from simulator.providers.ramp.history.routes import OPERATIONS

ROOM = Room(
    "history",
    operations=OPERATIONS,
    clauses=lambda: shapes.CLAUSES,
    errors=ERRORS,
)


__all__ = ["ROOM"]
