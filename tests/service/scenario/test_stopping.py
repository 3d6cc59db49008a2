"""Stopping scenarios that would never end, that fail, or that exceed the maximum time."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.engine.faults.in_force import FAULTS
from simulator.engine.scenario.play import stops
from simulator.engine.scenario.play.engine import Engine
from simulator.engine.scenario.play.logbook import last_entry
from simulator.engine.scenario.play.stops import stopped_since
from simulator.engine.worlds.setting_model import Settings
from simulator.engine.worlds.settings import change_settings
from simulator.kernel.clock import DAY_MS, LAST_MS, Clock
from simulator.kernel.journal import Cause
from simulator.kernel.world import World
from tests.service.scenario.test_engine import after, running, status
from tests.unit.engine.scenario.playing import ACTIONS, LOADER, activate, begin
from tests.unit.engine.scenario.shop import BALANCES

DOWN = "{action: set_network, network: north, status: down}"
UP = "{action: set_network, network: north, status: operational}"
ECHO = """
name: echo
rules:
  - {on: network.status_changed, where: {status: down}, do: [UP]}
  - {on: network.status_changed, where: {status: operational}, do: [DOWN]}
timeline:
  - {at: 1d, action: set_network, network: south, status: down}
faults:
  - {match: {path: /offers}, respond: {status: 503, code: service_unavailable}}
""".replace("DOWN", DOWN).replace("UP", UP)
BUGGY = """
name: buggy
timeline:
  - {at: 1s, action: set_balance, symbol: BUG, network: NORTH, amount: "1"}
  - {at: 2s, action: set_balance, symbol: INK, network: NORTH, amount: "2"}
  - {at: 3s, action: set_balance, symbol: BUG, network: NORTH, amount: "3"}
  - {at: 4s, action: set_balance, symbol: BUG, network: NORTH, amount: "4"}
  - {at: 5s, action: set_balance, symbol: INK, network: NORTH, amount: "5"}
"""


def perform(world: World, action: str, **parameters: Any) -> None:
    cause = Cause("action", action)
    with world.change(cause):
        ACTIONS.perform(world, action, None, parameters, "practice", cause)


def limit(world: World, most: int) -> None:
    with world.change(Cause("action", "settings")):
        change_settings(world, Settings(timers_per_instant=most))


def stop_the_echo(*more: str) -> tuple[Engine, World]:
    engine, world = running(*more, ECHO)
    limit(world, 20)
    perform(world, "set_network", network="north", status="down")
    after(world, 0)
    return engine, world


def test_endless_scenario_is_stopped_and_cleaned_up() -> None:
    engine, world = stop_the_echo()
    progress = engine.progress(world, "echo")
    assert len(progress["steps_done"]) == 20
    (stop,) = progress["stopped"]
    assert (stop["name"], stop["at"]) == ("echo", "2026-01-05T08:00:00.000Z")
    assert "more than 20 of its steps" in stop["reason"]
    assert (engine.active(world), progress["pending"]) == ([], [])
    assert len(world.store[FAULTS]) == 0
    assert len(world.agenda) == 0
    assert engine.summary(world, "echo")["stopped"] == stop["reason"]
    assert stopped_since(world, 0) == [{name: stop[name] for name in ("name", "reason", "at")}]
    assert stopped_since(world, last_entry(world)) == []


def test_a_scenario_whose_steps_multiply_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stops, "MOST_PENDING", 200)
    step = "{action: set_network, network: north, status: %s, after: 1ms}"
    down, up = step % "down", step % "operational"
    rule = "{on: network.status_changed, where: {status: %s}, do: [%s, %s]}"
    engine, world = running(f"name: doubling\nrules: [{rule % ('down', up, down)}, {rule % ('operational', down, up)}]")
    perform(world, "set_network", network="north", status="down")
    after(world, 60)
    (stop,) = engine.progress(world, "doubling")["stopped"]
    assert (engine.active(world), len(world.agenda)) == ([], 0)
    assert "more than 200 of its steps are pending" in stop["reason"]


def test_other_scenarios_continue_when_one_is_stopped() -> None:
    engine, world = stop_the_echo("name: pays\nrules: [{on: created, do: [{action: payment_arrives}]}]")
    bought = begin(world, "preorder")
    after(world, 0)
    assert status(world, bought) == "processing"
    assert engine.active(world) == ["pays"]
    assert engine.summary(world, "pays")["stopped"] is None


def test_objects_bound_to_a_stopped_scenario_see_no_rules() -> None:
    rule = "name: echo\nrules: [{on: network.status_changed, do: [{action: set_network, network: north, status: down}]}"
    engine, world = running(f"{rule}, {{on: created, do: [{{action: payment_arrives}}]}}]")
    limit(world, 20)
    perform(world, "set_network", network="north", status="down")
    after(world, 0)
    bought = begin(world, "preorder", scenario="echo")
    after(world, 60)
    assert status(world, bought) == "pending"
    with world.change(Cause("request", "preorder")):
        assert engine.answer_for(world, "practice", "POST", "/shelf/preorder", {}) is None


def test_activation_or_upload_restarts_a_stopped_scenario() -> None:
    for again in ("activate", "upload"):
        engine, world = stop_the_echo()
        if again == "activate":
            activate(world, engine, "echo")
            assert engine.active(world) == ["echo"]
        else:
            with world.change(Cause("action", "scenarios")):
                engine.upload(world, LOADER.load(ECHO, "again.yaml", engine.catalogue.names(world)))
        assert engine.summary(world, "echo")["stopped"] is None
        assert len(engine.progress(world, "echo")["stopped"]) == 1, "the logbook remembers"


def test_many_delayed_steps_at_one_instant_are_allowed() -> None:
    engine, world = running("name: pays\nrules: [{on: created, do: [{after: 5s, action: payment_arrives}]}]")
    limit(world, 5)
    bought = [begin(world, "preorder") for _ in range(30)]
    after(world, 5)
    assert {status(world, one) for one in bought} == {"processing"}
    assert engine.active(world) == ["pays"]


def test_count_restarts_at_each_instant() -> None:
    engine, world = running("name: pays\nrules: [{on: created, do: [{action: payment_arrives}]}]")
    limit(world, 5)
    for _ in range(4):
        for _ in range(5):
            begin(world, "preorder")
        after(world, 1)
    assert engine.active(world) == ["pays"]


# --- failures -----------------------------------------------------------------------------------------------------


def test_broken_step_is_undone_and_recorded() -> None:
    engine, world = running(BUGGY)
    after(world, 2)
    (failed,) = engine.progress(world, "buggy")["failed"]
    assert (failed["part"], failed["error"], failed["reason"]) == (
        "timeline[0]",
        "ZeroDivisionError",
        "ZeroDivisionError: a defect",
    )
    assert list(world.store[BALANCES].rows) == ["INK"]
    assert engine.active(world) == ["buggy"]


def test_a_second_failure_in_a_row_stops_the_scenario() -> None:
    engine, world = running(BUGGY)
    after(world, 3)
    assert engine.active(world) == ["buggy"], "a step was done between the two"
    after(world, 10)
    assert engine.active(world) == []
    progress = engine.progress(world, "buggy")
    assert [row["part"] for row in progress["failed"]] == ["timeline[0]", "timeline[2]", "timeline[3]"]
    assert "twice in a row" in progress["stopped"][0]["reason"]
    assert world.store[BALANCES]["INK"] == ["2", "practice"], "what was pending went along"


def test_refused_step_is_not_a_failure() -> None:
    engine, world = running("name: odd\nrules: [{on: created, do: [{action: move_rates, percent: 5}]}]")
    for _ in range(3):
        begin(world, "preorder")
    after(world, 0)
    progress = engine.progress(world, "odd")
    assert (len(progress["skipped"]), progress["failed"], engine.active(world)) == (3, [], ["odd"])


# --- the end of time ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("span", ["2932531d", "{between: [2932530d, 2932531d]}"])
def test_step_beyond_the_end_of_time_is_skipped(span: str) -> None:
    engine, world = running(
        f"name: far\nrules: [{{on: created, do: [{{after: {span}, action: payment_arrives}}]}}]\n"
        f"timeline: [{{at: {span}, action: set_network, network: north, status: down}}]"
    )
    begin(world, "preorder")
    skipped = engine.progress(world, "far")["skipped"]
    assert [row["part"] for row in skipped] == ["timeline[0]", "rules[0].do[0]"]
    assert all("after the year 9998" in row["reason"] for row in skipped)
    assert len(world.agenda) == 0


def test_steps_after_the_end_of_time_are_skipped_too() -> None:
    engine, world = running(
        "name: far\nrules: [{on: created, do: [{after: 2d, action: payment_arrives}, {after: 1s, action: complete}]}]"
    )
    world.clock = Clock(LAST_MS - DAY_MS)
    begin(world, "preorder")
    assert [row["action"] for row in engine.progress(world, "far")["skipped"]] == ["payment_arrives", "complete"]
