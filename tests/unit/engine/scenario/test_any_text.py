"""The loader with arbitrary strings: each one is a scenario that can be saved and shown, or has located problems."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simulator.engine.scenario.files.loader import Loader, ScenarioError
from simulator.engine.text.json import dumps
from simulator.engine.text.yaml import yaml_text
from simulator.engine.worlds.simulator import Blueprint
from simulator.engine.worlds.simulator import Simulator as AnySimulator
from simulator.kernel.journal import Cause
from tests.calls import whole
from tests.library import Simulator
from tests.unit.engine.scenario.playing import LOADER
from tests.unit.engine.scenario.shop import PROVIDER
from tests.unit.engine.scenario.test_findings import DRIVEN
from tests.unit.engine.scenario.test_loader import WHOLE

TEXTS = (
    WHOLE,
    f'{DRIVEN}  - {{answer: offer, where: {{cost.total: "1"}}}}\n',
    "name: a\nrules: [{on: order.awaiting_payment, do: [{after: 15s, action: payment_arrives}, {action: complete}]}]",
    "name: b\nrules: [{on: created, where: {request.reference: {matches: '^(?P<n>.+)$'}}, do: [{scenario: '${n}'}]}]",
)
DOCUMENTS = [LOADER.load(text, known=["autopilot"]).document for text in TEXTS]


class Judge:
    """Loads texts with the vocabulary of a simulator, and saves and shows the scenarios in a world of it."""

    def __init__(self, simulator: AnySimulator) -> None:
        self.engine = simulator.engine
        self.world = simulator.create_world(Blueprint("any", 1))
        self.loader = Loader(simulator.vocabulary)

    def __call__(self, text: str | bytes) -> None:
        try:
            file = self.loader.load(text, known=["autopilot"])
        except ScenarioError as error:
            problems = error.errors
        else:
            problems = []
            with self.world.change(Cause("action", "upload")):
                self.engine.upload(self.world, file)
            dumps(self.engine.describe(self.world, file.name))
        assert all(problem["line"] >= 1 and problem["column"] >= 1 and problem["message"] for problem in problems)
        dumps(problems)


judge = Judge(Simulator(PROVIDER))

LANGUAGE = """
name rules on created request where do action at after between emit target faults match webhook deliver respond
drive post /offers body expect event with world rates settings environment timeline advance receiver ${x.y} 20s matches
a{9999} (?P<a>b) 1e400 ~ autopilot order.failed set_network fail resource ten
"""
WORDS = st.sampled_from(LANGUAGE.split())
SCALARS = (
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
) | (WORDS | st.text(max_size=5))
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3), max_leaves=8
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in members for place in places(item, (*path, key)))]


@st.composite
def changed(draw: st.DrawFn, documents: Sequence[Any]) -> Any:
    """A scenario with some parts exchanged."""
    document = deepcopy(draw(st.sampled_from(documents)))
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(places(document)))
        if not path:
            continue
        holder = document
        for part in path[:-1]:
            holder = holder[part]
        if isinstance(holder, dict) and draw(st.booleans()):
            holder[draw(WORDS)] = draw(VALUES)
        else:
            holder[path[-1]] = draw(VALUES)
    return document


@pytest.mark.long
@settings(max_examples=whole(300, short=100), suppress_health_check=list(HealthCheck))
@given(changed(DOCUMENTS))
def test_any_changed_scenario_is_loaded_or_refused(document: Any) -> None:
    judge(json.dumps(document))


@pytest.mark.long
@settings(max_examples=whole(150, short=75))
@given(changed(DOCUMENTS) | VALUES, st.data())
def test_any_damaged_text_is_loaded_or_refused(document: Any, data: st.DataObject) -> None:
    text = json.dumps(document, indent=1) if data.draw(st.booleans()) else yaml_text({"name": "x", "drive": [document]})
    at = data.draw(st.integers(0, len(text)))
    middle = data.draw(st.text("\t\x00\x85\u2028\ud800\ufeff{}[]&*!|>%@`'\":,#?- \\nxu0", max_size=4))
    judge(text[:at] + middle + text[at + data.draw(st.integers(0, 3)) :])


@pytest.mark.long
@settings(max_examples=whole(150, short=75))
@given(st.binary(max_size=30) | st.text(max_size=30))
def test_any_text_is_loaded_or_refused(text: str | bytes) -> None:
    judge(text)


@pytest.mark.parametrize(
    "text",
    [
        "name: x\ndrive: [{action: {a: 1}}]",
        "name: x\ndrive: [{w: {action: [a]}}]",
        "name: x\ntimeline: [{at: 1s, action: {a: 1}}]",
        "name: x\nrules: [{on: created, do: [{action: {a: 1}}]}]",
        "name: x\nrules: [{on: [{a: 1}], do: []}]",
        "name: x\nrules: [{on: order.failed, where: {type: [[a], {b: c}]}, do: []}]",
    ],
)
def test_any_string_in_place_of_a_name_is_handled(text: str) -> None:
    with pytest.raises(ScenarioError):
        LOADER.load(text)
