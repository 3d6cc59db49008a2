"""The state table of webhook endpoints ("Other status sets" in the specification, decision W5)."""

from __future__ import annotations

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
