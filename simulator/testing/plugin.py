"""The pytest plugin `rampsim`: options, markers and fixtures.

Every run of pytest imports this, so it imports nothing that takes time. What works behind the fixtures is `plugin_run`,
which is imported when the first of them is asked for.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from simulator.testing.plugin_run import Run
    from simulator.testing.plugin_summary import Summary, Told
    from simulator.testing.receivers import Receiver
    from simulator.testing.server import Server
    from simulator.testing.worlds import World


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
_COVERAGE_HELP = "Show at the end what of the interface the tests have exercised, and what not."

MARKERS = (
    'scenario(*names_or_paths): the scenarios that are active in the `world` of this test, such as "autopilot", '
    "or files beside the test or below the root directory; later ones win",
    'clock(now): when the `world` of this test begins, such as "2026-03-01" or "2026-03-01T08:00:00Z"',
    "seed(number): the seed of the `world` of this test; 1 without it",
    "world(**body): what else the `world` of this test is made with, as POST /_simulator/worlds takes it, such as "
    'settings={"strict": True}',
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """What the command line and pyproject.toml may say, under one heading of `pytest --help`."""
    group = parser.getgroup("rampsim", "rampsim: a simulator of the ramp service for your tests")
    for option in OPTIONS:
        given = {"choices": option.choices} if option.choices else {"metavar": option.metavar}
        group.addoption(option.flag, help=f"{option.help} In pyproject.toml: {option.name}.", default=None, **given)
        parser.addini(option.name, option.help, default=option.default)
    group.addoption(
        "--simulator-coverage", action="store_true", help=f"{_COVERAGE_HELP} In pyproject.toml: {COVERAGE}."
    )
    parser.addini(COVERAGE, _COVERAGE_HELP, type="bool", default=False)


def pytest_configure(config: pytest.Config) -> None:
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    for option in OPTIONS:
        value = config.getini(option.name)
        if option.choices and value not in (*option.choices, option.default):
            raise pytest.UsageError(f"{option.name} is {value!r}; it is one of {', '.join(option.choices)}")
    if config.getoption("simulator_url") and config.getoption("simulator") == "inprocess":
        raise pytest.UsageError(
            "--simulator-url names a server that runs, and --simulator=inprocess needs none: say one of the two"
        )
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Reporter(config), "rampsim-reporter")
        if config.getoption(COVERAGE) or config.getini(COVERAGE) or chosen(config, "simulator_fail_on_advice"):
            _summary(config)  # which says so when no test had a world


def chosen(config: pytest.Config, name: str) -> str:
    """What an option says: on the command line, else in the variable SIMULATOR_URL, else in pyproject.toml."""
    variable = os.environ.get("SIMULATOR_URL") if name == "simulator_url" else None
    value: str = config.getoption(name) or variable or config.getini(name)
    return value


RUN: pytest.StashKey[Run] = pytest.StashKey()
SUMMARY: pytest.StashKey[Summary] = pytest.StashKey()
RUN_ID: pytest.StashKey[str] = pytest.StashKey()
"""In the controller of pytest-xdist: the id that its workers have in common."""


def run_of(config: pytest.Config) -> Run:
    """What works behind the fixtures of a run, from the first time that it is needed."""
    if RUN not in config.stash:
        run = config.stash[RUN] = import_module("simulator.testing.plugin_run").Run(config)
        config.pluginmanager.register(run, "rampsim-run")
    return config.stash[RUN]


def _run_of(request: pytest.FixtureRequest) -> Run:
    try:
        return run_of(request.config)
    except ImportError as error:  # the extra is not installed
        raise pytest.fail.Exception(f"The fixture {request.fixturename}: {error}", pytrace=False) from None


def directory_of(run_id: str) -> Path:
    """What the processes of a run have in common (`run_server`)."""
    return Path(tempfile.gettempdir(), f"rampsim-{run_id}")


# What processes of a run tell each other


_TOLD = "rampsim"


def hand_on(bearer: pytest.TestReport | pytest.Session, told: Told) -> None:
    """Let what a process has to tell go to whoever reports the run, with the report of a test or at the end."""
    if not told:
        return
    if isinstance(bearer, pytest.TestReport):
        setattr(bearer, _TOLD, told)
    elif hasattr(bearer.config, "workeroutput"):
        bearer.config.workeroutput[_TOLD] = told
    else:
        _summary(bearer.config).add(told)


def _summary(config: pytest.Config) -> Summary:
    if SUMMARY not in config.stash:
        config.stash[SUMMARY] = import_module("simulator.testing.plugin_summary").Summary(config)
    return config.stash[SUMMARY]


class _Reporter:
    """In the process that reports the run: the only one, or the controller of pytest-xdist."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if hasattr(report, _TOLD):
            _summary(self._config).add(getattr(report, _TOLD))

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        self._config.stash[RUN_ID] = node.workerinput["testrunuid"]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        told = getattr(node, "workeroutput", {}).get(_TOLD)
        if told:
            _summary(self._config).add(told)

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, report: pytest.TestReport) -> None:
        with contextlib.suppress(ImportError):  # without the extra there are no worlds
            run = import_module("simulator.testing.plugin_run")
            run.show_crashed(self._config, self._config.stash[RUN_ID], report.node.gateway.id, report)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if SUMMARY in self._config.stash and _summary(self._config).fails and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if SUMMARY in self._config.stash:
            _summary(self._config).write(terminalreporter)

    def pytest_unconfigure(self) -> None:
        """The workers are gone, and so is their server a moment later: a run leaves nothing behind."""
        directory = directory_of(self._config.stash.get(RUN_ID, ""))
        if RUN_ID in self._config.stash and directory.exists():
            import_module("simulator.testing.run_server").RunServer(directory).wait_for_end()


@pytest.fixture(scope="session")
def simulator(request: pytest.FixtureRequest) -> Server:
    """The simulator of this run, one for all its workers: `.url`, `.control_url`, `.new_world(**body)`, `.stop()`."""
    return _run_of(request).server()


@pytest.fixture
def world(request: pytest.FixtureRequest, simulator: Server) -> World:
    """A fresh world for this test: signed-in clients, clock, actions, faults, events, deliveries, books.

    Markers say what it begins with: `scenario`, `clock`, `seed`, `world`. It ends with the test, and is kept when the
    test fails.
    """
    return _run_of(request).new_world(request.node, simulator)


@pytest.fixture
def world_in_process(request: pytest.FixtureRequest) -> World:
    """The same as `world` in the process of the test, without any socket."""
    run = _run_of(request)
    return run.new_world(request.node, run.server_in_process())


@pytest.fixture
def webhooks(request: pytest.FixtureRequest) -> Iterator[Receiver]:
    """A receiver of the webhooks of `world`, in the process of the test: it is registered from when a test asks for it.

    In a test that has `world_in_process`, and not `world`, it is that world's.
    """
    in_process = "world_in_process" in request.fixturenames and "world" not in request.fixturenames
    world: World = request.getfixturevalue("world_in_process" if in_process else "world")
    with import_module("simulator.testing").receiver(world) as receiver:
        yield receiver
