"""The stored probes: each one distinguishes its assumption from the alternatives, whatever else is switched."""

from __future__ import annotations

import copy
import json
import os
import re
from collections.abc import Iterator
from typing import Any

import pytest

from contracts.generator.probe_search import Search
from contracts.generator.probes import computed
from simulator.contract.files import contract_document, followed
from simulator.evidence.features import ABSENT
from simulator.evidence.flow import AGAIN, AS_ASSUMED, read_steps
from simulator.evidence.local import combination, invented
from simulator.evidence.planning import read_probes
from simulator.service import TOOLING

PROBING = TOOLING.probing()
SWITCHES = TOOLING.alternatives()
PROBES = read_probes(PROBING)
IDS = [probe["id"] for probe in PROBES["probes"]]

pytestmark = pytest.mark.xdist_group("evidence")  # the worlds of one application are shared


@pytest.fixture(scope="module")
def search() -> Iterator[Search]:
    made = Search(PROBING, SWITCHES, read_steps(PROBING.steps))
    yield made
    made.close()


def sides_of(search: Search, probe: dict[str, Any], others: dict[str, str]) -> dict[str, set[str]]:
    """Return for each side that is played the sides whose prediction it matches; empty for an unprepared flow."""
    flow = tuple(PROBES["flows"][probe["flow"]])
    found = {}
    sides = (AS_ASSUMED, *probe["alternatives"])
    for side in probe.get("decides", sides):
        run = search.run(flow, {**others, **({probe["assumption"]: side} if side else {})})
        if any(run.succeeded.get(name) != ok for name, ok in probe["expected"].items()):
            return {}
        if search.misses(flow, run):
            continue
        found[side] = {
            name
            for name, prediction in probe["predictions"].items()
            if all(run.features.get(feature, ABSENT) in values for feature, values in prediction.items())
        }
    return found


@pytest.mark.parametrize("number", range(len(IDS)), ids=IDS)
def test_probe_tells_the_assumption_from_its_alternatives(search: Search, number: int) -> None:
    probe = PROBES["probes"][number]
    found = sides_of(search, probe, {})
    assert found[AS_ASSUMED] & set(probe["alternatives"]) == set()
    for alternative in probe["alternatives"]:
        if alternative in probe.get("decides", (alternative,)):
            assert alternative in found[alternative]
            assert AS_ASSUMED not in found[alternative]


@pytest.mark.parametrize("number", range(len(IDS)), ids=IDS)
def test_probe_is_never_wrong_when_others_are_switched(search: Search, number: int) -> None:
    """The combinations are others than those of the search."""
    probe = PROBES["probes"][number]
    for seed in range(3):
        others = combination(SWITCHES, f"test {seed} {probe['id']}", without=probe["assumption"])
        for other, broken in probe["unless"].items():
            if others.get(other) in broken:
                del others[other]
        for side, matching in sides_of(search, probe, others).items():
            assert matching == set() or side in matching, others


def test_swapped_prediction_is_caught(search: Search) -> None:
    probe = copy.deepcopy(PROBES["probes"][0])
    other = probe["alternatives"][0]
    sides = probe["predictions"]
    sides[AS_ASSUMED], sides[other] = sides[other], sides[AS_ASSUMED]
    assert AS_ASSUMED not in sides_of(search, probe, {})[AS_ASSUMED]


def test_every_alternative_has_a_probe_or_is_listed_as_undecidable() -> None:
    told = {(probe["assumption"], name) for probe in PROBES["probes"] for name in probe["alternatives"]}
    listed = {(row["assumption"], row["alternative"]) for row in PROBES["undecidable"]}
    assert told | listed == {(switch.id, name) for switch in SWITCHES.values() for name in switch.alternatives}
    assert not told & listed


def test_flows_consist_of_known_steps() -> None:
    steps = read_steps(PROBING.steps)
    assert {name.rstrip(AGAIN) for flow in PROBES["flows"].values() for name in flow} <= steps.keys()


def has_reference(call: str) -> bool:
    """Return True if the request body of a call may have a `reference` according to the contract."""
    method, _, path = call.partition(" ")
    wanted = re.sub(r"\$\{[^}]*\}", "{}", path)
    paths = contract_document()["paths"]
    found = next(one for one in paths if re.sub(r"\{[^}]*\}", "{}", one) == wanted)
    return '"reference"' in json.dumps(_resolved(paths[found][method.lower()].get("requestBody", {})))


def _resolved(part: Any) -> Any:
    """Return the property names of a schema and its variants."""
    if isinstance(part, dict):
        target = followed(contract_document(), part) if "$ref" in part else part
        return [list(target.get("properties", {})), *(_resolved(one) for key, one in target.items() if key in _INNER)]
    return [_resolved(one) for one in part] if isinstance(part, list) else None


_INNER = ("content", "application/json", "schema", "oneOf", "anyOf", "allOf")


def test_everything_that_a_step_creates_has_the_prefix_as_its_reference() -> None:
    steps = read_steps(PROBING.steps).values()
    creating = [step for step in steps if step.call.startswith("POST ") and step.spend in ("resource", "money")]
    able = [step for step in creating if has_reference(step.call)]
    assert {"onramp", "offramp", "send", "wallet"} <= {step.name for step in able}
    assert invented("2026-01-05T08:00:00.000Z", "7")["reference"] == "probe-7"
    for step in able:
        assert isinstance(step.body, dict)
        assert step.body.get("reference") == "${account.reference}", step.name


@pytest.mark.long
@pytest.mark.skipif(not os.environ.get("LONG"), reason="it takes minutes: `make long` runs it")
def test_probes_file_is_the_computed_one(search: Search) -> None:
    assert json.loads(json.dumps(computed(search))) == PROBES
