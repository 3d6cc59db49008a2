"""How transactions read as orders: their statuses, the figure they sort by. History stores nothing of its own."""

from __future__ import annotations

from decimal import Decimal

from simulator.resources.transactions import Transaction

ORDER_STATUSES = {
    "awaiting_payment": "pending",
    "awaiting_deposit": "pending",
    "pending": "pending",
    "processing": "processing",
    "completed": "successful",
    "failed": "failed",
    "expired": "expired",
    "refunded": "refunded",
}
"""The status of an order by that of its transaction (decision S18)."""


def order_amount(order: Transaction) -> Decimal:
    """The order's amount in its source asset (of a buy, the fiat)."""
    return order.paid.amount if order.type == "buy" else order.amount
