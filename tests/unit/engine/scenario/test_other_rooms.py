"""The scenario language of a simulator knows only the rows of its own service."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.engine import webhooks
from simulator.engine.scenario.files.library import Library
from simulator.engine.scenario.files.loader import Loader, ScenarioError
from simulator.engine.worlds.simulator import Simulator
from simulator.providers.ramp.provider import PROVIDER
from tests.unit.test_places import ROOM

SIMULATOR = Simulator(replace(PROVIDER, rooms=(ROOM, webhooks.ROOM)), Library())
LOADER = Loader(SIMULATOR.vocabulary)


def test_scenario_can_use_the_rows_of_its_service() -> None:
    rules = "- {on: lamp.switched, where: {colour: red}, do: []}\n- {on: created, do: [{action: switch}]}\n"
    text = f"name: mine\nrules:\n{rules}"
    assert LOADER.load(text).warnings == ()


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ("{on: transaction.completed, do: []}", "unknown event `transaction.completed`"),
        ("{on: created, do: [{action: payment_arrives}]}", "unknown action `payment_arrives`"),
        ("{on: lamp.switched, where: {amount: '5'}, do: []}", "unknown field `amount` of lamp.switched"),
    ],
)
def test_names_of_another_service_are_refused(rule: str, problem: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        LOADER.load(f"name: theirs\nrules:\n- {rule}\n")
    assert [one["message"].partition(";")[0] for one in refused.value.errors] == [problem]


def test_path_of_another_service_is_a_warning() -> None:
    loaded = LOADER.load("name: theirs\nrules:\n- {on: request, where: {path: /quotes}, answer: {code: not_found}}\n")
    assert [one["message"].partition("`")[0] for one in loaded.warnings] == ["no operation matches the path "]
