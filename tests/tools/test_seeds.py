"""The command after a failure repeats it, for every source of randomness (see `tests/seeds.py`)."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from tests.places import ROOT
from tests.seeds import REPEAT

TESTS = "tests/unit/test_on_demand.py"
_MET = re.compile(r"^E +(?:AssertionError: )?(met \d+)", re.MULTILINE)
_LINE = re.compile(rf"-+ {REPEAT} -+\n(.+)\n")


def run(command: list[str]) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV"))}
    done = subprocess.run(
        command, cwd=ROOT, env={**environment, "FAIL_ON_DEMAND": "1"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


def failures(output: str) -> list[str]:
    """Return the failure of each failed test."""
    return [min(found) for part in output.split("\n____")[1:] if (found := set(_MET.findall(part)))]


@pytest.mark.farm
def test_the_line_under_a_failure_repeats_it() -> None:
    output = run([sys.executable, "-m", "pytest", TESTS])
    met, lines = failures(output), _LINE.findall(output)
    assert len(met) == len(lines) == 4
    for number, line in zip(met, lines, strict=True):
        assert line.startswith("FAIL_ON_DEMAND=1 ")
        assert failures(run(["sh", "-c", line])) == [number]
