"""The error codes that this room declares: chapter "Errors" of the specification."""

from __future__ import annotations

from simulator.engine.rows.error import ErrorCode

ORDER_NOT_FOUND = ErrorCode(
    "order_not_found", 404, "no order with this order_id for the account", after="invalid_date_range", lasting=True
)

ERRORS = (ORDER_NOT_FOUND,)
