"""The pytest plugin `rampsim`: hooks and fixtures. Every pytest run imports it, so it must not import slow modules.

`plugin.run` implements the fixtures and is imported when the first fixture is used.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterator
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

from simulator.testing.plugin import hooks, options

if TYPE_CHECKING:
    from simulator.testing.plugin.run import Run
    from simulator.testing.plugin.summary import Report, Summary
    from simulator.testing.receiving.receivers import Receiver
    from simulator.testing.servers.server import Server
    from simulator.testing.worlds import World


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(hooks)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options for the command line and pyproject.toml, as one group in `pytest --help`."""
    group = parser.getgroup("rampsim", "rampsim: a simulator of the ramp service for your tests")
    for option in options.OPTIONS:
        given: dict[str, Any] = {"choices": option.choices} if option.choices else {"metavar": option.metavar}
        given |= {"action": "append"} if option.is_list else {}
        group.addoption(option.flag, help=f"{option.help} In pyproject.toml: {option.name}.", default=None, **given)
        if option.is_list:
            parser.addini(option.name, option.help, type="args", default=[])
        else:
            parser.addini(option.name, option.help, default=option.default)
    # Three flags, because an optional value would swallow a path that follows the flag.
    for flag, value in (("", options.ALL), (f"={options.ALL}", options.ALL), (f"={options.USED}", options.USED)):
        help = f"{options.COVERAGE_HELPS[value]} In pyproject.toml: {options.COVERAGE}."
        group.addoption(
            f"--simulator-coverage{flag}", action="store_const", const=value, dest=options.COVERAGE, help=help
        )
    parser.addini(options.COVERAGE, options.COVERAGE_HELPS[options.ALL], default="")


def pytest_configure(config: pytest.Config) -> None:
    for marker in options.MARKERS:
        config.addinivalue_line("markers", marker)
    for option in options.OPTIONS:
        value = config.getini(option.name)
        if option.choices and value not in (*option.choices, option.default):
            raise pytest.UsageError(f"{option.name} is {value!r}; it must be one of {', '.join(option.choices)}")
    if config.getoption("simulator_url") and config.getoption("simulator") == "inprocess":
        raise pytest.UsageError("--simulator-url and --simulator=inprocess cannot be combined; use one of them")
    if files := options.observed_files(config):
        server = import_module("simulator.testing.servers.server")
        try:
            server.observed_documents(tuple(files))
        except server.SimulatorError as error:
            raise pytest.UsageError(str(error)) from None
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Reporter(config), options.REPORTER)


RUN: pytest.StashKey[Run] = pytest.StashKey()


def _run_of(request: pytest.FixtureRequest) -> Run:
    """Return the state that the fixtures of a run share. It is created on first use."""
    config = request.config
    if RUN not in config.stash:
        try:
            run = import_module("simulator.testing.plugin.run").Run(config)
        except ImportError as error:  # the extra `testing` is not installed
            raise pytest.fail.Exception(f"The fixture {request.fixturename}: {error}", pytrace=False) from None
        config.stash[RUN] = run
        config.pluginmanager.register(run, "rampsim-run")
    return config.stash[RUN]


class _Reporter:
    """Adds the simulator's summary to pytest's report. With pytest-xdist, only the controller process registers it."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._run_id = ""
        """The run id that all pytest-xdist workers share."""
        # If coverage or advice was requested, the summary states the result even if no test used a world.
        self._has_summary = bool(options.wanted_coverage(config) or options.chosen(config, "simulator_fail_on_advice"))

    @cached_property
    def _summary(self) -> Summary:
        summary: Summary = import_module("simulator.testing.plugin.summary").Summary(self._config)
        return summary

    def add(self, report: Report) -> list[str]:
        """Add the report from one process. Return the differences that it shows between both sides of a test."""
        self._has_summary = True
        return self._summary.add(report)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, object, object]:
        """Add a test's report. If the simulator and the target differ, fail the test before others count it."""
        differences = self.add(getattr(report, options.REPORT)) if hasattr(report, options.REPORT) else []
        if differences and report.passed:
            report.outcome = "failed"
            report.longrepr = "\n".join(["The simulator and the target differ:", *differences])
        return (yield)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        self._run_id = node.workerinput["testrunuid"]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        told = getattr(node, "workeroutput", {}).get(options.REPORT)
        if told:
            self.add(told)

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, report: pytest.TestReport) -> None:
        with contextlib.suppress(ImportError):  # without the extra `testing` there are no worlds
            run = import_module("simulator.testing.plugin.run")
            run.show_crashed(self._config, self._run_id, report.node.gateway.id, report)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._has_summary and self._summary.fails and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._has_summary:
            self._summary.write(terminalreporter)

    def pytest_unconfigure(self) -> None:
        """Wait until the run's server has stopped. It stops after the last worker has finished."""
        directory = options.directory_of(self._run_id)
        if self._run_id and directory.exists():
            import_module("simulator.testing.servers.run_server").RunServer(directory).wait_for_end()


@pytest.fixture(scope="session")
def simulator(request: pytest.FixtureRequest) -> Server:
    """The simulator for this run, shared by all workers: `.url`, `.control_url`, `.new_world(**body)`, `.stop()`."""
    return _run_of(request).server()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.definition.get_closest_marker("against") is not None:
        import_module("simulator.testing.against").parametrize(metafunc)


@pytest.fixture
def rampsim_side(request: pytest.FixtureRequest) -> str:
    """`simulator` or `target`, depending on where a test with the marker `against` runs."""
    _run_of(request)  # checks after the test that something was compared
    side: str = request.param
    return side


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("against") is not None:
        import_module("simulator.testing.against").check_marker(item)


@pytest.fixture
def world(request: pytest.FixtureRequest, simulator: Server) -> World:
    """A fresh world for this test: authenticated clients, clock, actions, faults, events, deliveries, ledger.

    The markers `scenario`, `clock`, `seed` and `world` configure the world. It is deleted after the test, unless the
    test fails.
    """
    run = _run_of(request)
    if request.node.get_closest_marker("against") is not None:
        return run.world_of_side(request.node, simulator)
    return run.new_world(request.node, simulator)


@pytest.fixture
def world_in_process(request: pytest.FixtureRequest) -> World:
    """Like `world`, but within the test process and without sockets."""
    run = _run_of(request)
    return run.new_world(request.node, run.server_in_process())


@pytest.fixture
def webhooks(request: pytest.FixtureRequest) -> Iterator[Receiver]:
    """A receiver in the test process for the webhooks of `world`. It is registered when the test first uses it. In a
    test that uses `world_in_process` and not `world`, it receives the webhooks of `world_in_process`.
    """
    in_process = "world_in_process" in request.fixturenames and "world" not in request.fixturenames
    world: World = request.getfixturevalue("world_in_process" if in_process else "world")
    with import_module("simulator.testing").receiver(world) as receiver:
        yield receiver
        if request.node.stash.get(import_module("simulator.testing.plugin.run").FAILED, False):
            with contextlib.suppress(AssertionError):  # the failure report already contains the application's errors
                receiver.close()
