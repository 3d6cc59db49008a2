"""Findings about the integrator's conduct."""

from __future__ import annotations

import pytest

from simulator.engine.records import advice
from simulator.engine.records.advice import ADVICE, advise
from simulator.kernel.world import World
from tests.unit.engine.rows import lamps


def findings(world: World) -> list[str]:
    return [finding["id"] for finding in world.store[ADVICE].values()]


def test_a_finding_has_evidence_severity_and_a_fix() -> None:
    world = lamps.make()
    with world.change(lamps.CAUSE):
        advise(world, "unknown_field", "info", "`colour` is unknown.", "Leave it out.", "req_1", "req_2")
    assert list(world.store[ADVICE].values()) == [
        {
            "id": "adv_000001",
            "kind": "unknown_field",
            "severity": "info",
            "message": "`colour` is unknown.",
            "what_to_do": "Leave it out.",
            "requests": ["req_1", "req_2"],
            "at": lamps.START,
        }
    ]


def test_findings_are_kept_up_to_a_bound_and_the_oldest_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advice, "KEPT", 3)
    world = lamps.make()
    for _ in range(5):
        with world.change(lamps.CAUSE):
            advise(world, "unknown_field", "info", "m", "w")
    assert findings(world) == ["adv_000003", "adv_000004", "adv_000005"]


def test_there_are_three_severities() -> None:
    assert advice.SEVERITIES == ("info", "warning", "error")
