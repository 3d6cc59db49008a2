"""The pytest plugin `rampsim`: its options. Every run of pytest imports this, so it imports nothing that takes time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """What the command line and pyproject.toml may say, under one heading of `pytest --help`."""
    group = parser.getgroup("rampsim", "rampsim: a simulator of the ramp service for your tests")
    group.addoption(
        "--simulator-url", metavar="URL", help="Use the simulator that runs there (also SIMULATOR_URL), start none."
    )
