"""The loader with changed copies of the included scenarios: each can be saved and shown, or has located problems."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from simulator.engine.scenario.files.library import Library
from simulator.engine.scenario.files.shipped import shipped_directory
from simulator.host import Simulator
from tests.support import whole
from tests.unit.engine.scenario.test_any_text import Judge, changed

judge = Judge(Simulator(library=Library()))
SHIPPED = [
    judge.loader.load_file(path, known=["autopilot"]).document
    for path in sorted(shipped_directory().glob("*.yaml"))[::7]
]


@pytest.mark.long
@settings(max_examples=whole(300, short=100), suppress_health_check=list(HealthCheck))
@given(changed(SHIPPED))
def test_any_changed_shipped_scenario_is_loaded_or_refused(document: Any) -> None:
    judge(json.dumps(document))
