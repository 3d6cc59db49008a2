"""The scenario language page: its examples are valid and run, and it covers every field and every kind."""

from __future__ import annotations

import asyncio
import re

import pytest

from contracts.generator.reference import scenarios
from simulator.engine.clients.asynchronous import HttpClient
from simulator.engine.scenario.files.loader import Loader
from simulator.engine.scenario.language.schema import Fault, Rule, RuleStep, Scenario
from simulator.engine.scenario.run import runner
from simulator.engine.server.config import Config
from simulator.engine.server.process import serving
from simulator.host import Simulator, create_app, vocabulary
from simulator.service import TOKEN_EXCHANGE


@pytest.fixture(scope="module")
def page() -> str:
    return scenarios.page()


def test_every_example_is_valid_without_a_warning(page: str) -> None:
    simulator = Simulator()
    found = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert len(found) == 6
    for text in found:
        assert Loader(simulator.vocabulary).load(text, known=simulator.library).warnings == ()


def test_full_example_behaves_as_documented() -> None:
    file = Loader(Simulator().vocabulary).load(scenarios.examples()[0])

    async def go() -> str:
        async with serving(create_app(Config(clock="manual"))) as origin:
            client = HttpClient(origin)
            result = await runner.run(file, client, TOKEN_EXCHANGE, seed=1)
            return "" if result.passed else result.readable()

    assert asyncio.run(go()) == ""


def test_page_lists_every_field_and_kind(page: str) -> None:
    for model in (Scenario, Rule, RuleStep, Fault):
        for name, field in model.model_fields.items():
            assert f"| `{field.alias or name}` | " in page
    for kind in vocabulary().kinds.values():
        assert (f"### {kind.name}\n" in page) is (kind.shape() is not None)
    for name in ("payment_instructions.phone_number", "details.phone_number", "payer.phone_number", "run.number"):
        assert f"| `{name}` | " in page


def test_linked_anchors_exist(page: str) -> None:
    """Advice about scenarios cites "scenario files, rules of evaluation"."""
    assert "## Rules of evaluation\n" in page
