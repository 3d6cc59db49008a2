"""Every fault class applies where it is planned. A class that is made ineffective is reported as such."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from simulator.exploration import plans
from simulator.exploration.catalogue import CLASSES, LATE_SECONDS
from simulator.exploration.exploring import Explored, Hosts, Settings, explore
from simulator.exploration.plans import Run
from tests.measured import measured
from tests.places import ROOT
from tests.run_evidence import EVERYTHING
from tests.tools.exploration.suite import ALONE, FOREIGN, FORTY, SHARED

pytestmark = pytest.mark.farm

TESTS = (
    "test_a_send_is_completed or test_a_swap_is_completed or test_a_purchase_is_credited "
    "or test_a_withdrawal_is_paid_out or test_an_offramp_is_paid_out or test_the_rent_is_paid "
    "or test_a_rate_limited_call_waits or test_all_events_of_an_onramp_arrive"
)
"""Between them they have a place for every class."""

INERT = """
from simulator.engine.faults import in_force

in_force.first_hit.__name__  # the module has run then, and does not put its own in place of this one
in_force.first_hit = lambda *given: None

from simulator.engine.scenario.play.script import Script

read = Script.of.__func__

def without_rules(kind, document):
    return read(kind, {**document, "rules": []} if document.get("name") == "what-goes-wrong" else document)

Script.of = classmethod(without_rules)

from simulator.exploration.runs.armed import ArmedWorld

ArmedWorld.instead_of = lambda *given: None
"""
"""What every Python runs when it begins: no fault is ever hit, no rule fires, nothing is done in place of an action."""


NOT_INERT = ("crash-in-handler", "crash-in-call", "crash-of-process", "worker-held-back", "starts-at")
"""Classes that happen without a fault or a rule of the simulator."""
BITES = {"limit-reached": "POST /quotes/{id}/confirm", "rate-moves": "POST /quotes"}
"""Where the first place is a send: no limit counts it, and it has no rate."""


def one_of_each_make() -> list[str]:
    """A class for each way in which something is made to happen, and in which it is told whether it has."""
    first: dict[object, str] = {}
    for run in plans.runs_of({"test": EVERYTHING}, "quick", [one for one in CLASSES if one not in NOT_INERT]):
        made = {name for name, value in run.plan.items() if value}
        first.setdefault((CLASSES[run.fault].strikes, CLASSES[run.fault].kind, *sorted(made - {"target"})), run.fault)
    return [*first.values()]


def soon(run: Run) -> Run:
    """The same with a late answer that is not as late: nobody here is tired of waiting before it comes."""
    return replace(run, plan=json.loads(json.dumps(run.plan).replace(f'"{LATE_SECONDS:g}s"', '"100ms"')))


@pytest.fixture
def once_each(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Explored]:
    """Explore these tests, with each class at the first place where it can have an effect."""
    monkeypatch.chdir(ROOT)
    for name in [name for name in os.environ if name.startswith(FOREIGN)]:
        monkeypatch.delenv(name)
    for name, value in {**ALONE, **measured()}.items():
        monkeypatch.setenv(name, value)

    def first_of_each(runs: Sequence[Run], *rest: object) -> list[Run]:
        fitting = [run for run in runs if run.site.startswith(f"{BITES.get(run.fault, run.site.partition(' #')[0])} #")]
        return [soon(run) for run in {run.fault: run for run in reversed(fitting)}.values()]

    monkeypatch.setattr(plans, "within", first_of_each)
    command = (*FORTY, "-k", TESTS)
    return lambda hosts, faults: explore(Settings(command, "quick", faults, workers=1, hosts=hosts))


def test_each_class_happens_where_it_is_planned(once_each: Callable[..., Explored]) -> None:
    explored = once_each(SHARED.hosts, tuple(CLASSES))
    assert {one.run.fault for one in explored.judged} == {
        name for name in CLASSES if name != "crash-of-process"
    }  # it needs --app
    assert [one.run.id for one in explored.judged if one.verdict.verdict == "not-reached"] == []


@pytest.mark.long
def test_a_fault_that_is_inert_is_not_reached(
    once_each: Callable[..., Explored], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text(INERT)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(tmp_path), str(ROOT))))
    faults = (
        tuple(name for name in CLASSES if name not in NOT_INERT)
        if os.environ.get("LONG")
        else tuple(one_of_each_make())
    )
    explored = once_each(Hosts(), faults)  # no other than this one's server is inert
    assert {one.run.fault: one.verdict.verdict for one in explored.judged} == dict.fromkeys(faults, "not-reached")
    assert explored.findings == []
