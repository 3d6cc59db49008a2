"""What the pytest plugin does once a fixture was asked for: its servers, the worlds of the tests, and their end."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import uuid
from collections.abc import Callable, Generator, Iterator
from functools import cached_property
from importlib import import_module
from typing import Any

import pytest

from simulator.testing import explored
from simulator.testing.errors import SimulatorError
from simulator.testing.links.http_link import HttpLink
from simulator.testing.links.link import Link
from simulator.testing.plugin import markers as plugin_markers
from simulator.testing.plugin.options import chosen, directory_of
from simulator.testing.plugin.report import Keeper
from simulator.testing.plugin.summary import Notes, hand_on
from simulator.testing.servers.run_server import RunServer
from simulator.testing.servers.server import Server
from simulator.testing.worlds import World

WORLDS: pytest.StashKey[list[World]] = pytest.StashKey()
FAILED: pytest.StashKey[bool] = pytest.StashKey()
_TITLE = "rampsim: what happened in the simulator"


class Run:
    """What one process of a run needs: registered as a plugin when a fixture is first asked for."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._run_server: RunServer | None = None
        self._notes = Notes(config)
        worker: dict[str, Any] = getattr(config, "workerinput", {})
        self._id: str = worker.get("testrunuid") or uuid.uuid4().hex
        self._mark = self._id[:6] + worker.get("workerid", "")
        self._count = itertools.count(1)
        self._open: dict[str, World] = {}
        self._made: dict[str, list[World]] = {}
        """Those that each test has made, by its fixtures or by `simulator.new_world`."""
        self._servers: list[Server] = []

    # Servers

    def server(self) -> Server:
        """The server at a URL where one is named, else that of the run, or of this process."""
        if url := self._url_of_explore or _url_named(self._config):
            return self._server_at(url)
        in_process = chosen(self._config, "simulator") == "inprocess"
        return self.server_in_process() if in_process else self._server_of_the_run

    def server_in_process(self) -> Server:
        """The server of this process, without any socket; in a run of explore that of the run."""
        return self.server() if explored.run() else self._server_in_process

    @property
    def _url_of_explore(self) -> str:
        return os.environ["SIMULATOR_URL"] if explored.run() else ""

    @cached_property
    def _server_in_process(self) -> Server:
        link: Link = import_module("simulator.testing.links.in_process").InProcessLink()
        return self._make(link, has_socket=False)

    @cached_property
    def _server_of_the_run(self) -> Server:
        self._run_server = RunServer(directory_of(self._id))
        try:
            return self._make(HttpLink(self._run_server.join()), self._run_server.leave)
        except SimulatorError as error:
            raise _failure(str(error)) from None

    def _server_at(self, url: str) -> Server:
        try:
            link = HttpLink(url, os.environ.get("SIMULATOR_CONTROL_TOKEN"))
            link.control("GET", "/health")
        except SimulatorError as error:
            raise _failure(str(error)) from None
        return self._make(link, outlives=True)

    def _make(
        self, link: Link, stop: Callable[[], None] | None = None, *, outlives: bool = False, has_socket: bool = True
    ) -> Server:
        server = _Server(link, self._begin, stop, outlives=outlives, has_socket=has_socket)
        self._servers.append(server)
        return server

    # Worlds

    def new_world(self, item: pytest.Item, server: Server) -> World:
        """A world as the markers of a test say; it ends with the test."""
        body = plugin_markers.body_of(item)
        if not explored.run():
            body = {"id": f"{_beginning_of_id(item.name, self._mark)}{next(self._count)}", **body}
        try:
            world = server.new_world(**body)
        except (SimulatorError, ValueError) as error:
            raise _failure(f"The world of this test cannot be made. {self._why_dead() or error}") from None
        if world.id not in self._open:  # it is in a server that the tests have started themselves
            self._begin(world)
        item.stash.setdefault(WORLDS, list[World]()).append(world)
        return world

    def _why_dead(self) -> str:
        """What the server of the run said last, where it has died."""
        said = None if self._run_server is None else self._run_server.last_words()
        return "" if said is None else f"The simulator of this run has died. It said:\n{said or '(nothing)'}"

    def _begin(self, world: World) -> None:
        """A world was made, for a test or by one."""
        test = _current_test()
        self._open[world.id] = world
        self._made.setdefault(test, []).append(world)
        world.before_end.append(lambda one: self._notes.take(test, one))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if report.failed and not item.stash.get(FAILED, False):
            item.stash[FAILED] = True
            report.sections += self._sections(item)
        if report.when == "teardown":
            self._end_worlds(item)
            hand_on(report, self._notes.tell())
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """Detach applications from the worlds of a test, and let time go on, before its fixtures end."""
        for world in item.stash.get(WORLDS, []):
            world.detach_applications()
        for world in self._open.values():
            world.unfreeze()

    @pytest.hookimpl(tryfirst=True)
    def pytest_exception_interact(self, node: pytest.Item | pytest.Collector) -> None:
        """Before the debugger opens (--pdb): say where the world can be looked at meanwhile."""
        terminal: pytest.TerminalReporter | None = self._config.pluginmanager.get_plugin("terminalreporter")
        if terminal is not None and self._config.getoption("usepdb"):
            for _, world in self._worlds_of(node.nodeid):
                terminal.ensure_newline()
                terminal.line(f"rampsim: the world of this test: {world.dashboard_url}")

    def _sections(self, item: pytest.Item) -> Iterator[tuple[str, str]]:
        for name, world in self._worlds_of(item.nodeid):
            yield _TITLE, self._keeper(world, failed=True).section(name, world)

    def _worlds_of(self, test: str) -> list[tuple[str, World]]:
        """The worlds that a test has made and not ended, each with a name for its files."""
        living = [world for world in self._made.get(test, []) if not world.has_ended]
        return [(f"{test}-{number}" if number > 1 else test, world) for number, world in enumerate(living, 1)]

    def _keeper(self, world: World, *, failed: bool) -> Keeper:
        keep = chosen(self._config, "simulator_keep")
        keeps = keep == "always" or (failed and keep == "failed")
        server = world.server
        if isinstance(server, _Server):
            return Keeper(self._config, keeps=keeps, outlives=server.outlives, has_socket=server.has_socket)
        return Keeper(self._config, keeps=keeps, outlives=False, has_socket=True)

    def _end_worlds(self, item: pytest.Item) -> None:
        """A test is over, its fixtures included: end the worlds that these have made, or keep them.

        Those that it has made by `simulator.new_world` are for others too, perhaps: they end with the run.
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

    # The end

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """End the worlds that tests made by `simulator.new_world`, and those of tests that were interrupted."""
        for world in self._open.values():
            _delete(world)
        hand_on(session, self._notes.tell())

    def pytest_unconfigure(self) -> None:
        for server in self._servers:
            server.stop()
        if self._run_server is not None:
            self._run_server.wait_for_end()


class _Server(Server):
    """A server that tells of every world that is made in it. `outlives`: it goes on when the run has ended.

    `has_socket`: something answers at its address.
    """

    def __init__(
        self,
        link: Link,
        begin: Callable[[World], None],
        stop: Callable[[], None] | None = None,
        *,
        outlives: bool,
        has_socket: bool,
    ) -> None:
        super().__init__(link, stop)
        self._begin = begin
        self.outlives = outlives
        self.has_socket = has_socket

    def new_world(self, **body: Any) -> World:
        if explored.run() and "id" not in body:
            body["id"] = explored.world_id(_current_test())
        world = super().new_world(**body)
        self._begin(world)
        return world


def show_crashed(config: pytest.Config, run_id: str, worker: str, report: pytest.TestReport) -> None:
    """A worker has died in the middle of a test: its worlds are shown and kept as those of any test that fails."""
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
    """The test that runs in this process, by its node id; "" between tests."""
    return os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]


def _url_named(config: pytest.Config) -> str:
    """The server that is named by its URL, "" for one that the run starts.

    What the command line says of either comes before what is said elsewhere.
    """
    if config.getoption("simulator") and not config.getoption("simulator_url"):
        return ""
    return chosen(config, "simulator_url")


def _beginning_of_id(test: str, mark: str) -> str:
    """How the ids of the worlds of a test begin: `mark` is that of its run and worker."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", test).strip("-")[:40]
    return f"{name}-{mark}-"


def _delete(world: World) -> None:
    with contextlib.suppress(SimulatorError):  # it went with its server; whoever needed that has failed for it
        world.delete()


def _failure(why: str) -> BaseException:
    """What fails a test, or what its fixtures need, in these words and without a traceback."""
    return pytest.fail.Exception(why, pytrace=False)
