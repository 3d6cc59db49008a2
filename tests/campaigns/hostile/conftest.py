"""A separate server for tests that try to break one. It is started once, and again after a test has broken it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from tests.campaigns.hostile.apart import Server
from tests.remote import TLS, Remote, new_client

PATIENCE_SECONDS = 8.0


class Keeper:
    """The server that tests share; a broken one is replaced."""

    def __init__(self) -> None:
        self._server: Server | None = None

    def server(self) -> Server:
        if self._server is not None and not self._answers(self._server):
            self._server.forget()
            self._server = None
        if self._server is None:
            self._server = Server()
        return self._server

    @staticmethod
    def _answers(server: Server) -> bool:
        try:
            return (
                httpx.get(f"{server.origin}/_simulator/health", timeout=2, trust_env=False, verify=TLS).status_code
                == 200
            )
        except httpx.HTTPError:
            return False

    def end(self) -> None:
        if self._server is not None:
            self._server.forget()


@pytest.fixture(scope="session")
def keeper() -> Iterator[Keeper]:
    kept = Keeper()
    yield kept
    kept.end()


@pytest.fixture
def server(keeper: Keeper) -> Server:
    """A server that answers, in a process of its own."""
    return keeper.server()


@pytest.fixture
def default(server: Server) -> Iterator[Remote]:
    """Its default world."""
    with new_client(timeout=PATIENCE_SECONDS) as client:
        remote = Remote(server.origin, client)
        remote.world = remote.control("GET", "/worlds/default").body
        yield remote


@pytest.fixture
def world(default: Remote) -> Remote:
    """A fresh world without any weather on it."""
    return default.another(seed=1, scenarios=[])


@contextmanager
def own_server(*flags: str) -> Iterator[Server]:
    """A server that one test may end."""
    server = Server(*flags)
    try:
        yield server
    finally:
        server.stop(5, signal.SIGKILL)
        server.log.unlink(missing_ok=True)
