"""The error codes that this room declares: chapter "Errors" of the specification."""

from __future__ import annotations

from simulator.engine.rows.error import ErrorCode

INVOICE_EXPIRED = ErrorCode(
    "invoice_expired", 422, "the Lightning invoice expired before payment", after="unsupported_asset", lasting=True
)
WALLET_DISABLED = ErrorCode("wallet_disabled", 409, "the wallet is disabled and cannot receive funds")

ERRORS = (
    INVOICE_EXPIRED,
    WALLET_DISABLED,
)
