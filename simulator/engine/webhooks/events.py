"""The events that this package declares (section "Events" of the specification)."""

from __future__ import annotations

from simulator.engine.rows.event import EventType

EVENTS = (
    EventType(
        "webhook.test",
        "a call of POST /webhooks/{id}/test requested it",
        "webhook",
        "It shows that the receiver verifies signatures correctly. Nothing has happened.",
        in_status="enabled",
        narrows=False,
    ),
)
