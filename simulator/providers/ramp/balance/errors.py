"""The error codes that this room declares: chapter "Errors" of the specification."""

from __future__ import annotations

from simulator.engine.rows.error import ErrorCode

INSUFFICIENT_BALANCE = ErrorCode(
    "insufficient_balance", 422, "the wallet balance is too low", after="insufficient_deposit"
)
SLIPPAGE_EXCEEDED = ErrorCode("slippage_exceeded", 422, "the swap rate moved beyond the slippage tolerance")

ERRORS = (
    INSUFFICIENT_BALANCE,
    SLIPPAGE_EXCEEDED,
)
