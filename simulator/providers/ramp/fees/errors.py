"""The error codes that this room declares: chapter "Errors" of the specification."""

from __future__ import annotations

from simulator.engine.rows.error import ErrorCode

AMOUNT_TOO_LOW = ErrorCode(
    "amount_too_low", 422, "below the minimum for the pair or asset", after="unsupported_pair", lasting=True
)

ERRORS = (AMOUNT_TOO_LOW,)
