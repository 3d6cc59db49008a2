"""The error codes that this room declares: chapter "Errors" of the specification."""

from __future__ import annotations

from simulator.engine.rows.error import ErrorCode

INSUFFICIENT_BALANCE = ErrorCode(
    "insufficient_balance", 422, "the wallet balance is too low", after="insufficient_deposit"
)
SLIPPAGE_EXCEEDED = ErrorCode("slippage_exceeded", 422, "the swap rate moved beyond the slippage tolerance")

NO_ASSET = ("unsupported_network", "unsupported_asset")
NO_AMOUNT = ("amount_too_low", "amount_too_high")
NO_QUOTE = ("quote_not_found", "quote_already_used", "quote_expired", "unsupported_pair", "network_unavailable")
"""What quotes and estimates refuse, and what using a quote refuses."""

ERRORS = (
    INSUFFICIENT_BALANCE,
    SLIPPAGE_EXCEEDED,
)
