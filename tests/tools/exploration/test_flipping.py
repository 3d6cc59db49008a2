"""`rampsim explore --assumptions` from outside and inside: the assumptions a suite depends on, and the resulting
questions.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from simulator.exploration.exploring import Settings
from simulator.exploration.flipping import Flip, Flipped, flip_all, flips, settled, within_budget
from simulator.exploration.reports.questions import document
from simulator.exploration.runs.running import StopExploring
from tests.places import ROOT
from tests.tools.exploration.suite import ALONE, FOREIGN, PYTEST, SHARED, explore
from tests.tools.integrators.depends import DEPENDS

QUOTES = """
import pytest

QUOTE = {"type": "onramp", "network": "celo", "asset": "USDC", "fiat_currency": "KES", "method": "mobile_money",
         "amount": "5000", "amount_currency": "KES"}

def test_by_the_number(world):
    assert world.client.post("/quotes", json=QUOTE).status_code == 201

def test_by_its_success(world):
    assert world.client.post("/quotes", json=QUOTE).is_success

def test_in_a_separate_world(simulator):
    with simulator.new_world() as world:
        world.reset()
        assert world.fork().client.post("/quotes", json=QUOTE).status_code == 201

@pytest.mark.world(settings={"assumptions": {"H1": "creating_answers_200"}})
def test_that_says_what_it_assumes(world):
    assert world.client.post("/quotes", json=QUOTE).status_code == 200
"""
SHOP = ("tests/tools/integrators/test_shop.py", "tests/tools/integrators/test_newcomer.py")
BY_STATUS = Flip("H1", "creating_answers_200")
NO_SPREAD = Flip("M1", "no_spread")


def flipped(command: tuple[str, ...], *some: Flip, workers: int = 1, budget: float | None = None) -> Flipped:
    settings = Settings(command, workers=workers, budget=budget, hosts=SHARED.hosts)
    return flip_all(settings, every=some)


def changed(found: Flipped) -> dict[tuple[str, str], tuple[str, ...]]:
    """The names of the tests that end otherwise, by assumption and alternative."""
    return {
        (flip.id, flip.alternative): tuple(one.test.rpartition("::")[2] for one in tests)
        for flip, tests in found.changed.items()
    }


@pytest.mark.farm
def test_a_test_that_counts_on_a_status_depends_on_it(tmp_path: Path) -> None:
    (tmp_path / "test_quotes.py").write_text(QUOTES.partition("def test_in_a_separate_world")[0])
    found = explore(tmp_path, "--assumptions")
    assert found.code == 0, found.said
    (row,) = found.written("assumptions.json")["assumptions"]
    assert (row["id"], row["alternative"]) == ("H1", "creating_answers_200")
    assert row["tests"] == [{"test": "test_quotes.py::test_by_the_number", "outcome": "failed"}]
    assert row["question"] in found.said
    assert row["call"] in found.said
    count = len(flips())
    assert f"{count} alternatives, {2 * count} runs (2 each), about " in found.said
    assert f"Your suite depends on 1 of {count} alternatives. Ask this question before going live." in found.said


@pytest.mark.farm
def test_tests_that_depend_are_named_and_one_worker_says_the_same_as_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("test_quotes.py").write_text(QUOTES)
    one, two = (flipped((*PYTEST, "."), BY_STATUS, NO_SPREAD, workers=workers) for workers in (1, 2))
    assert changed(one) == {BY_STATUS: ("test_by_the_number", "test_in_a_separate_world")}
    assert json.dumps(document(one)) == json.dumps(document(two))


@pytest.mark.farm
def test_any_command_is_run_under_each_alternative(tmp_path: Path) -> None:
    script = tmp_path / "quote.py"
    script.write_text(f"""
import json, os, sys, urllib.request

def call(path, body, **headers):
    asked = urllib.request.Request(os.environ["SIMULATOR_URL"] + path, json.dumps(body).encode(),
                                   {{"Content-Type": "application/json", **headers}})
    with urllib.request.urlopen(asked) as answer:
        return answer.status, json.load(answer)

keys = {{name: os.environ["SIMULATOR_" + name.upper()] for name in ("public_key", "secret_key")}}
_, token = call("/v1/auth/token", keys)
{QUOTES[QUOTES.index("QUOTE") : QUOTES.index("def")]}
status, _ = call("/v1/quotes", QUOTE, Authorization="Bearer " + token["access_token"])
sys.exit(status != 201)
""")
    found = flipped((sys.executable, "-S", str(script)), NO_SPREAD, BY_STATUS)
    (row,) = document(found)["assumptions"]
    assert (row["id"], [one["outcome"] for one in row["tests"]]) == ("H1", ["failed"])


@pytest.mark.farm
def test_worlds_that_a_command_makes_with_the_kit_assume_the_same(tmp_path: Path) -> None:
    (tmp_path / "test_quotes.py").write_text(QUOTES)
    found = flipped(("sh", "-c", " ".join((*PYTEST, str(tmp_path)))), BY_STATUS)
    assert list(found.changed) == [BY_STATUS]


@pytest.mark.farm
def test_a_server_started_by_a_test_also_gets_the_fault(tmp_path: Path) -> None:
    head = "from simulator.testing import Server\nfrom simulator.testing.links.in_process import InProcessLink\n"
    own = (
        QUOTES[: QUOTES.index("def ")]
        + """
def test_in_a_separate_server():
    with Server(InProcessLink()) as server, server.new_world() as world:
        assert world.client.post("/quotes", json=QUOTE).status_code == 201
"""
    )
    (tmp_path / "test_quotes.py").write_text(head + own)
    assert list(flipped((*PYTEST, str(tmp_path)), NO_SPREAD, BY_STATUS).changed) == [BY_STATUS]


@pytest.mark.parametrize(("budget", "count"), [(None, 2), (5.0, 2), (1.0, 2), (0.95, 1), (0.5, 1)])
def test_a_budget_leaves_out_whole_alternatives(budget: float | None, count: int) -> None:
    every = (NO_SPREAD, BY_STATUS)
    tried = within_budget(every, 0.5, budget)
    assert tried == every[:count]
    found = document(Flipped(Settings(("true",)), {}, {}, {}, tried, every[count:], {}))["alternatives"]
    assert (found["tried"], found["left_out"]) == (
        [flip.text for flip in every[:count]],
        [flip.text for flip in every[count:]],
    )


@pytest.mark.farm
def test_a_budget_too_small_for_one_alternative_is_refused() -> None:
    with pytest.raises(StopExploring, match=r"more than the 0\.0001 s of the budget"):
        flipped(("true",), NO_SPREAD, budget=0.0001)


@pytest.mark.farm
def test_a_suite_without_calls_is_reported() -> None:
    with pytest.raises(StopExploring, match="No test called the simulator"):
        flipped(("true",), NO_SPREAD)


def test_the_likeliest_alternatives_come_first() -> None:
    first = [flip.id for flip in flips()]
    assert first[: len(set(first))] == list(dict.fromkeys(first))
    assert {flip.text for flip in flips()} == {
        f"{flip.id}={name}" for flip in flips() for name in flip.switch.alternatives
    }


@pytest.mark.farm
def test_decided_assumptions_are_not_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "test_quotes.py").write_text(QUOTES.replace("== 201", "== 200"))
    command = (*PYTEST, str(tmp_path))
    monkeypatch.setenv("SIMULATOR_ASSUME", "H1=creating_answers_200")
    assert changed(flipped(command, NO_SPREAD)) == {}
    assert "H1" not in {flip.id for flip in flips(settled())}
    monkeypatch.setenv("SIMULATOR_ASSUME", "H1=creating_answers_20")
    with pytest.raises(StopExploring, match="did you mean `creating_answers_200`"):
        flipped(command, NO_SPREAD)


def test_faults_are_another_matter(tmp_path: Path) -> None:
    found = explore(tmp_path, "--assumptions", "--faults", "refused-503", command=("true",))
    assert found.code == 2
    assert "--assumptions runs the tests without faults, so it cannot be combined with --faults" in found.said


@pytest.mark.farm
@pytest.mark.long
def test_the_sample_integrator_depends_on_what_its_readers_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """In short form: a test that depends on it for each alternative that matters, under all of these."""
    for name in [name for name in os.environ if name.startswith(FOREIGN)]:
        monkeypatch.delenv(name)
    for name, value in ALONE.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(ROOT)
    command = (sys.executable, "-m", "pytest", "-p", "rampsim", "-p", "no:cacheprovider", *SHOP)
    if os.environ.get("LONG"):
        assert changed(flipped(command, workers=2)) == DEPENDS
        return
    some = {names[0] for names in DEPENDS.values()}
    found = flipped((*command, "-k", " or ".join(sorted(some))), *(flip for flip in flips() if tuple(flip) in DEPENDS))
    assert changed(found) == {flip: tuple(name for name in names if name in some) for flip, names in DEPENDS.items()}
