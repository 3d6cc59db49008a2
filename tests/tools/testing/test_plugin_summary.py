"""The summary at the end of a run: the exercised parts of the API, and advice that fails the run."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest

from tests.tools.testing.suites import Outcome, Suite

pytestmark = pytest.mark.xdist_group("plugin-summary")

SUITE = """
    import pytest

    NUMBER = {
        "type": "onramp", "network": "celo", "asset": "USDC", "fiat_currency": "KES", "amount": 5000,
        "amount_currency": "KES", "method": "mobile_money",
    }

    @pytest.fixture(scope="session")
    def lasting(simulator):
        return simulator.new_world()

    def test_profile(world):
        world.client.get("/profile")

    def test_of_a_world_that_is_reset(world):
        world.client.get("/profile/limits")
        world.reset()

    def test_of_a_world_that_ends_early(world):
        world.client.get("/profile/kyc")
        world.delete()

    def test_of_a_separate_world(simulator):
        with simulator.new_world() as world:
            world.client.get("/currencies")

    def test_of_a_fork(world):
        world.fork().client.get("/fees")

    def test_of_a_world_that_lasts(lasting):
        lasting.client.get("/orders")

    def test_amounts(world):
        world.client.post("/quotes", json=NUMBER)

    def test_amounts_again(world):
        world.client.post("/quotes", json=NUMBER)

    def test_polling(world):
        for _ in range(20):
            world.client.get("/transactions")

    def test_network(world):
        world.act("set_network", network="celo", status="down")
"""
WORKERS = pytest.param("workers", marks=pytest.mark.farm)
SEEN = {"get_profile", "get_limits", "get_kyc", "list_currencies", "list_fees", "list_orders", "list_transactions"}


def suite(directory: Path) -> Suite:
    made = Suite(directory)
    made.write("test_it.py", SUITE)
    return made


def summary_of(outcome: Outcome, title: str) -> str:
    return re.split(r"^=+ rampsim: .* =+$", outcome.text.partition(title)[2], flags=re.MULTILINE)[0]


class Ran:
    """Runs of the suite, each made when it is first asked for."""

    def __init__(self, directory: Path, origin: str) -> None:
        self._directory = directory
        self._origin = origin
        self._outcomes: dict[str, Outcome] = {}

    def outcome(self, where: str) -> Outcome:
        if where not in self._outcomes:
            arguments = {
                "alone": ["--simulator-fail-on-advice=error"],
                "workers": ["--simulator-fail-on-advice=error", "-n2"],
                "inprocess": ["--simulator=inprocess"],
                "url": [f"--simulator-url={self._origin}", "-n2"],
            }[where]
            (self._directory / where).mkdir()
            made = suite(self._directory / where)
            run = made.run if "-n2" in arguments else made.run_here
            self._outcomes[where] = run("--simulator-coverage", *arguments)
        return self._outcomes[where]

    def file(self, where: str) -> str:
        return (self._directory / where / "suite" / ".rampsim" / "coverage.txt").read_text()


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory, origin: str) -> Ran:
    # What others do in a server that the run is pointed to does not count.
    with httpx.Client(base_url=origin, trust_env=False) as client:
        keys = {"public_key": "pk_test_simulator", "secret_key": "sk_test_simulator"}
        token = client.post("/v1/auth/token", json=keys).json()["access_token"]
        client.get("/v1/beneficiaries", headers={"Authorization": f"Bearer {token}"}).raise_for_status()
    return Ran(tmp_path_factory.mktemp("summary"), origin)


@pytest.mark.parametrize("where", ["alone", WORKERS, "inprocess", pytest.param("url", marks=pytest.mark.farm)])
def test_the_coverage_is_that_of_all_worlds_of_all_workers(ran: Ran, where: str) -> None:
    outcome = ran.outcome(where)
    assert set(outcome.tests.values()) == {"passed"}, outcome.text
    shown = summary_of(outcome, "rampsim: API coverage of the tests")
    assert re.search(rf"Operations that succeeded +{len(SEEN)} of +\d+ +\d+\.\d %", shown), shown
    assert re.search(r"Statuses reached +1 of", shown), shown
    assert re.search(r"yes: +network down", shown), shown
    assert "  no:  " in shown
    assert "The whole list: .rampsim/coverage.txt" in shown
    assert len(shown.splitlines()) < 40
    operations = ran.file(where).partition("Error codes")[0]
    assert set(re.findall(r"^  yes  (\w+)$", operations, re.MULTILINE)) == {
        *SEEN
    }  # the kit has signed in, not the tests
    assert "  no   list_beneficiaries\n" in operations


@pytest.mark.parametrize("where", ["alone", WORKERS])
def test_advice_fails_the_run_with_test_name_and_fix(ran: Ran, where: str) -> None:
    outcome = ran.outcome(where)
    assert outcome.code == 1
    shown = summary_of(outcome, "rampsim: advice of severity error and above")
    assert shown.count("amount_as_number") == 1, "a finding stands once for all its tests"
    assert "What to do: Send amounts as decimal strings" in shown
    assert re.search(r"In: test_it.py::test_amounts(_again)?, test_it.py::test_amounts", shown)
    assert "This advice fails the run (--simulator-fail-on-advice=error)." in shown
    assert "fast_polling" not in shown


def test_without_that_option_advice_fails_nothing(ran: Ran) -> None:
    assert ran.outcome("inprocess").code == 0
    assert "advice" not in ran.outcome("inprocess").text


def test_the_coverage_of_a_run_without_worlds_is_reported(tmp_path: Path) -> None:
    made = Suite(tmp_path)
    made.write("pytest.ini", "[pytest]\nsimulator_coverage = true\nsimulator_fail_on_advice = info\n")
    made.write("test_it.py", "def test_it(): ...")
    outcome = made.run_here()
    assert outcome.code == 0
    assert outcome.has("coverage", "None: no test had a simulator world.", "advice", "None.")


def test_advice_below_the_severity_fails_nothing(tmp_path: Path) -> None:
    made = suite(tmp_path)
    outcome = made.run_here("--simulator=inprocess", "--simulator-fail-on-advice=error", "-k", "polling")
    assert outcome.code == 0
    assert outcome.has("advice of severity error and above", "None.")
    outcome = made.run_here("--simulator=inprocess", "--simulator-fail-on-advice=warning", "-k", "polling")
    assert outcome.code == 1
    assert outcome.has("warning  fast_polling", "In: test_it.py::test_polling")


def test_a_run_that_fails_anyway_keeps_its_exit_code(tmp_path: Path) -> None:
    made = suite(tmp_path)
    made.write("test_other.py", "def test_it(world): world.client.get('/profile'); raise KeyboardInterrupt")
    outcome = made.run_here("--simulator=inprocess", "--simulator-fail-on-advice=error", "-k", "amounts or test_other")
    assert outcome.code == 2
    assert "amount_as_number" in outcome.text


def test_a_wrong_setting_is_reported(tmp_path: Path) -> None:
    made = Suite(tmp_path)
    made.write("pytest.ini", "[pytest]\nsimulator_keep = often\n")
    outcome = made.run_here()
    assert outcome.code == 4
    assert "simulator_keep is 'often'; it must be one of failed, always, never" in outcome.text
    assert "Traceback" not in outcome.text


@pytest.mark.parametrize("how", ["flag", "ini"])
def test_coverage_of_what_the_tests_use_counts_their_resources_only(tmp_path: Path, how: str) -> None:
    made = Suite(tmp_path)
    if how == "ini":
        made.write("pytest.ini", "[pytest]\nsimulator_coverage = used\n")
    made.write("test_it.py", "def test_it(world):\n    world.flow('onramp')\n")
    outcome = made.run_here("--simulator=inprocess", *(["--simulator-coverage=used"] if how == "flag" else []))
    shown = summary_of(outcome, "rampsim: API coverage of the tests, of the resources that they use")
    assert re.search(r"Operations that succeeded +3 of +5 +60\.0 %\n  yes: create_quote", shown), shown
    assert "  no:  get_quote, list_transactions\n" in shown
    assert re.search(r"Statuses reached +5 of +9 ", shown), shown
    assert re.search(r"Event types acknowledged +0 of +8 ", shown), shown
    assert "beneficiary" not in shown
    whole = (made.directory / ".rampsim" / "coverage.txt").read_text()
    assert "  no   onramp refunded\n" in whole
    assert "offramp" not in whole


def test_a_path_may_follow_the_flag_and_a_wrong_word_is_refused(tmp_path: Path) -> None:
    made = Suite(tmp_path)
    made.write("test_it.py", "def test_it(): ...")
    assert made.run_here("--simulator-coverage", "test_it.py").code == 0
    made.write("pytest.ini", "[pytest]\nsimulator_coverage = some\n")
    refused = made.run_here()
    assert refused.has("simulator_coverage is 'some'; it must be true, false, all or used")
