"""Stretching the remaining delays of steps while a network is slow."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.engine.scenario.play import delays
from tests.unit.engine.scenario.shop import OUTAGES
from tests.unit.engine.scenario.waiting import Networks


@pytest.fixture
def networks() -> Networks:
    return Networks()


@pytest.mark.parametrize(
    ("subject", "names"),
    [
        ({"network": "NORTH"}, ["north"]),
        ({"network": "nowhere"}, []),
        ({"network": 5, "from": {"network": "South"}, "to": {"network": "EAST"}}, ["south", "east"]),
        ({"from": {"network": "north"}, "to": {"network": "NORTH"}}, ["north"]),
        ({}, []),
    ],
)
def test_an_object_names_its_networks_in_any_spelling(subject: dict[str, Any], names: list[str]) -> None:
    assert delays.networks_of(subject, OUTAGES.spellings) == names


@pytest.mark.parametrize(
    ("north", "south", "factor"),
    [
        ("operational", "operational", 1.0),
        ("degraded", "operational", 4.0),
        ("degraded", "down", 9.0),
        ("swift", "operational", 0.5),
        ("swift", "degraded", 4.0),
    ],
)
def test_slowest_network_decides(networks: Networks, north: str, south: str, factor: float) -> None:
    networks.statuses = {"north": north, "south": south}
    slowdown = {"degraded": 4.0, "down": 9.0, "swift": 0.5}
    args = (networks.world, networks.status, slowdown, "practice", ["north", "south"])
    assert delays.factor(*args) == factor


def test_remaining_delay_is_stretched_and_restored(networks: Networks) -> None:
    networks.plan(20, "payment_arrives", slowed_by=["north"])
    networks.plan(20, "fail")
    networks.world.clock.move_to(networks.world.now_ms + 10_000)
    networks.set(north="degraded")
    assert networks.planned() == [(10, "fail"), (40, "payment_arrives")]
    networks.world.clock.move_to(networks.world.now_ms + 8_000)
    networks.set(north="operational")
    assert networks.planned() == [(2, "fail"), (8, "payment_arrives")]
