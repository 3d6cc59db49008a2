"""The error codes that this package declares (section "Errors" of the specification)."""

from __future__ import annotations

from simulator.engine.rows.error import ErrorCode

INVALID_WEBHOOK_URL = ErrorCode(
    "invalid_webhook_url", 422, "the URL is not a public HTTPS endpoint that answers 200", after="idempotency_conflict"
)
UNSUPPORTED_EVENT = ErrorCode("unsupported_event", 422, "an event type in events does not exist", lasting=True)

ERRORS = (
    INVALID_WEBHOOK_URL,
    UNSUPPORTED_EVENT,
)
