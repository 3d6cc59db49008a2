"""Fixtures for the judges: the committed contract, broken copies, and generated clients."""

from __future__ import annotations

import copy
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import orjson
import pytest

from contracts.generator.clients import table
from tests.tools.judges import tools
from tests.tools.judges.workshop import Workshop

CLIENTS = pytest.mark.xdist_group("clients")
READY = "Ready on "
Broken: TypeAlias = Callable[[Callable[[dict[str, Any]], None]], Path]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if tools.HERE in item.path.parents:
            item.add_marker("judges")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table of the generated clients."""
    reports = [report for outcome in ("passed", "failed", "skipped") for report in terminalreporter.getreports(outcome)]
    rows = [value for report in reports for name, value in report.user_properties if name == "client"]
    if rows:
        terminalreporter.section("generated clients")
        terminalreporter.write(table(sorted(rows, key=lambda row: row["generator"])))


@pytest.fixture(scope="session")
def document() -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads((tools.CONTRACTS / "openapi.json").read_bytes())
    return found


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory, document: dict[str, Any]) -> Workshop:
    return Workshop(tmp_path_factory.mktemp("clients"), document)


@pytest.fixture
def origin() -> Iterator[str]:
    """A server with a manual clock."""
    command = [sys.executable, "-m", "simulator", "serve", "--port", "0", "--clock", "manual"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield next(line for line in server.stdout if line.startswith(READY)).removeprefix(READY).strip()
        finally:
            server.terminate()


@pytest.fixture
def broken(document: dict[str, Any], tmp_path: Path) -> Broken:
    """Write a copy of the contract in which something is broken deliberately."""

    def write(spoil: Callable[[dict[str, Any]], None]) -> Path:
        spoilt = copy.deepcopy(document)
        spoil(spoilt)
        path = tmp_path / "broken.json"
        path.write_bytes(orjson.dumps(spoilt))
        return path

    return write
