"""`@pytest.mark.against`: one test on the simulator and on a service, which is a second simulator here."""

from __future__ import annotations

import re
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
    tests = outcome.tests
    sides = [tests.pop(f"test_wallet[{side}]") for side in ("simulator", "target")]
    assert sorted(sides) == ["failed", "passed"], outcome.text  # the side that ends last fails
    assert tests == {"test_profile[simulator]": "passed", "test_profile[target]": "passed"}
    assert outcome.code == pytest.ExitCode.TESTS_FAILED
    assert "1 failed, 3 passed" in outcome.text
    assert outcome.has("The simulator and the target differ:", "create_wallet: status: simulator 201, target 200")
    assert outcome.has("test_it.py::test_profile: no differences")


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


@pytest.mark.parametrize(
    ("arguments", "given"), [('"production"', "'production'"), ("'simulator'", "'simulator'"), ("side=[1]", "side=[1]")]
)
def test_wrong_marker_is_an_error_of_its_test(suite: Suite, arguments: str, given: str) -> None:
    suite.write(
        "test_it.py",
        f"import pytest\n@pytest.mark.against({arguments})\ndef test_it(world): ...\ndef test_other(): ...\n",
    )
    outcome = suite.run_here()
    assert outcome.tests == {"test_it": "error", "test_other": "passed"}
    assert outcome.has(f'test_it.py::test_it: @pytest.mark.against takes "simulator" and "target", not {given}.')


NOTHING = """
    import pytest

    @pytest.mark.against("simulator", "target")
    def test_no_call(world):
        pass

    @pytest.mark.against("simulator", "target")
    def test_no_world():
        pass
"""


def test_comparison_of_nothing_fails_the_test(suite: Suite, target: dict[str, str]) -> None:
    suite.write("test_it.py", NOTHING)
    outcome = suite.run_here(variables=target)
    assert outcome.tests == dict.fromkeys(
        [f"{test}[{side}]" for test in ("test_no_call", "test_no_world") for side in ("simulator", "target")], "failed"
    )
    assert outcome.has("test_no_call[simulator]: nothing was compared, because the test makes no call")
    assert outcome.has("test_no_world[simulator]: nothing was compared, because the test does not use the fixture")


PARAMETERS = """
    import pytest

    @pytest.mark.parametrize("path", ["/profile", "/fees"], ids=["profile", "fees"])
    @pytest.mark.against("simulator", "target")
    @pytest.mark.parametrize("again", [False], ids=["once"])
    def test_it(world, path, again):
        world.client.get(path)
"""


def test_parameters_are_part_of_the_compared_name(suite: Suite, target: dict[str, str]) -> None:
    suite.write("test_it.py", PARAMETERS)
    outcome = suite.run_here(variables=target)
    assert set(outcome.tests.values()) == {"passed"}, outcome.text
    for name in ("profile", "fees"):
        assert re.search(rf"test_it\[(once-{name}|{name}-once)\]: no differences", outcome.text), outcome.text


def test_unreachable_target_is_one_line(suite: Suite, target: dict[str, str]) -> None:
    outcome = suite.run_here("-k", "profile", variables={**target, "SIMULATOR_TARGET_URL": "http://127.0.0.1:9/v1"})
    assert outcome.tests["test_profile[target]"] == "failed"
    assert outcome.has("The target of SIMULATOR_TARGET_URL is unreachable: http://127.0.0.1:9: ")
    assert "httpx.ConnectError" not in outcome.text
    assert "During handling" not in outcome.text
