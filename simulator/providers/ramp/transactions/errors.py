"""The error codes that this room declares: chapter "Errors" of the specification."""

from __future__ import annotations

from simulator.engine.rows.error import ErrorCode

QUOTE_EXPIRED = ErrorCode(
    "quote_expired", 422, "the quote is older than 30 minutes", after="amount_too_high", lasting=True
)
QUOTE_ALREADY_USED = ErrorCode("quote_already_used", 409, "the quote was already confirmed")
QUOTE_NOT_FOUND = ErrorCode("quote_not_found", 404, "no such quote for the account", lasting=True)
PAYMENT_FAILED = ErrorCode(
    "payment_failed", 422, "the payer's provider declined the collection", after="beneficiary_mismatch"
)
PAYOUT_FAILED = ErrorCode("payout_failed", 422, "the recipient's bank or provider rejected the payout; funds refunded")
INSUFFICIENT_DEPOSIT = ErrorCode("insufficient_deposit", 422, "the deposit is less than the quoted amount")

ERRORS = (
    QUOTE_EXPIRED,
    QUOTE_ALREADY_USED,
    QUOTE_NOT_FOUND,
    PAYMENT_FAILED,
    PAYOUT_FAILED,
    INSUFFICIENT_DEPOSIT,
)
