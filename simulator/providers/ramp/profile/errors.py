"""The error codes that this room declares: chapter "Errors" of the specification."""

from __future__ import annotations

from simulator.engine.rows.error import ErrorCode

KYC_REQUIRED = ErrorCode(
    "kyc_required", 403, "the account has not passed KYC", anywhere=True, after="environment_mismatch"
)
PRODUCTION_ACCESS_REQUIRED = ErrorCode(
    "production_access_required", 403, "live keys before production access was approved", anywhere=True
)
AMOUNT_TOO_HIGH = ErrorCode("amount_too_high", 422, "above the limit for the pair or account", after="amount_too_low")

ERRORS = (
    KYC_REQUIRED,
    PRODUCTION_ACCESS_REQUIRED,
    AMOUNT_TOO_HIGH,
)
