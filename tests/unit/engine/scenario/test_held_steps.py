"""Steps that wait for a network: which are held, and how they resume (decision S22)."""

from __future__ import annotations

import pytest

from simulator.engine.scenario.play import delays
from tests.unit.engine.scenario.waiting import CAUSE, Networks


@pytest.fixture
def networks() -> Networks:
    return Networks()


def test_held_step_resumes_with_its_remaining_delay(networks: Networks) -> None:
    networks.plan(10, "parcel_arrives")
    networks.plan(20, "fail", part="rules[1].do[0]")
    networks.set(north="down")
    assert (networks.planned(), networks.held()) == ([(20, "fail")], [(10, "parcel_arrives", ("north",))])
    networks.world.clock.move_to(networks.world.now_ms + 5_000)
    networks.set(north="operational")
    assert (networks.planned(), networks.held()) == ([(10, "parcel_arrives"), (15, "fail")], [])


def test_later_steps_of_the_rule_are_held_too(networks: Networks) -> None:
    """Otherwise a refund could come before the parcel that it returns."""
    networks.plan(5, "payment_arrives")
    networks.plan(10, "parcel_arrives", part="rules[0].do[1]")
    networks.plan(15, "refund", part="rules[0].do[2]")
    networks.plan(15, "refund", part="rules[1].do[0]")
    networks.set(north="down")
    assert networks.planned() == [(5, "payment_arrives"), (15, "refund")]
    assert [row[:2] for row in networks.held()] == [(10, "parcel_arrives"), (15, "refund")]


def test_timeline_steps_are_held_independently(networks: Networks) -> None:
    networks.plan(10, "parcel_arrives", part="timeline[0]", of_timeline=True)
    networks.plan(15, "refund", part="timeline[0]", of_timeline=True)
    networks.set(north="down")
    assert networks.planned() == [(15, "refund")]


def test_step_resumes_when_all_its_networks_are_up(networks: Networks) -> None:
    networks.plan(10, "complete")
    networks.set(north="down", south="down")
    networks.set(south="degraded")
    assert networks.held() == [(10, "complete", ("north", "south"))]
    networks.set(north="operational")
    assert networks.planned() == [(10, "complete")]


def test_held_steps_are_dropped_by_scenario_or_object(networks: Networks) -> None:
    networks.plan(1, "parcel_arrives")
    networks.plan(2, "parcel_arrives", scenario="other")
    networks.set(north="down")
    with networks.world.change(CAUSE):
        delays.drop(networks.world, scenario="other")
        assert [row[0] for row in networks.held()] == [1]
        assert list(delays.held_steps(networks.world, about="somebody else")) == []
        delays.drop(networks.world, target=networks.target)
    assert networks.held() == []
