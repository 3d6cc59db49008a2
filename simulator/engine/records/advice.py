"""Findings about how an integrator uses the API. The service itself would not report them."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import with_config
from typing_extensions import TypedDict

from simulator.engine.records.saved import STRICT, SavedTimestamp
from simulator.kernel.clock import format_timestamp
from simulator.kernel.dataclass import dataclass
from simulator.kernel.store import TableKey
from simulator.kernel.world import World

Severity = Literal["info", "warning", "error"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
SEVERITY_MEANINGS = {
    "info": "Worth knowing.",
    "warning": "It will cause problems later.",
    "error": "It fails at the real service.",
}


@dataclass(frozen=True)
class AdviceKind:
    """The severity, text, remedy and specification clause of one kind of finding."""

    severity: Severity
    message: str
    what_to_do: str
    clause: str


KEPT = 10_000
"""The maximum number of findings in a world. The oldest are dropped first."""


@with_config(STRICT)
class Advice(TypedDict):
    """A finding about one world. `requests` are the ids of requests or resources that show the problem."""

    id: str
    kind: str
    severity: Severity
    message: str
    what_to_do: str
    requests: list[str]
    at: SavedTimestamp


ADVICE = TableKey("advice", Advice)
"""The findings by number."""


def advise(world: World, kind: str, severity: Severity, message: str, what_to_do: str, *evidence: str) -> None:
    """Add a finding, with the ids of requests or resources that show it. Call this inside a transaction."""
    number = world.next_sequence("advice")
    finding: Advice = {
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
