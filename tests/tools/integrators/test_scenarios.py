"""The careful shop with every included scenario that acts on its own: no money is lost or doubled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.places import ROOT
from tests.tools.integrators.rig import Rig

SCENARIOS = ROOT / "scenarios"
ACTS = ("rules", "timeline", "faults", "world")
"""The effects of a scenario apart from its own drive."""


def words_of(document: Any) -> Iterator[str]:
    """The members by which a scenario says what it does, and the names of its actions."""
    if isinstance(document, dict):
        for name, value in document.items():
            yield f"{name} {value}" if name == "action" else str(name)
            yield from words_of(value)
    elif isinstance(document, list):
        for one in document:
            yield from words_of(one)


def those_that_act() -> Iterator[Any]:
    """The names of all scenarios that act; `farm` for one of which others before it do everything that it does."""
    seen: set[str] = set()
    for path in sorted(SCENARIOS.glob("*.yaml")):
        document = yaml.load(path.read_text("utf-8"), yaml.CSafeLoader)
        words = {*words_of({name: document[name] for name in ACTS if name in document})}
        if words:
            yield pytest.param(path.stem, marks=[] if words - seen else pytest.mark.farm)
        seen |= words


@pytest.mark.parametrize("name", [*those_that_act()])
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
