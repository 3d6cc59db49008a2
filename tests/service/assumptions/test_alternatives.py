"""Each alternative of an assumption, compared with the default over the API."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from contracts.generator.assumptions import all_assumptions
from simulator.providers.ramp.alternatives import ALTERNATIVES as SWITCHES
from simulator.testing import Server
from simulator.testing.links.in_process import InProcessLink
from tests.measures import sources, text_of
from tests.service.assumptions import calls, hooks, lives, money  # noqa: F401  (they enter their cases)
from tests.service.assumptions.cases import CASES, Case
from tests.tools.integrators import test_newcomer, test_shop
from tests.tools.integrators.depends import DEPENDS


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(InProcessLink()) as server:
        yield server


@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_alternative_changes_its_described_behaviour(server: Server, case: Case) -> None:
    chosen = {case.id: case.alternative} if case.alternative else {}
    with server.new_world(settings={"assumptions": chosen}) as world:
        assert case.look(world) == case.finds


def test_every_alternative_has_a_case() -> None:
    has = {(case.id, case.alternative) for case in CASES if case.alternative}
    assert has == {(switch.id, name) for switch in SWITCHES.values() for name in switch.alternatives}


def test_every_alternative_is_read_and_what_is_read_is_one() -> None:
    read = set()
    for file in sources():
        if "assumes(" not in (text := text_of(file)):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "assumes":
                _, assumption, alternative = node.args
                assert isinstance(assumption, ast.Constant)
                assert isinstance(alternative, ast.Constant)
                read.add((assumption.value, alternative.value))
    assert read == {(switch.id, name) for switch in SWITCHES.values() for name in switch.alternatives}


def test_every_switchable_assumption_is_documented() -> None:
    assert SWITCHES.keys() <= {entry.id for entry in all_assumptions()}


def test_the_dependencies_of_the_sample_integrator_exist() -> None:
    tests = {name for module in (test_shop, test_newcomer) for name in vars(module)}
    for (assumption, alternative), named in DEPENDS.items():
        assert alternative in SWITCHES[assumption].alternatives
        assert set(named) <= tests


def test_the_texts_are_sentences() -> None:
    for switch in SWITCHES.values():
        assert switch.assumed.endswith(".")
        assert switch.question.endswith("?")
        assert switch.call.endswith(".")
        assert switch.alternatives
        assert all(text.endswith(".") for text in switch.alternatives.values())
