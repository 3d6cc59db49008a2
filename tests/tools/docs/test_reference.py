"""The pages generated from the code are up to date, and their examples are correct."""

from __future__ import annotations

from typing import Any

import pytest

from contracts.generator import docs_pages
from contracts.generator.reference import faults as fault_pages
from contracts.generator.reference.calls import examples
from simulator.cli import COMMANDS
from simulator.docs.library import pages_by_path
from simulator.engine.faults.models import InterfaceFault, WebhookFault, check_fault
from simulator.host import Simulator, control_rows, vocabulary

MOST_WITHOUT_EXAMPLE = 8
"""Control calls that are not run: responses that are not JSON, missing preconditions, and new calls."""


def test_the_pages_are_those_that_the_code_makes() -> None:
    assert docs_pages.differences(docs_pages.pages()) == [], "run: python -m contracts.generator write"


def test_nearly_every_control_call_has_an_example_that_was_really_made() -> None:
    named = {row.name for row in control_rows()}
    assert examples().keys() <= named
    assert len(named - examples().keys()) <= MOST_WITHOUT_EXAMPLE, (
        "add some to contracts/generator/reference/calls.yaml"
    )
    assert all(example.status < 300 for example in examples().values())


@pytest.mark.parametrize(
    ("part", "name", "fault"),
    [(part, name, fault) for part, rows in fault_pages.examples().items() for name, fault in rows.items()],
)
def test_every_example_of_a_fault_can_be_put_in_force_and_has_the_member(part: str, name: str, fault: Any) -> None:
    simulator = Simulator()
    checked = check_fault(fault, simulator.vocabulary)
    assert isinstance(checked, WebhookFault if part == "deliveries" else InterfaceFault)
    assert name in fault or name in fault["deliver"]


def test_every_name_has_its_heading() -> None:
    errors, webhooks, commands = (
        pages_by_path()[f"reference/{name}"].source for name in ("errors", "webhooks", "commands")
    )
    assert [code for code in vocabulary().errors if f"\n### {code}\n" not in errors] == []
    assert [name for name in vocabulary().events if f'<a id="{name}"></a>' not in webhooks] == []
    assert [name for name in COMMANDS if f"\n## rampsim {name}\n" not in commands] == []
