"""The part of the pytest plugin that the first fixture loads. It manages the servers and the worlds of the tests."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import uuid
from collections.abc import Callable, Generator, Iterator
from functools import cached_property, partial
from importlib import import_module
from typing import Any

import pytest

from simulator.engine.text.json import JsonObject
from simulator.testing import explored
from simulator.testing.errors import SimulatorError
from simulator.testing.links.http_link import HttpLink
from simulator.testing.links.link import Link
from simulator.testing.plugin import markers as plugin_markers
from simulator.testing.plugin.options import chosen, directory_of, observed_files
from simulator.testing.plugin.report import Keeper
from simulator.testing.plugin.summary import Notes, attach
from simulator.testing.quiescence import waiter
from simulator.testing.servers import run_server
from simulator.testing.servers.run_server import RunServer
from simulator.testing.servers.server import Process, Server
from simulator.testing.worlds import World

WORLDS: pytest.StashKey[list[World]] = pytest.StashKey()
FAILED: pytest.StashKey[bool] = pytest.StashKey()
EXCHANGES: pytest.StashKey[tuple[str, list[JsonObject]]] = pytest.StashKey()
"""The side of a test with the marker `against`, and its exchanges."""
_TITLE = "rampsim: what happened in the simulator"


class Run:
    """A test run in one process. It is registered as a pytest plugin when the first fixture is used."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._run_server: RunServer | None = None
        self._notes = Notes(config)
        worker: JsonObject = getattr(config, "workerinput", {})
        self._id: str = worker.get("testrunuid") or uuid.uuid4().hex
        self._mark = self._id[:6] + worker.get("workerid", "")
        self._count = itertools.count(1)
        self._open: dict[str, World] = {}
        self._made: dict[str, list[World]] = {}
        """The worlds that each test created with fixtures or with `simulator.new_world`."""
        self._servers: list[Server] = []

    def server(self) -> Server:
        """Return the server at the configured URL. Without a URL, return the server that the run's processes share, or
        this process's server without sockets if the option `simulator` is `inprocess`.
        """
        if url := os.environ["SIMULATOR_URL"] if explored.run() else _url_named(self._config):
            try:
                link = HttpLink(url, os.environ.get("SIMULATOR_CONTROL_TOKEN"))
                link.control("GET", "/health")
            except SimulatorError as error:
                raise _failure(str(error)) from None
            return self._make(link, outlives=True)
        in_process = chosen(self._config, "simulator") == "inprocess"
        return self.server_in_process() if in_process else self._server_of_the_run

    def server_in_process(self) -> Server:
        """Return this process's server without sockets. In a run of `rampsim explore`, return the run's server."""
        return self.server() if explored.run() else self._server_in_process

    @cached_property
    def _server_in_process(self) -> Server:
        link: Link = import_module("simulator.testing.links.in_process").InProcessLink()
        return self._make(link, has_socket=False)

    @cached_property
    def _server_of_the_run(self) -> Server:
        if not run_server.IS_AVAILABLE:
            process = Process({})
            return self._make(HttpLink(process.url), process.close)
        self._run_server = RunServer(directory_of(self._id))
        try:
            return self._make(HttpLink(self._run_server.join()), self._run_server.leave)
        except SimulatorError as error:
            raise _failure(str(error)) from None

    def _make(
        self, link: Link, stop: Callable[[], None] | None = None, *, outlives: bool = False, has_socket: bool = True
    ) -> Server:
        server = _Server(link, stop, observed=observed_files(self._config))
        server.begin, server.outlives, server.has_socket = self._begin, outlives, has_socket
        self._servers.append(server)
        return server

    def new_world(self, item: pytest.Item, server: Server) -> World:
        """Create the world that a test's markers specify. It is deleted after the test."""
        body, history = plugin_markers.body_of(item), plugin_markers.history_of(item)
        if not explored.run():
            body = {"id": f"{_beginning_of_id(item.name, self._mark)}{next(self._count)}", **body}
        try:
            world = server.new_world(**body)
            if history is not None:
                world.add_history(**history)
        except (SimulatorError, ValueError) as error:
            raise _failure(f"The world of this test cannot be created. {self._why_dead() or error}") from None
        if world.id not in self._open:  # the tests have started the world's server themselves
            self._begin(world)
        item.stash.setdefault(WORLDS, list[World]()).append(world)
        self.wait_for_application(item, world)
        return world

    def wait_for_application(self, item: pytest.Item, world: World) -> None:
        is_quiet = self.quiesce_hook(item)
        if is_quiet is not None:
            world.on_advance.append(waiter(is_quiet))

    def quiesce_hook(self, item: pytest.Item) -> Callable[[], object] | None:
        """Return the suite's check of the application's queue, if it has one."""
        hook = item.ihook.pytest_rampsim_quiesce
        return partial(hook, item=item) if hook.get_hookimpls() else None

    def world_of_side(self, item: pytest.Item, server: Server) -> World:
        """Return the world or the service on which a test with the marker `against` runs."""
        against = import_module("simulator.testing.against")
        side = against.side_of(item)
        world: World = against.target_world(item) if side == "target" else self.new_world(item, server)
        item.stash[EXCHANGES] = side, against.record(world)
        return world

    def _why_dead(self) -> str:
        said = None if self._run_server is None else self._run_server.last_words()
        return "" if said is None else f"The simulator of this run has died. Its output:\n{said or '(nothing)'}"

    def _begin(self, world: World) -> None:
        test = _current_test()
        self._open[world.id] = world
        self._made.setdefault(test, []).append(world)
        world.before_end.append(lambda one: self._notes.take(test, one))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if report.when == "call" and item.get_closest_marker("against") is not None:
            self._compare(item, report)
        if report.failed and not item.stash.get(FAILED, False):
            item.stash[FAILED] = True
            report.sections += self._sections(item)
        if report.when == "teardown":
            self._end_worlds(item)
            attach(report, self._notes.collect())
        return report

    def _compare(self, item: pytest.Item, report: pytest.TestReport) -> None:
        """Send the calls of a test with the marker `against`, or fail the test if it made none."""
        against = import_module("simulator.testing.against")
        side, exchanges = item.stash.get(EXCHANGES, ("", None))
        if exchanges:
            self._notes.take_exchanges(against.name_of(item), side, exchanges)
            attach(report, self._notes.collect())
        elif report.passed:
            report.outcome, report.longrepr = "failed", against.why_nothing_compared(item, exchanges)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """Detach applications from a test's worlds and unfreeze time before the fixtures are torn down."""
        for world in item.stash.get(WORLDS, []):
            world.detach_applications()
        for world in self._open.values():
            world.unfreeze()

    @pytest.hookimpl(tryfirst=True)
    def pytest_exception_interact(self, node: pytest.Item | pytest.Collector) -> None:
        """Print how to inspect the world before the debugger opens (--pdb)."""
        terminal: pytest.TerminalReporter | None = self._config.pluginmanager.get_plugin("terminalreporter")
        if terminal is not None and self._config.getoption("usepdb"):
            for _, world in self._worlds_of(node.nodeid):
                terminal.ensure_newline()
                terminal.line(f"rampsim: the world of this test: {world.dashboard_url}")

    def _sections(self, item: pytest.Item) -> Iterator[tuple[str, str]]:
        for name, world in self._worlds_of(item.nodeid):
            yield _TITLE, self._keeper(world, failed=True).section(name, world)

    def _worlds_of(self, test: str) -> list[tuple[str, World]]:
        """Return the worlds that a test created and did not delete, each with a name for its files."""
        living = [world for world in self._made.get(test, []) if not world.has_ended]
        return [(f"{test}-{number}" if number > 1 else test, world) for number, world in enumerate(living, 1)]

    def _keeper(self, world: World, *, failed: bool) -> Keeper:
        keep = chosen(self._config, "simulator_keep")
        keeps = keep == "always" or (failed and keep == "failed")
        server = world.server if isinstance(world.server, _Server) else _Server
        return Keeper(self._config, keeps=keeps, outlives=server.outlives, has_socket=server.has_socket)

    def _end_worlds(self, item: pytest.Item) -> None:
        """Delete or keep the worlds of a finished test and its fixtures. Other tests may share the worlds of
        `simulator.new_world`, which are deleted when the run ends.
        """
        failed = item.stash.get(FAILED, False)
        of_fixtures = item.stash.get(WORLDS, [])
        for name, world in self._worlds_of(item.nodeid):
            keeper = self._keeper(world, failed=failed)
            if world not in of_fixtures:
                if failed and keeper.keeps:
                    self._open.pop(world.id, None)
                continue
            self._open.pop(world.id)
            if not keeper.keeps:
                _delete(world)
                continue
            if not failed:
                self._notes.keep(item.nodeid, keeper.look(name, world))
            self._notes.take(item.nodeid, world)
            world.close()
        for world in self._made.pop(item.nodeid, []):
            if world.has_ended:
                self._open.pop(world.id, None)
        item.stash[WORLDS] = []
        item.stash[FAILED] = False

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Delete the worlds created with `simulator.new_world` and the worlds of interrupted tests."""
        for world in self._open.values():
            _delete(world)
        attach(session, self._notes.collect())

    def pytest_unconfigure(self) -> None:
        for server in self._servers:
            server.stop()
        if self._run_server is not None:
            self._run_server.wait_for_end()


class _Server(Server):
    """A server that calls `begin` with every world that it creates."""

    begin: Callable[[World], None]
    outlives = False
    """Whether the server continues after the run."""
    has_socket = True
    """Whether the server accepts connections at its address."""

    def new_world(self, **body: Any) -> World:
        if explored.run() and "id" not in body:
            body["id"] = explored.world_id(_current_test())
        world = super().new_world(**body)
        self.begin(world)
        return world


def show_crashed(config: pytest.Config, run_id: str, worker: str, report: pytest.TestReport) -> None:
    """Report and keep the worlds of a test whose worker process crashed, as for any failing test."""
    named = _url_named(config)
    url = named or RunServer(directory_of(run_id)).address()
    if not url:
        return
    keeps = chosen(config, "simulator_keep") != "never"
    keeper = Keeper(config, keeps=keeps, outlives=bool(named), has_socket=True)
    function, bracket, parameters = report.nodeid.partition("[")
    beginning = _beginning_of_id(function.rpartition("::")[2] + bracket + parameters, run_id[:6] + worker)
    with contextlib.suppress(SimulatorError):
        link = HttpLink(url, os.environ.get("SIMULATOR_CONTROL_TOKEN") if named else None)
        for row in link.control("GET", "/worlds")["data"]:
            if row["id"].startswith(beginning):
                world = World(link, row)
                report.sections.append((_TITLE, keeper.section(report.nodeid, world)))
                if not keeps:
                    world.delete()
        link.close()


def _current_test() -> str:
    """Return the node id of the test that is running in this process, or "" between tests."""
    return os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]


def _url_named(config: pytest.Config) -> str:
    """Return the URL of an existing server, or "" if the run starts its own. The command line takes precedence."""
    if config.getoption("simulator") and not config.getoption("simulator_url"):
        return ""
    return chosen(config, "simulator_url")


def _beginning_of_id(test: str, mark: str) -> str:
    """Return the prefix of the ids of a test's worlds. `mark` identifies the run and the worker process."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", test).strip("-")[:40]
    return f"{name}-{mark}-"


def _delete(world: World) -> None:
    with contextlib.suppress(SimulatorError):  # if the server has stopped, tests that needed it have failed already
        world.delete()


def _failure(why: str) -> BaseException:
    """Return the exception that fails a test or its fixtures with this message and without a traceback."""
    return pytest.fail.Exception(why, pytrace=False)
