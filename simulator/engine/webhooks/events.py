"""The events that this package declares (section "Events" of the specification)."""

from __future__ import annotations

from simulator.engine.rows.event import EventType

EVENTS = (
    EventType("webhook.test", "POST /webhooks/{id}/test asks for it", "webhook",
              "It shows that the receiver verifies signatures correctly. Nothing has happened.", in_status="enabled",
              narrows=False),
)  # fmt: skip
