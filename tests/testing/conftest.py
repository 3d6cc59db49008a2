"""Worlds of the test kit over HTTP, in the server that the tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from simulator.testing import Server, World
from simulator.testing.http_link import HttpLink


@pytest.fixture(scope="session")
def http_server(origin: str) -> Iterator[Server]:
    with Server(HttpLink(origin)) as server:
        yield server


@pytest.fixture
def kit_server(http_server: Server) -> Server:
    return http_server


@pytest.fixture
def kit(kit_server: Server) -> Iterator[World]:
    """A fresh world of the kit."""
    with kit_server.new_world() as world:
        yield world
