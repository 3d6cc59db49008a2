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


def debited(order: Transaction) -> Decimal | None:
    """What was taken of the customer: the quote's figure while the order may still succeed (decision S18).

    Of an order that came to nothing it is what really came in, None when that is nothing: an unpaid ramp or buy, and a
    send or swap, whose hold was released.
    """
    if order.status not in ("failed", "expired", "refunded"):
        return order.paid.amount
    if order.type in ("onramp", "offramp", "buy"):
        return order.funds_received
    return order.paid.amount if order.type == "withdraw" else None
