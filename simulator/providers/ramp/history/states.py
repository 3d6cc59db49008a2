"""The statuses of orders, which are renamed transaction statuses (decision S18), and the error code for orders."""

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
"""Maps the status of a transaction to the status of its order (decision S18)."""

ORDER_STATUS_MEANINGS = {
    "pending": "It waits for a payment, a deposit or the network.",
    "processing": "The money was received or is held, and is on its way.",
    "successful": "The recipient has the money.",
    "failed": "It failed. `reason` contains the reason.",
    "expired": "The payment or deposit did not arrive in time.",
    "refunded": "The received or held money was returned.",
}

ORDER_NOT_FOUND = ErrorCode(
    "order_not_found", 404, "no order with this order_id for the account", after="invalid_date_range", lasting=True
)

ERRORS = (ORDER_NOT_FOUND,)
