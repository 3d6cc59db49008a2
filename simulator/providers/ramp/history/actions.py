"""Orders and transactions: lists and details of everything that moved the account's money.

Chapter "Orders and transactions" of the specification; decisions L1 to L4, S18. Other platform users' transactions
lie in tables of their own and are never seen here.
"""

from __future__ import annotations

from decimal import Decimal

from simulator.engine.rows.operation import Call
from simulator.providers.ramp.history.errors import ORDER_NOT_FOUND
from simulator.providers.ramp.transactions import Transaction, by_order_id, transactions


def load_order(call: Call) -> Transaction:
    """The order with a public order number, or that of a transaction id; 404 order_not_found."""
    order_id = call.path["order_id"]
    found = by_order_id(call.world, call.environment, order_id)
    found = found or transactions(call.world, call.environment).get(order_id)
    if found is None:
        raise ORDER_NOT_FOUND.error(f"There is no order {order_id!r}.")
    return found


def order_amount(order: Transaction) -> Decimal:
    """The order's amount in its source asset (of a buy, the fiat)."""
    return order.paid.amount if order.type == "buy" else order.amount
