"""The report about the world of a failing test, and the files and worlds that are kept."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import cast

import pytest
from click.testing import CliRunner

from simulator.cli import main
from simulator.testing import World
from simulator.testing.plugin.report import Keeper
from tests.tools.testing.suites import Outcome, Suite, worlds_at

pytestmark = pytest.mark.xdist_group("plugin-failing")

FAILING = """
    import pytest

    QUOTE = {
        "from": {"symbol": "USDC", "network": "CELO"},
        "to": {"symbol": "KES"},
        "amount": "100.00",
    }

    @pytest.fixture
    def broken(world):
        world.client.get("/profile")
        raise ValueError("in setup")

    @pytest.fixture
    def late(world):
        yield world
        raise ValueError("in teardown")

    def test_that_passes(world):
        world.client.get("/profile")

    @pytest.mark.seed(7)
    @pytest.mark.clock("2026-03-01")
    def test_that_fails(world):
        world.client.post("/webhooks", json={"url": "http://127.0.0.1:9/x", "events": ["*"]})
        world.client.get("/profile/kyc")
        world.act("set_network", network="celo", status="down")
        world.advance("1h")
        assert world.client.get("/currencies?page=2").status_code == 999

    def test_that_fails_in_setup(broken): ...

    def test_that_fails_in_teardown(late):
        late.client.get("/profile/limits")

    @pytest.mark.xfail(reason="known")
    def test_that_is_known_to_fail(world):
        raise ValueError("known")

    @pytest.mark.parametrize("name", ["a/b", "much"], ids=["a/b", "much" * 50])
    def test_with_a_long_name(world, name):
        assert not name

    def test_with_two_worlds(world, world_in_process):
        world_in_process.client.get("/profile/kyc")
        assert world is world_in_process

    def test_its_server_has_stopped(world):
        world.control("DELETE", f"/worlds/{world.id}")
        raise ValueError("my own failure")

    def test_with_separate_worlds(simulator):
        with simulator.new_world() as ended:
            ended.client.get("/currencies")
        simulator.new_world(id="shared").client.get("/profile/kyc")
        assert not ended
"""


def sections(outcome: Outcome, test: str) -> str:
    """Return the section of a test in the output."""
    text = re.split(rf"^_+ (?:ERROR at \w+ of )?{re.escape(test)} _+$", outcome.text, flags=re.MULTILINE)[1]
    return re.split(r"^_{5,} .* _{5,}$|^={5,} .* ={5,}$", text, flags=re.MULTILINE)[0]


class Ran:
    def __init__(self, directory: Path, *arguments: str) -> None:
        self.suite = Suite(directory)
        self.suite.write("test_it.py", FAILING)
        self.outcome = self.suite.run(*arguments) if arguments else self.suite.run_here()

    @property
    def files(self) -> list[str]:
        return sorted(path.name for path in (self.suite.directory / ".rampsim").iterdir())


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return Ran(tmp_path_factory.mktemp("alone"))


@pytest.fixture(scope="module")
def in_two_workers(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return Ran(tmp_path_factory.mktemp("workers"), "-n2")


@pytest.fixture(params=["alone", pytest.param("in_two_workers", marks=pytest.mark.farm)])
def ran(request: pytest.FixtureRequest) -> Ran:
    found: Ran = request.getfixturevalue(request.param)
    return found


def test_a_failing_test_shows_the_timeline_of_its_world(ran: Ran) -> None:
    shown = sections(ran.outcome, "test_that_fails")
    at = [
        shown.index(text)
        for text in (
            "what happened in the simulator",
            ", seed 7, now 2026-03-01",
            "GET /v1/profile/kyc",
            "* set_network",
            "GET /v1/currencies",
        )
    ]
    assert at == sorted(at), shown


def test_failures_in_setup_and_teardown_show_it_too(ran: Ran) -> None:
    assert "/v1/profile" in sections(ran.outcome, "test_that_fails_in_setup")
    assert "/v1/profile/limits" in sections(ran.outcome, "test_that_fails_in_teardown")


def test_a_test_that_passes_or_is_known_to_fail_shows_and_leaves_nothing(ran: Ran) -> None:
    assert ran.outcome.tests["test_that_passes"] == "passed"
    assert ran.outcome.tests["test_that_is_known_to_fail"] == "xfail"
    assert "World test_that_passes" not in ran.outcome.text
    assert "World test_that_is_known" not in ran.outcome.text
    assert not any("passes" in name or "known" in name for name in ran.files)


def test_the_scenario_that_is_named_repeats_what_the_test_did(ran: Ran) -> None:
    command = re.search(r"Repeat the calls: +rampsim (.*)", sections(ran.outcome, "test_that_fails"))
    assert command is not None
    *words, path = command[1].split()
    assert words == ["scenario", "run", "--seed", "7"]
    text = (ran.suite.directory / path).read_text()
    assert all(part in text for part in ("/profile/kyc", "set_network", "/currencies?page=2")), text
    assert "$schema" not in text, "what it names is not in the project of the tests"
    result = CliRunner().invoke(main, [*words, str(ran.suite.directory / path)])
    assert result.exit_code == 0, result.output
    assert "Passed: test_it-test_that_fails" in result.output


def test_commands_can_be_typed_where_a_directory_has_a_blank_in_its_name(kit: World, tmp_path: Path) -> None:
    class Elsewhere:
        rootpath = tmp_path / "my shop"
        invocation_params = pytest.Config.InvocationParams(args=(), plugins=None, dir=tmp_path)

    Elsewhere.rootpath.mkdir()
    keeper = Keeper(cast("pytest.Config", Elsewhere), keeps=True, outlives=False, has_socket=True)
    words = [shlex.split(line) for line in keeper.section("test_a.py::test_b", kit).splitlines() if "my shop" in line]
    assert [(tmp_path / line[-1]).is_file() for line in words] == [True, True]


def test_the_world_that_is_kept_can_be_opened_again(ran: Ran) -> None:
    shown = sections(ran.outcome, "test_that_fails")
    command = re.search(r"Look at its world: +rampsim serve --state (.*)", shown)
    assert command is not None
    document = json.loads((ran.suite.directory / command[1]).read_text())
    assert document["world"].startswith("test_that_fails-")
    assert re.search(r"while this run lasts: http://127.0.0.1:\d+/_simulator/dashboard\?world=test_that", shown)


def test_each_of_two_worlds_is_shown(ran: Ran) -> None:
    shown = sections(ran.outcome, "test_with_two_worlds")
    assert shown.count("what happened in the simulator") == 2
    assert {"test_it-test_with_two_worlds.yaml", "test_it-test_with_two_worlds-2.yaml"} <= set(ran.files)


def test_worlds_that_a_test_has_made_itself_are_shown_unless_it_has_ended_them(ran: Ran) -> None:
    shown = sections(ran.outcome, "test_with_separate_worlds")
    assert shown.count("what happened in the simulator") == 1
    assert "World shared, seed 1" in shown
    assert "GET /v1/profile/kyc → 200" in shown
    assert "GET /v1/currencies" not in shown


def test_a_world_that_cannot_be_asked_hides_nothing(ran: Ran) -> None:
    shown = sections(ran.outcome, "test_its_server_has_stopped")
    assert "ValueError: my own failure" in shown
    assert "Repeat the calls:          not possible: " in shown
    assert "while this run lasts" not in shown


def test_names_of_tests_become_names_of_files(ran: Ran) -> None:
    assert "test_it-test_with_a_long_name-a-b.yaml" in ran.files
    assert all(len(name) < 130 for name in ran.files)
    assert max(len(name) for name in ran.files if name.endswith(".yaml")) == len("a" * 100 + ".yaml")
    assert (ran.suite.directory / ".rampsim" / ".gitignore").read_text() == "*\n"


def test_nothing_is_left_of_a_run(ran: Ran) -> None:
    assert list(ran.suite.temporary.glob("rampsim*")) == []


SHORT = """
    def test_that_passes(world):
        world.client.get("/profile")

    def test_that_fails(world):
        assert world.client.get("/profile").status_code == 999
"""


@pytest.mark.parametrize(
    ("keep", "kept"),
    [
        pytest.param(None, {"test_that_fails"}, marks=pytest.mark.farm),
        ("always", {"test_that_fails", "test_that_passes"}),
        ("never", set()),
    ],
)
def test_in_a_server_that_runs_worlds_are_kept_as_wanted(
    tmp_path: Path, origin: str, keep: str | None, kept: set[str]
) -> None:
    """Given by an option, by the variable, or in the file of settings: each way once."""
    suite = Suite(tmp_path)
    suite.write("test_it.py", SHORT)
    before = worlds_at(origin)
    if keep is None:
        outcome = suite.run("-n2", variables={"SIMULATOR_URL": origin})
    elif keep == "always":
        outcome = suite.run_here("--simulator-url", origin, "--simulator-keep=always")
    else:
        suite.write("pytest.ini", f"[pytest]\nsimulator_url = {origin}\nsimulator_keep = never\n")
        outcome = suite.run_here()
    left = worlds_at(origin) - before
    assert {name.partition("-")[0] for name in left} == kept, outcome.text
    for name in left:
        assert f"{origin}/_simulator/dashboard?world={name}" in outcome.text
    assert ("Look at its world" in outcome.text) == bool(kept)
    assert "Repeat the calls:          rampsim scenario run .rampsim/test_it-test_that_fails.yaml" in outcome.text
    assert "--state" not in outcome.text
