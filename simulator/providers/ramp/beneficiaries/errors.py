"""The error codes that this room declares: chapter "Errors" of the specification."""

from __future__ import annotations

from simulator.engine.rows.error import ErrorCode

BENEFICIARY_MISMATCH = ErrorCode(
    "beneficiary_mismatch",
    422,
    "the beneficiary's currency or method does not match the quote",
    after="invalid_wallet_address",
    lasting=True,
)
UNSUPPORTED_PROVIDER = ErrorCode(
    "unsupported_provider",
    422,
    "the mobile money provider is not supported in the country",
    after="invalid_bank_account",
    lasting=True,
)

ERRORS = (
    BENEFICIARY_MISMATCH,
    UNSUPPORTED_PROVIDER,
)
