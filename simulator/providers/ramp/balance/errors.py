"""The error codes that this room declares: chapter "Errors" of the specification."""

from __future__ import annotations

from simulator.engine.rows.error import ErrorCode
from simulator.engine.rows.operation import specified

INSUFFICIENT_BALANCE = ErrorCode(
    "insufficient_balance", 422, "the wallet balance is too low", after="insufficient_deposit"
)
SLIPPAGE_EXCEEDED = ErrorCode("slippage_exceeded", 422, "the swap rate moved beyond the slippage tolerance")

NO_ASSET = ("unsupported_network", "unsupported_asset")
NO_AMOUNT = ("amount_too_low", "amount_too_high")
NO_QUOTE = specified("quote_expired", "network_unavailable") | {
    "quote_not_found": "S2",
    "quote_already_used": "S2",
    "unsupported_pair": "M15",
}
"""What quotes and estimates refuse, and what using a quote refuses."""

ERRORS = (
    INSUFFICIENT_BALANCE,
    SLIPPAGE_EXCEEDED,
)
