"""Test suites of integrators as files, and explore runs on them with the options of the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from click.testing import CliRunner

from simulator.cli import main
from simulator.exploration.exploring import Hosts
from simulator.exploration.runs.commands import Stage, start_stage
from simulator.testing.links.http_link import HttpLink
from simulator.testing.servers.server import Process, Server
from tests.measured import measured, unmeasured
from tests.places import ROOT

PYTEST = (
    sys.executable, "-m", "pytest", "-p", "rampsim", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", ".",
)  # fmt: skip
SHOP_CONFTEST = """
import pytest
from shop import Shop

@pytest.fixture
def shop(world, webhooks):
    made = Shop(world)
    webhooks.respond_with(lambda delivery: made.handle(delivery))
    return made

def pytest_rampsim_books(item):
    rows = item.funcargs["shop"].db.execute("SELECT reference, state, amount FROM orders ORDER BY reference")
    return [(*row, "USDC") for row in rows]
"""
"""A conftest.py for a `Shop` with a table of orders: its receiver, and its books."""


def write_suite(
    directory: Path, shop: str, test: str, conftest: str = SHOP_CONFTEST, marks: Mapping[str, str] | None = None
) -> None:
    """Write shop.py, conftest.py and test_shop.py. `marks`: the code in place of each mark in the application."""
    for mark, code in (marks or {}).items():
        shop = shop.replace(mark, code.strip())
    for name, text in (("shop.py", shop), ("conftest.py", conftest), ("test_shop.py", test)):
        (directory / name).write_text(text)


ALONE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""Suites here need no plugin but the kit's; importing all others that are installed takes longer than most of them."""

FORTY = (*PYTEST[:-1], str(ROOT), "-o", "python_files=visits_*.py", str(ROOT / "tests/tools/exploration/forty"))
"""The forty tests that explore is measured with."""

FOREIGN = ("SIMULATOR_", "PYTEST_", "COV_")
"""How variables begin that belong to the run of these tests, and not to what is explored in it."""


def outside() -> dict[str, str]:
    """The environment of whoever runs explore from a shell, with this checkout to import."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    return {**kept, **ALONE, "PYTHONPATH": str(ROOT)}


class Explored(NamedTuple):
    """What a run of explore said."""

    code: int
    said: str
    directory: Path

    @property
    def report(self) -> dict[str, Any]:
        assert self.code in (0, 1), self.said
        return self.written("report.json")

    def written(self, name: str) -> dict[str, Any]:
        """A file that it wrote."""
        found: dict[str, Any] = json.loads((self.directory / ".rampsim/explore" / name).read_text("utf-8"))
        return found

    @property
    def findings(self) -> set[tuple[str, str]]:
        """Fault and verdict of each."""
        rows = {row["id"]: row for row in self.report["runs"]}
        return {(rows[name]["fault"], rows[name]["verdict"]) for name in self.report["findings"]}

    @property
    def verdicts(self) -> set[str]:
        return set(self.report["summary"])


class Shared:
    """A server and stages that all explorations of this process use in turn: each would start its own otherwise."""

    def __init__(self) -> None:
        self._server: Process | None = None
        self._stages: list[_Lent] = []

    @property
    def hosts(self) -> Hosts:
        return Hosts(self.serve, self.stage)

    @contextmanager
    def serve(self) -> Iterator[Server]:
        """The server, with no worlds but its default one before and afterwards."""
        if self._server is None:
            with unmeasured():
                self._server = Process({})
        with Server(HttpLink(self._server.url)) as server:
            yield server
            for row in server.link.control("GET", "/worlds")["data"]:
                if row["id"] != "default":
                    server.link.control("DELETE", f"/worlds/{row['id']}")

    def stage(self) -> Stage:
        """A stage that nobody uses just now."""
        free = next((one for one in self._stages if not one.used), None)
        if free is None:
            with patch.dict(os.environ, measured()):
                free = _Lent(start_stage())
            self._stages.append(free)
        free.used = True
        return free

    def close(self) -> None:
        """End them; who asks again gets others."""
        for one in self._stages:
            one.own.close()
        if self._server is not None:
            self._server.close()
        self._server, self._stages = None, []


class _Lent:
    """A stage that goes on when its user closes it."""

    def __init__(self, own: Stage) -> None:
        self.own = own
        self.url = own.url
        self.used = False

    def close(self) -> None:
        self.used = False


SHARED = Shared()


def explore(
    directory: Path,
    *words: str,
    command: tuple[str, ...] = (*PYTEST, "."),
    environment: Mapping[str, str] | None = None,
) -> Explored:
    """`rampsim explore WORDS -- COMMAND` in a directory, with one worker unless they say otherwise.

    It runs in this process, with the server and the stages that all such explorations share; see also `explore_apart`.
    """
    given = {**outside(), **(environment or {})}
    told = signal.getsignal(signal.SIGTERM)
    try:
        with chdir(directory), patch.dict(os.environ, given, clear=True):
            done = CliRunner().invoke(
                main, ["explore", *_of_one(words), "--", *command], obj=SHARED.hosts, catch_exceptions=False
            )
    finally:
        signal.signal(signal.SIGTERM, told)
    return Explored(done.exit_code, done.stdout + done.stderr, directory)


def explore_apart(directory: Path, *words: str, command: tuple[str, ...] = (*PYTEST, ".")) -> Explored:
    """The same from a shell: in a process of its own, with servers of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "simulator", "explore", *_of_one(words), "--", *command],
        cwd=directory,
        env=outside(),
        capture_output=True,
        text=True,
        timeout=1800,
    )
    return Explored(done.returncode, done.stdout + done.stderr, directory)


def _of_one(words: tuple[str, ...]) -> tuple[str, ...]:
    return words if "--workers" in words else ("--workers", "1", *words)


def begun(directory: Path, *words: str, command: tuple[str, ...] = (*PYTEST, ".")) -> subprocess.Popen[str]:
    """The same, under way."""
    return subprocess.Popen(
        [sys.executable, "-m", "simulator", "explore", *words, "--", *command],
        cwd=directory,
        env=outside(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
