"""The pytest plugin as a partner sees it: fixtures, markers, options."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tests.tools.testing.suites import Outcome, Suite

pytestmark = pytest.mark.xdist_group("plugin")

SUITE = '''
    import urllib.request
    import pytest

    def test_a_world_is_there(world):
        assert world.client.get("/profile").status_code == 200
        assert world.now.isoformat() == "2026-01-05T08:00:00+00:00"
        assert world.info["scenarios"] == [] and world.seed == 1

    def test_the_first_of_two_worlds(world):
        world.act("set_balance", symbol="USDC", network="CELO", amount="7")

    def test_the_second_of_two_worlds(world):
        assert world.balance("USDC", "CELO") == 1000

    @pytest.mark.scenario("autopilot", "scenarios/beside.yaml", "suite/scenarios/below.yaml")
    def test_scenarios_by_name_and_file(world):
        active = world.control("GET", f"/worlds/{world.id}")["scenarios"]
        assert active == ["autopilot", "beside", "below"]

    @pytest.mark.clock("2026-03-01")
    def test_a_day(world):
        assert world.now.isoformat() == "2026-03-01T00:00:00+00:00"

    @pytest.mark.clock("2026-03-01T08:30:00Z")
    def test_a_moment(world):
        assert world.now.isoformat() == "2026-03-01T08:30:00+00:00"

    @pytest.mark.seed(7)
    class TestSeeds:
        def test_of_the_class(self, world):
            assert world.seed == 7

        @pytest.mark.seed(8)
        def test_of_the_test(self, world):
            assert world.seed == 8

    @pytest.mark.world(settings={"strict": True}, clock={"mode": "manual", "now": "2026-05-01T00:00:00Z"})
    def test_anything_else(world):
        assert world.info["settings"]["strict"] and world.now.month == 5

    @pytest.mark.scenario("autopilt")
    def test_unknown_scenario(world): ...

    @pytest.mark.scenario("nowhere.yaml")
    def test_unknown_file(world): ...

    @pytest.mark.scenario("scenarios/wrong.yaml")
    def test_wrong_file(world): ...

    @pytest.mark.scenario(7)
    def test_no_scenario(world): ...

    @pytest.mark.clock("2026-02-30")
    def test_no_day(world): ...

    @pytest.mark.clock()
    def test_no_moment(world): ...

    @pytest.mark.seed("seven")
    def test_no_number(world): ...

    @pytest.mark.world("strict")
    def test_no_body(world): ...

    @pytest.mark.world(sceanrios=[])
    def test_unknown_member(world): ...

    def test_a_server(simulator):
        assert simulator.control_url == simulator.url + "/_simulator"
        with simulator.new_world(seed=3) as world:
            assert world.seed == 3

    def test_marker(request):
        """A test that needs no world starts nothing."""
        assert request.fixturenames == ["request"]
'''

SCENARIO = """\
name: {name}
description: It does nothing.
"""


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    suite = Suite(tmp_path_factory.mktemp("plugin"))
    suite.write("suite/test_it.py", SUITE)
    suite.write("suite/scenarios/beside.yaml", SCENARIO.format(name="beside"))
    suite.write("suite/scenarios/below.yaml", SCENARIO.format(name="below"))
    suite.write("suite/scenarios/wrong.yaml", SCENARIO.format(name="wrong") + "ruels: []\n")
    return suite.run_here()


@pytest.mark.parametrize(
    "name",
    [
        "test_a_world_is_there",
        "test_the_first_of_two_worlds",
        "test_the_second_of_two_worlds",
        "test_scenarios_by_name_and_file",
        "test_a_day",
        "test_a_moment",
        "TestSeeds::test_of_the_class",
        "TestSeeds::test_of_the_test",
        "test_anything_else",
        "test_a_server",
        "test_marker",
    ],
)
def test_fixtures_and_markers_make_the_world_that_is_wanted(outcome: Outcome, name: str) -> None:
    assert outcome.tests[name] == "passed", outcome.text


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("test_unknown_scenario", "There is no scenario 'autopilt'; did you mean"),
        ("test_unknown_file", "@pytest.mark.scenario('nowhere.yaml') names the file nowhere.yaml, which is missing in"),
        ("test_wrong_file", "wrong.yaml is not valid. 1 problem:"),
        ("test_no_scenario", '@pytest.mark.scenario(7) takes names and paths, such as "payout-fails".'),
        ("test_no_day", "day is out of range"),
        ("test_no_moment", "@pytest.mark.clock() takes one time"),
        ("test_no_number", "seed"),
        ("test_no_body", "@pytest.mark.world('strict') takes names and values"),
        ("test_unknown_member", "sceanrios"),
    ],
)
def test_a_wrong_marker_is_reported_without_a_traceback(outcome: Outcome, name: str, said: str) -> None:
    assert outcome.tests[name] == "error"
    section = outcome.text.partition(f"ERROR at setup of {name} ")[2].split("\n____")[0].split("\n====")[0]
    assert said in section, section
    assert not any(trace in section for trace in ("Traceback", ".py:", "During handling")), section


def test_a_test_without_fixtures_of_the_kit_imports_nothing_of_it(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    suite.write(
        "test_it.py",
        """
        import sys

        def test_it():
            loaded = sorted(name for name in sys.modules if name.startswith("simulator"))
            assert loaded == ["simulator", "simulator.engine", "simulator.engine.lazy", "simulator.testing",
                              "simulator.testing.plugin", "simulator.testing.plugin.hooks",
                              "simulator.testing.plugin.options", "simulator.version"]
            assert not {"httpx", "pydantic", "yaml", "click"} & set(sys.modules)
        """,
    )
    outcome = suite.run()
    assert outcome.tests == {"test_it": "passed"}, outcome.text
    assert list(suite.temporary.glob("rampsim*")) == []


def test_pytest_finds_the_plugin_and_shows_its_options_under_one_heading(tmp_path: Path) -> None:
    [found] = [point for point in entry_points(group="pytest11") if point.name == "rampsim"]
    assert found.value == "simulator.testing.plugin"
    suite = Suite(tmp_path)
    text = suite.run_here("--help").text
    group = text.partition("rampsim: a simulator of the ramp service for your tests:")[2].partition("\n\n")[0]
    for option in ("-url=URL", "={process,inprocess}", "-keep={failed,always,never}", "-coverage",
                   "-fail-on-advice={info,warning,error}"):  # fmt: skip
        assert f"--simulator{option}" in group.replace("\n", "")
    text = suite.run_here("--markers").text
    for marker in ("scenario(*names_or_paths)", "clock(now)", "seed(number)", "world(**body)"):
        assert f"@pytest.mark.{marker}" in text
