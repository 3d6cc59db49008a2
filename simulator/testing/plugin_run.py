"""What the pytest plugin does once a fixture was asked for: its servers, the worlds of the tests, and their end."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import uuid
from collections.abc import Generator
from functools import cached_property
from importlib import import_module
from typing import Any

import pytest

from simulator.testing import plugin_markers
from simulator.testing.errors import SimulatorError
from simulator.testing.http_link import HttpLink
from simulator.testing.plugin import chosen, directory_of
from simulator.testing.run_server import RunServer
from simulator.testing.server import Server
from simulator.testing.worlds import World

WORLDS: pytest.StashKey[list[World]] = pytest.StashKey()
FAILED: pytest.StashKey[bool] = pytest.StashKey()


class Run:
    """What one process of a run needs: registered as a plugin when a fixture is first asked for."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._run_server: RunServer | None = None
        worker: dict[str, Any] = getattr(config, "workerinput", {})
        self._id: str = worker.get("testrunuid") or uuid.uuid4().hex
        self.mark = self._id[:6] + worker.get("workerid", "")
        """Stands in the ids of the worlds of this process."""
        self._count = itertools.count(1)
        self._open: list[World] = []

    # Servers

    def server(self) -> Server:
        """The server at a URL where one is named, else that of the run, or of this process.

        What the command line says of either comes before a URL that is named elsewhere.
        """
        config = self._config
        url = chosen(config, "simulator_url")
        if url and (config.getoption("simulator_url") or not config.getoption("simulator")):
            return self._server_at(url)
        return self.server_in_process() if chosen(config, "simulator") == "inprocess" else self._server_of_the_run

    def server_in_process(self) -> Server:
        return self._server_in_process

    @cached_property
    def _server_in_process(self) -> Server:
        return Server(import_module("simulator.testing.in_process").InProcessLink())

    @cached_property
    def _server_of_the_run(self) -> Server:
        self._run_server = RunServer(directory_of(self._id))
        try:
            return Server(HttpLink(self._run_server.join()), self._run_server.leave)
        except SimulatorError as error:
            raise failure(str(error)) from None

    def _server_at(self, url: str) -> Server:
        try:
            link = HttpLink(url, os.environ.get("SIMULATOR_CONTROL_TOKEN"))
            link.control("GET", "/health")
        except SimulatorError as error:
            raise failure(str(error)) from None
        return Server(link)

    # Worlds

    def new_world(self, item: pytest.Item, server: Server) -> World:
        """A world as the markers of a test say; it ends with the test."""
        body = plugin_markers.body_of(item)
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", item.name).strip("-")[:40]
        body = {"id": f"{name}-{self.mark}-{next(self._count)}", "seed": 1, **body}
        try:
            world = server.new_world(**body)
        except (SimulatorError, ValueError) as error:
            raise failure(f"The world of this test cannot be made. {self._why_dead() or error}") from None
        item.stash.setdefault(WORLDS, []).append(world)
        self._open.append(world)
        return world

    def _why_dead(self) -> str:
        """What the server of the run said last, where it has died."""
        said = None if self._run_server is None else self._run_server.last_words()
        return "" if said is None else f"The simulator of this run has died. It said:\n{said}"

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        worlds = item.stash.get(WORLDS, [])
        if worlds and report.failed:
            item.stash[FAILED] = True
        if worlds and report.when == "teardown":
            self._end(item, worlds)
        return report

    def _end(self, item: pytest.Item, worlds: list[World]) -> None:
        """What is to be done with the worlds of a test after it, its fixtures included."""
        keep = chosen(self._config, "simulator_keep")
        kept = keep == "always" or (keep == "failed" and item.stash.get(FAILED, False))
        for world in worlds:
            self._open.remove(world)
            if kept:
                world.close()
            else:
                _delete(world)
        del item.stash[WORLDS]
        item.stash[FAILED] = False

    # The end

    def pytest_unconfigure(self) -> None:
        for world in self._open:  # of tests that were interrupted
            _delete(world)
        for server in ("_server_in_process", "_server_of_the_run"):
            if server in self.__dict__:
                self.__dict__[server].stop()
        if self._run_server is not None:
            self._run_server.leave()
            self._run_server.wait_for_end()


def _delete(world: World) -> None:
    with contextlib.suppress(SimulatorError):  # it went with its server; whoever needed that has failed for it
        world.delete()


def failure(why: str) -> BaseException:
    """What fails a test, or what its fixtures need, in these words and without a traceback."""
    return pytest.fail.Exception(why, pytrace=False)
