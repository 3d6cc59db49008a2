"""The history of a world: the method and the marker."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from simulator.testing import World
from tests.tools.testing.suites import Suite


def test_a_world_gets_a_history_and_its_clock_advances(kit: World) -> None:
    before = kit.now
    heard: list[datetime] = []
    kit.on_advance.append(heard.append)
    answer = kit.add_history(days=3, per_day=4, mix="failures")
    assert (answer["orders"], answer["refused"]) == (12, {})
    assert kit.now == before + timedelta(days=3) == heard[-1]
    assert kit.client.get("/transactions").json()["pagination"]["total"] >= 12


SUITE = """
        import pytest

        @pytest.mark.history(days=2, per_day=5)
        def test_orders(world):
            assert world.client.get("/transactions").json()["pagination"]["total"] >= 10

        @pytest.mark.history(days=2, per_day=5)
        def test_in_process(world_in_process):
            assert world_in_process.client.get("/transactions").json()["pagination"]["total"] >= 10

        @pytest.mark.history(2)
        def test_wrong(world):
            pass
"""


def test_the_marker_gives_a_test_its_history(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    suite.write("test_history.py", SUITE)
    outcome = suite.run()
    assert outcome.tests == {"test_orders": "passed", "test_in_process": "passed", "test_wrong": "error"}
    assert "@pytest.mark.history(2) takes days, per_day and mix by name" in outcome.text
