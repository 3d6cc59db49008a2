"""The state table of webhook endpoints: "Other status sets" of the specification, decision W5."""

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
        "disabled": (
            Move("enable", "enabled"),
            Move("delete", "deleted", basis="H1"),
        ),
        "deleted": (),
    },
)

STATUSES = ("enabled", "disabled")
"""The statuses that are ever shown."""
