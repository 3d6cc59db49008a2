"""`@pytest.mark.against`: one test on the simulator and on a service, which is a second simulator here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from simulator.engine.server.config import Config
from simulator.engine.worlds.settings import DEFAULTS
from tests.remote import running
from tests.tools.testing.suites import Suite

SUITE = """
    import pytest

    @pytest.mark.against("simulator", "target")
    def test_wallet(world):
        made = world.client.post("/wallets", json={"network": "celo", "reference": "w-1"})
        assert made.status_code in (200, 201)

    @pytest.mark.against("simulator", "target")
    def test_profile(world):
        assert world.client.get("/profile").status_code == 200

    @pytest.mark.against("simulator", "target")
    def test_control(world):
        world.client.get("/profile")
        world.advance("1h")
"""


@pytest.fixture(scope="module")
def target() -> Iterator[dict[str, str]]:
    settings = {**DEFAULTS, "assumptions": {"H1": "creating_answers_200"}}
    with running(Config(clock="manual", settings=settings)) as (origin, _):
        yield {
            "SIMULATOR_TARGET_URL": f"{origin}/v1",
            "RAMPSIM_PUBLIC_KEY": "pk_test_simulator",
            "RAMPSIM_SECRET_KEY": "sk_test_simulator",
        }


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    made = Suite(tmp_path)
    made.write("test_it.py", SUITE)
    return made


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_against_reports_differences_and_fails_the_run(
    suite: Suite, target: dict[str, str], workers: tuple[str, ...]
) -> None:
    outcome = suite.run_here("-k", "wallet or profile", *workers, variables=target)
    assert set(outcome.tests.values()) == {"passed"}, outcome.text
    assert len(outcome.tests) == 4
    assert outcome.code == pytest.ExitCode.TESTS_FAILED
    assert outcome.has("call 1, create_wallet: status: simulator 201, target 200")
    assert outcome.has("test_profile[]: no differences")


def test_against_skips_the_target_without_variables(suite: Suite) -> None:
    outcome = suite.run_here("-k", "wallet")
    assert outcome.code == 0
    assert outcome.tests["test_wallet[simulator]"] == "passed"
    assert outcome.has("SIMULATOR_TARGET_URL, RAMPSIM_PUBLIC_KEY, RAMPSIM_SECRET_KEY")


def test_control_of_the_target_is_refused_with_a_hint(suite: Suite, target: dict[str, str]) -> None:
    outcome = suite.run_here("-k", "control", variables=target)
    assert outcome.tests["test_control[target]"] == "failed"
    assert outcome.has("`world.advance` is not available at the target")


def test_live_keys_are_refused(suite: Suite, target: dict[str, str]) -> None:
    outcome = suite.run_here("-k", "profile", variables={**target, "RAMPSIM_SECRET_KEY": "sk_live_" + "a1B2" * 8})
    assert outcome.tests["test_profile[target]"] == "failed"
    assert outcome.has("live")


def test_unknown_side_is_refused(suite: Suite) -> None:
    suite.write("test_it.py", 'import pytest\n@pytest.mark.against("production")\ndef test_it(world): ...\n')
    assert suite.run_here().has("takes", '"simulator" and "target"')
