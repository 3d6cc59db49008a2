"""Worlds of the test kit, over HTTP on the server that the tests share, and in process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from simulator.testing import Server, World
from simulator.testing.links.http_link import HttpLink
from simulator.testing.links.in_process import InProcessLink


@pytest.fixture(scope="session")
def http_server(origin: str) -> Iterator[Server]:
    with Server(HttpLink(origin)) as server:
        yield server


@pytest.fixture(scope="session")
def server_in_process() -> Iterator[Server]:
    with Server(InProcessLink()) as server:
        yield server


@pytest.fixture(params=["http_server", "server_in_process"])
def kit_server(request: pytest.FixtureRequest) -> Server:
    """What holds of one holds of the other."""
    server: Server = request.getfixturevalue(request.param)
    return server


@pytest.fixture
def kit(kit_server: Server) -> Iterator[World]:
    """A fresh world of the kit."""
    with kit_server.new_world() as world:
        yield world
