"""Measures coverage in processes that tests start.

Measuring all processes would double the cost of the tests. So only a few tests measure their processes. Together these
cover the code that no test runs in its own process. The results are added to the coverage of the run.
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
    """For the block, start processes without measuring, even if the test is measured."""
    with patch.dict(os.environ):
        for name in _VARIABLES:
            os.environ.pop(name, None)
        yield
