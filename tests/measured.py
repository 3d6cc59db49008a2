"""Coverage of what runs in processes that tests start.

To measure all processes would cost as much again as the tests themselves. So a few tests that between them run what no
test runs in its own process start theirs measured; their figures join those of the run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from coverage import Coverage

from tests.places import ROOT

_VARIABLES = {
    "COVERAGE_PROCESS_START": str(ROOT / "tests" / "processes.coveragerc"),
    "COVERAGE_FILE": str(ROOT / ".coverage"),
}


def measured() -> dict[str, str]:
    """The variables by which a process measures its coverage; none where this run measures none."""
    return {} if Coverage.current() is None else _VARIABLES


@contextmanager
def unmeasured() -> Iterator[None]:
    """What starts within the block measures nothing, though the test around it is measured."""
    with patch.dict(os.environ):
        for name in _VARIABLES:
            os.environ.pop(name, None)
        yield
