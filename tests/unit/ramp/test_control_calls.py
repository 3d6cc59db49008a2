"""Control calls of the ramp itself: their groups, and which of them are recorded."""

from __future__ import annotations

from simulator.engine.control.operation import TAGS
from simulator.host import control_rows
from tests import library

OWN = [row for row in control_rows() if row.name not in {row.name for row in library.control_rows()}]


def test_its_calls_have_groups_and_reading_is_not_recorded() -> None:
    assert [(row.name, row.method, row.recorded_as) for row in OWN] == [
        ("rates", "GET", None),
        ("rate_history", "GET", None),
        ("reference", "GET", None),
    ]
    assert {row.tag for row in control_rows()} <= TAGS.keys()
