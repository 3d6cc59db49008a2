"""Options of the pytest plugin from the command line, pyproject.toml and the environment."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pytest

REPORTER = "rampsim-reporter"
"""The name under which the plugin is registered in the process that reports the run."""
REPORT = "rampsim"
"""The attribute of a pytest or pytest-xdist report that carries a process's records about its worlds."""


class Option(NamedTuple):
    """A command-line option that can also be set in pyproject.toml, where its name is written with underscores."""

    flag: str
    help: str
    choices: tuple[str, ...] = ()
    metavar: str | None = None
    default: str = ""
    is_list: bool = False
    """True if the flag may be repeated. In pyproject.toml, the value is then a list."""

    @property
    def name(self) -> str:
        return self.flag.removeprefix("--").replace("-", "_")


OPTIONS = (
    Option("--simulator-url", "Use the simulator at this URL (also SIMULATOR_URL) and start none.", metavar="URL"),
    Option(
        "--simulator",
        "Where a started simulator runs: in its own process, shared by all pytest-xdist workers, or in the test "
        "process, without sockets. [process]",
        ("process", "inprocess"),
        default="process",
    ),
    Option(
        "--simulator-keep",
        "Which worlds to keep for inspection: those of failed tests, all, or none. [failed]",
        ("failed", "always", "never"),
        default="failed",
    ),
    Option(
        "--simulator-observed",
        "Base the worlds on this observed file of `rampsim probe` (also SIMULATOR_OBSERVED). Repeatable.",
        metavar="FILE",
        is_list=True,
    ),
    Option(
        "--simulator-fail-on-advice",
        "Fail the run if the simulator has advice of this or a higher severity about the tests' traffic.",
        ("info", "warning", "error"),
    ),
)
COVERAGE = "simulator_coverage"
ALL, USED = "all", "used"
COVERAGE_HELPS = {
    ALL: "Show at the end which parts of the API the tests have exercised, and which not.",
    USED: "The same, but only for the resources that the tests use.",
}

MARKERS = (
    'scenario(*names_or_paths): the active scenarios in the `world` of this test, such as "autopilot", '
    "or files beside the test or below the root directory; later scenarios have priority",
    'clock(now): the start time of the `world` of this test, such as "2026-03-01" or "2026-03-01T08:00:00Z"',
    "seed(number): the seed of the `world` of this test; default 1",
    "history(days, per_day, mix): orders on each of these days before the test begins; default 90, 40 and typical",
    'against("simulator", "target"): run this test on the simulator and on the service that SIMULATOR_TARGET_URL, '
    "RAMPSIM_PUBLIC_KEY and RAMPSIM_SECRET_KEY name, and report the differences between their responses",
    "world(**body): other fields of POST /_simulator/worlds for the `world` of this test, such as "
    'settings={"strict": True}',
)


def chosen(config: pytest.Config, name: str) -> str:
    """Return the value of an option: from the command line, else the environment, else pyproject.toml."""
    variable = os.environ.get(name.upper()) if name == "simulator_url" else None
    value: str = config.getoption(name) or variable or config.getini(name)
    return value


def wanted_coverage(config: pytest.Config) -> str:
    """Return `all`, `used`, or "" if no coverage is wanted. The command line overrides pyproject.toml."""
    given: str = config.getoption(COVERAGE) or str(config.getini(COVERAGE)).lower()
    words = {"true": ALL, "1": ALL, "yes": ALL, "on": ALL, "false": "", "0": "", "no": "", "off": ""}
    wanted = words.get(given, given)
    if wanted not in ("", ALL, USED):
        import pytest

        raise pytest.UsageError(f"{COVERAGE} is {given!r}; it must be true, false, {ALL} or {USED}")
    return wanted


def observed_files(config: pytest.Config) -> list[Path]:
    """Return the paths of observed files. In pyproject.toml, they are relative to the root directory."""
    paths: list[str] = config.getoption("simulator_observed") or os.environ.get("SIMULATOR_OBSERVED", "").split()
    if paths:
        return [config.invocation_params.dir / path for path in paths]
    return [config.rootpath / path for path in config.getini("simulator_observed")]


def directory_of(run_id: str) -> Path:
    """Return the directory that the processes of a run share (see `run_server`)."""
    return Path(tempfile.gettempdir(), f"rampsim-{run_id}")
