"""The events that this room declares: chapter "Events" of the specification."""

from __future__ import annotations

from simulator.engine.rows.event import EventType

EVENTS = (
    EventType(
        "network.status_changed",
        "a network moved between operational, degraded and down",
        "network",
        "`status` in `data.object` is the new one; while it is `down`, make no quotes or transactions there.",
        narrows=False,
        after="kyc.rejected",
    ),
)
