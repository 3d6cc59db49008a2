"""The careful shop against every scenario that ships and does something by itself: no money is lost or doubled."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.tools.integrators.rig import Rig

SCENARIOS = Path(__file__).parents[3] / "scenarios"
ACTS = re.compile(r"^(rules|timeline|faults|world):", re.MULTILINE)
"""A scenario that does something beside its own drive."""


@pytest.mark.parametrize(
    "name", [path.stem for path in sorted(SCENARIOS.glob("*.yaml")) if ACTS.search(path.read_text("utf-8"))]
)
def test_nothing_is_lost_or_doubled_in(name: str, shop: Rig) -> None:
    """The autopilot does what the scenario leaves open. Orders come before and in the middle of what happens."""
    shop.world.scenario("autopilot", name)
    for reference, minutes in (("first", "11m"), ("second", "5h")):
        shop.onramp(f"{reference}-in")
        shop.offramp(f"{reference}-out")
        shop.standing_payout(f"{reference}-rent")
        shop.world.advance(minutes, wait=True)
        shop.renew_keys()
    shop.world.control("DELETE", "/faults")
    assert shop.judged() == []
