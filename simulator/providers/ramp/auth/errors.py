"""The error codes that this room declares: chapter "Errors" of the specification."""

from __future__ import annotations

from simulator.engine.rows.error import ErrorCode

INVALID_CREDENTIALS = ErrorCode(
    "invalid_credentials", 401, "the key pair does not match or is revoked", after="unauthorized"
)
ENVIRONMENT_MISMATCH = ErrorCode("environment_mismatch", 401, "a sandbox key on production or the reverse")

ERRORS = (
    INVALID_CREDENTIALS,
    ENVIRONMENT_MISMATCH,
)
