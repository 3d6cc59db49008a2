"""Node tests the dashboard's modules that do not use the DOM."""

from __future__ import annotations

from tests.places import ROOT
from tests.tools.judges import tools


def test_the_modules_of_the_dashboard_reckon_right() -> None:
    tests = sorted((ROOT / "tests" / "service" / "dashboard" / "modules").glob("*.test.mjs"))
    assert tests
    done = tools.run(tools.node_directory() / "node", "--test", "--test-isolation=none", *tests)
    assert done.returncode == 0, done.stdout
