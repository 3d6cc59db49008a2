"""What may be said to the pytest plugin: on the command line, in pyproject.toml, by markers."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pytest

REPORTER = "rampsim-reporter"
"""The plugin of the process that reports the run."""
TOLD = "rampsim"
"""Where a report of pytest or of pytest-xdist has what a process tells of its worlds."""


class Option(NamedTuple):
    """An option of the command line that is a key in pyproject.toml too, by the name with underscores."""

    flag: str
    help: str
    choices: tuple[str, ...] = ()
    metavar: str | None = None
    default: str = ""

    @property
    def name(self) -> str:
        return self.flag.removeprefix("--").replace("-", "_")


OPTIONS = (
    Option("--simulator-url", "Use the simulator that runs there (also SIMULATOR_URL) and start none.", metavar="URL"),
    Option(
        "--simulator",
        "Where the simulator runs that is started: in a process of its own, shared by all workers of pytest-xdist, "
        "or in the process of the tests, without any socket. [process]",
        ("process", "inprocess"),
        default="process",
    ),
    Option(
        "--simulator-keep",
        "Which worlds are kept to be looked at: those of failed tests, all, or none. [failed]",
        ("failed", "always", "never"),
        default="failed",
    ),
    Option(
        "--simulator-fail-on-advice",
        "Fail the run when the simulator has advice of this severity, or a higher one, about the traffic of the tests.",
        ("info", "warning", "error"),
    ),
)
COVERAGE = "simulator_coverage"
COVERAGE_HELP = "Show at the end what of the interface the tests have exercised, and what not."

MARKERS = (
    'scenario(*names_or_paths): the scenarios that are active in the `world` of this test, such as "autopilot", '
    "or files beside the test or below the root directory; later ones win",
    'clock(now): when the `world` of this test begins, such as "2026-03-01" or "2026-03-01T08:00:00Z"',
    "seed(number): the seed of the `world` of this test; 1 without it",
    "world(**body): what else the `world` of this test is made with, as POST /_simulator/worlds takes it, such as "
    'settings={"strict": True}',
)


def chosen(config: pytest.Config, name: str) -> str:
    """What an option says: on the command line, else in the variable SIMULATOR_URL, else in pyproject.toml."""
    variable = os.environ.get("SIMULATOR_URL") if name == "simulator_url" else None
    value: str = config.getoption(name) or variable or config.getini(name)
    return value


def directory_of(run_id: str) -> Path:
    """What the processes of a run have in common (`run_server`)."""
    return Path(tempfile.gettempdir(), f"rampsim-{run_id}")
