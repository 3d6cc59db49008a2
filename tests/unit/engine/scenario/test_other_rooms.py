"""The scenario language of a simulator knows only the rows of its own service."""

from __future__ import annotations

import pytest

from simulator.engine.scenario.files.loader import Loader, ScenarioError
from tests.library import vocabulary

LOADER = Loader(vocabulary())


def test_scenario_can_use_the_rows_of_its_service() -> None:
    rules = "- {on: loan.returned, where: {book_id: red}, do: []}\n- {on: created, do: [{action: bring_back}]}\n"
    text = f"name: mine\nrules:\n{rules}"
    assert LOADER.load(text).warnings == ()


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ("{on: transaction.completed, do: []}", "unknown event `transaction.completed`"),
        ("{on: created, do: [{action: payment_arrives}]}", "unknown action `payment_arrives`"),
        ("{on: loan.returned, where: {amount: '5'}, do: []}", "unknown field `amount` of loan.returned"),
    ],
)
def test_names_of_another_service_are_refused(rule: str, problem: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        LOADER.load(f"name: theirs\nrules:\n- {rule}\n")
    assert [one["message"].partition(";")[0] for one in refused.value.errors] == [problem]


def test_path_of_another_service_is_a_warning() -> None:
    rule = "{on: request, where: {path: /transactions}, answer: {code: not_found}}"
    loaded = LOADER.load(f"name: theirs\nrules:\n- {rule}\n")
    assert [one["message"].partition("`")[0] for one in loaded.warnings] == ["no operation matches the path "]
