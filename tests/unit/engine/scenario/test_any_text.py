"""The loader with arbitrary texts: each is a scenario that can be saved and shown, or has located problems."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simulator.engine.scenario.files.library import Library
from simulator.engine.scenario.files.loader import Loader, ScenarioError
from simulator.engine.scenario.files.shipped import shipped_directory
from simulator.engine.text.json import dumps
from simulator.engine.text.yaml import yaml_text
from simulator.engine.worlds.simulator import Blueprint
from simulator.host import Simulator
from simulator.kernel.journal import Cause
from tests.calls import whole

SIMULATOR = Simulator(library=Library())
WORLD = SIMULATOR.create_world(Blueprint("any", 1))
LOADER = Loader(SIMULATOR.vocabulary)
SHIPPED = [
    LOADER.load_file(path, known=["autopilot"]).document for path in sorted(shipped_directory().glob("*.yaml"))[::7]
]

LANGUAGE = """
name rules on created request where do action at after between emit target faults match webhook deliver respond
drive post /quotes body expect event with world rates kyc environment timeline advance receiver ${x.y} 20s matches
a{9999} (?P<a>b) 1e400 ~ autopilot transaction.failed set_network fail resource ten
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
def changed_scenarios(draw: st.DrawFn) -> Any:
    """A shipped scenario with some parts exchanged."""
    document = deepcopy(draw(st.sampled_from(SHIPPED)))
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


def judge(text: str | bytes) -> None:
    try:
        file = LOADER.load(text, known=["autopilot"])
    except ScenarioError as error:
        problems = error.errors
    else:
        problems = []
        with WORLD.change(Cause("action", "upload")):
            SIMULATOR.engine.upload(WORLD, file)
        dumps(SIMULATOR.engine.describe(WORLD, file.name))
    assert all(problem["line"] >= 1 and problem["column"] >= 1 and problem["message"] for problem in problems)
    dumps(problems)


@pytest.mark.long
@settings(max_examples=whole(300, short=100), suppress_health_check=list(HealthCheck))
@given(changed_scenarios())
def test_any_changed_scenario_is_loaded_or_refused(document: Any) -> None:
    judge(json.dumps(document))


@pytest.mark.long
@settings(max_examples=whole(150, short=75))
@given(changed_scenarios() | VALUES, st.data())
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
        "name: x\nrules: [{on: transaction.failed, where: {type: [[a], {b: c}]}, do: []}]",
    ],
)
def test_any_string_in_place_of_a_name_is_handled(text: str) -> None:
    with pytest.raises(ScenarioError):
        LOADER.load(text)
