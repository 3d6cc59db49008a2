"""History: orders and transactions, read from what the rooms before this one have recorded.

Chapters "Orders and transactions" and "Order" of the specification, decisions L1 to L4 and S18.
"""

from __future__ import annotations

from simulator.resources.history import shapes
from simulator.resources.history.routes import OPERATIONS
from simulator.wire.room import Room

ROOM = Room(
    "history",
    operations=OPERATIONS,
    clauses=lambda: shapes.CLAUSES,
)


__all__ = ["ROOM"]
