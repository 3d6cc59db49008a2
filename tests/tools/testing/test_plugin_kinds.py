"""The kinds of tests that the fixtures support: in process, async, unittest, with fixtures of the same names."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.testing.suites import Outcome, Suite

pytestmark = pytest.mark.xdist_group("plugin-kinds")

NO_SOCKETS = """
    import socket
    import pytest

    @pytest.fixture(autouse=True)
    def no_sockets(monkeypatch):
        def refuse(*arguments):
            raise AssertionError("a socket was used")
        for name in ("connect", "connect_ex", "bind"):
            monkeypatch.setattr(socket.socket, name, refuse)
"""

IN_PROCESS = """
    import pytest

    QUOTE = {
        "type": "onramp", "network": "celo", "asset": "USDC", "fiat_currency": "KES", "amount": "5000",
        "amount_currency": "KES", "method": "mobile_money",
    }

    def pay(world):
        quote = world.client.post("/quotes", json=QUOTE).raise_for_status().json()
        payer = {"phone_number": "+254712345678"}
        body = {"wallet_address": "0x52908400098527886E0F7030069857D2E4169EE7", "payer": payer}
        ramp = world.client.post(f"/quotes/{quote['id']}/confirm", json=body).raise_for_status().json()
        world.act("payment_arrives", ramp["id"])
        return ramp

    def test_a_call(world):
        assert world.client.get("/profile").status_code == 200

    def test_a_separate_world(simulator):
        with simulator.new_world() as world:
            assert world.client.get("/profile").status_code == 200

    @pytest.mark.clock("2026-03-01")
    def test_a_marker(world_in_process):
        assert world_in_process.now.month == 3

    def test_webhooks(world, webhooks):
        ramp = pay(world)
        delivery = webhooks.wait_for("transaction.processing", ramp["id"])
        assert delivery.genuine

    @pytest.mark.anyio
    async def test_async(world, webhooks):
        answer = await world.async_client.get("/profile")
        assert answer.status_code == 200
        assert webhooks.wait_for("transaction.processing", pay(world)["id"]).genuine

    def test_that_fails(world):
        world.client.get("/profile/kyc")
        raise ValueError("my own failure")
"""


@pytest.fixture(scope="module")
def in_process(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    suite = Suite(tmp_path_factory.mktemp("inprocess"))
    suite.write("conftest.py", NO_SOCKETS)
    suite.write("test_it.py", IN_PROCESS)
    return suite.run_here("-p", "anyio", "--simulator=inprocess")


@pytest.mark.parametrize(
    "name",
    ["test_a_call", "test_a_separate_world", "test_a_marker", "test_webhooks", "test_async[asyncio]",
     "test_async[trio]"],
)  # fmt: skip
def test_in_process_nothing_uses_a_socket(in_process: Outcome, name: str) -> None:
    assert in_process.tests[name] == "passed", in_process.text


def test_in_process_a_failing_test_shows_its_world_and_no_address(in_process: Outcome) -> None:
    assert in_process.has(
        "GET /v1/profile/kyc",
        "Repeat the calls:          rampsim scenario run .rampsim/test_it-test_that_fails.yaml",
        "Look at its world:         rampsim serve --state .rampsim/test_it-test_that_fails.world.json",
    )
    assert "while this run lasts" not in in_process.text


def test_over_http_they_serve_async_tests_and_unittest_too(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    suite.write("test_it.py", IN_PROCESS.replace("world_in_process", "world"))
    suite.write(
        "test_case.py",
        """
        import unittest
        import pytest

        class TestCase(unittest.TestCase):
            @pytest.fixture(autouse=True)
            def _world(self, world):
                self.world = world

            def test_of_unittest(self):
                self.assertEqual(self.world.client.get("/profile").status_code, 200)
        """,
    )
    outcome = suite.run_here("-p", "anyio", "--deselect", "test_it.py::test_that_fails")
    assert set(outcome.tests.values()) == {"passed"}, outcome.text
    assert {"test_async[asyncio]", "test_async[trio]", "TestCase::test_of_unittest"} <= set(outcome.tests)


def test_fixtures_of_the_same_name_that_the_tests_have_themselves_win(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    suite.write(
        "conftest.py",
        """
        import pytest

        @pytest.fixture
        def world():
            return "of my own"

        @pytest.fixture(scope="session")
        def simulator():
            return "of my own too"
        """,
    )
    suite.write(
        "test_it.py",
        """
        def test_it(world, simulator):
            assert (world, simulator) == ("of my own", "of my own too")
        """,
    )
    assert suite.run_here().tests == {"test_it": "passed"}


def test_a_server_that_the_tests_start_themselves_serves_the_fixtures(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    suite.write(
        "test_it.py",
        """
        import pytest
        from simulator.testing import serve

        @pytest.fixture(scope="session")
        def simulator():
            with serve(strict=True) as server:
                yield server

        def test_that_passes(world):
            assert world.info["settings"]["strict"]

        def test_that_fails(world):
            world.client.get("/profile")
            raise ValueError("my own failure")
        """,
    )
    outcome = suite.run_here()
    assert outcome.tests == {"test_that_passes": "passed", "test_that_fails": "failed"}
    assert outcome.has("GET /v1/profile", "rampsim serve --state", "while this run lasts: http://127.0.0.1")


def test_without_the_extra_a_fixture_says_how_to_install_it(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    suite.write("absent/httpx.py", "raise ImportError('No module named httpx', name='httpx')")
    suite.write("test_it.py", "def test_it(world): ...\ndef test_other(): ...")
    outcome = suite.run(variables={"PYTHONPATH": str(suite.directory / "absent")})
    assert outcome.tests == {"test_it": "error", "test_other": "passed"}
    shown = outcome.text.partition("ERROR at setup of test_it")[2].partition("\n====")[0]
    assert (
        'The fixture simulator: The test kit needs httpx: pip install "./rampsim-0.1.0-py3-none-any.whl[testing]"'
        in shown
    )
    assert len([line for line in shown.splitlines() if line.strip(" _")]) == 1, shown


def test_the_debugger_opens_with_the_address_of_the_world(tmp_path: Path, origin: str) -> None:
    suite = Suite(tmp_path)
    suite.write("test_it.py", "def test_it(world):\n    raise ValueError('my own failure')")
    outcome = suite.run("--pdb", f"--simulator-url={origin}", "--simulator-keep=never")
    assert outcome.has(f"rampsim: the world of this test: {origin}/_simulator/dashboard?world=test_it-", "(Pdb)")
