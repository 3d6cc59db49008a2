"""Advice that only the ramp gives."""

from __future__ import annotations

from simulator.host import vocabulary
from tests.unit.engine.insight.test_findings import check_lessons


def test_every_kind_of_conduct_teaches() -> None:
    assert vocabulary().provider.advice
    check_lessons(vocabulary())
