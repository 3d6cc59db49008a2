"""History: the orders and transactions that all packages create (sections "Orders and transactions" and "Order";
decisions L1 to L4, S18).
"""

from __future__ import annotations

from simulator.engine.rows.room import Room
from simulator.providers.ramp.history import operations, shapes
from simulator.providers.ramp.history.states import ERRORS

ROOM = Room(
    "history",
    operations=(operations.list_orders, operations.get_order, operations.list_transactions, operations.get_transaction),
    clauses=lambda: shapes.CLAUSES,
    errors=ERRORS,
)
