"""Findings about the integrator's conduct that the service itself would not report."""

from __future__ import annotations

from typing import Any

from simulator.kernel.clock import format_timestamp
from simulator.kernel.store import TableKey
from simulator.kernel.world import World
from simulator.wire.json import JsonObject

SEVERITIES = ("info", "warning", "error")
KEPT = 10_000
"""How many findings a world keeps; the oldest go first."""


ADVICE = TableKey("advice", dict[str, Any])
"""The findings by their numbers."""


def advise(world: World, kind: str, severity: str, message: str, what_to_do: str, *evidence: str) -> None:
    """Keep a finding; inside a change. `evidence` are ids of requests or resources that show it."""
    number = world.next_sequence("advice")
    finding: JsonObject = {
        "id": f"adv_{number:06d}",
        "kind": kind,
        "severity": severity,
        "message": message,
        "what_to_do": what_to_do,
        "requests": list(evidence),
        "at": format_timestamp(world.now_ms),
    }
    table = world.store[ADVICE]
    table.put(str(number), finding)
    if str(number - KEPT) in table:
        table.delete(str(number - KEPT))
