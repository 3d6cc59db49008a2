"""The events that this room declares: chapter "Events" of the specification."""

from __future__ import annotations

from simulator.engine.rows.event import EventType

EVENTS = (
    EventType(
        "beneficiary.created",
        "a beneficiary was added",
        "beneficiary",
        "It can be paid from now on.",
        narrows=False,
        after="quote.expired",
    ),
    EventType(
        "beneficiary.deleted",
        "a beneficiary was removed",
        "beneficiary",
        "`data.object` is its last state. It can be paid no more.",
        narrows=False,
        example={"created_at": "@-1d"},
    ),
)
