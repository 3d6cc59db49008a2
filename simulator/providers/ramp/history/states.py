"""The statuses of orders: those of their transactions, in words of their own (decision S18)."""

from __future__ import annotations

from simulator.engine.rows.error import ErrorCode

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

ORDER_STATUS_MEANINGS = {
    "pending": "It waits for a payment, a deposit or the network.",
    "processing": "The money is there and on its way.",
    "successful": "The recipient has it.",
    "failed": "It came to nothing; `reason` says why.",
    "expired": "The payment or deposit did not arrive in time.",
    "refunded": "What was received or held went back.",
}

ORDER_NOT_FOUND = ErrorCode(
    "order_not_found", 404, "no order with this order_id for the account", after="invalid_date_range", lasting=True
)

ERRORS = (ORDER_NOT_FOUND,)
