"""The state table, errors and events of webhook endpoints (decision W5)."""

from __future__ import annotations

from simulator.engine.rows.error import ErrorCode
from simulator.engine.rows.event import EventType
from simulator.kernel.machine import Machine, Move

WEBHOOK = Machine(
    "webhook",
    initial=(Move("register", "enabled"),),
    rows={
        "enabled": (
            Move("disable", "disabled"),
            Move("repeated_failures", "disabled"),
            Move("delete", "deleted", basis="H1"),
        ),
        "disabled": (Move("enable", "enabled"), Move("delete", "deleted", basis="H1")),
        "deleted": (),
    },
)

MEANINGS = {
    "enabled": "It receives the events that it subscribes to.",
    "disabled": "It receives nothing: it was disabled by request, or after the last attempt for an event failed.",
}
"""The statuses that responses can contain. Deleted endpoints are not in responses."""

INVALID_WEBHOOK_URL = ErrorCode(
    "invalid_webhook_url", 422, "the URL is not a public HTTPS endpoint that answers 200", after="idempotency_conflict"
)
UNSUPPORTED_EVENT = ErrorCode("unsupported_event", 422, "an event type in events does not exist", lasting=True)

ERRORS = (INVALID_WEBHOOK_URL, UNSUPPORTED_EVENT)

EVENTS = (
    EventType(
        "webhook.test",
        "a call of POST /webhooks/{id}/test requested it",
        "It shows that the receiver verifies signatures correctly. Nothing has happened.",
        in_status="enabled",
        narrows=False,
    ),
)
