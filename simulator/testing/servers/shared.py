"""`world()`: a world for tests without pytest. All these worlds share one server."""

from __future__ import annotations

import atexit
import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from simulator.testing import explored
from simulator.testing.given import Scenario
from simulator.testing.links.http_link import HttpLink
from simulator.testing.servers.server import Process, Server
from simulator.testing.worlds import World


@contextlib.contextmanager
def world(server: Server | str | None = None, *, in_process: bool = False, **body: Any) -> Iterator[World]:
    """Create a fresh world for the block.

    If SIMULATOR_URL is the base URL of a world, `http://HOST:PORT/_worlds/ID`, that world is used and continues after
    the block. In a run of `rampsim explore`, a fresh world is created on that server instead. Otherwise the world is
    created on `server` (a Server or a URL) if given, then on the server at SIMULATOR_URL, then on a server that starts
    on first use and stops with this process. If `in_process` is True, the world is created in this process, without
    sockets. `body` is the request body of `POST /_simulator/worlds`, as for `Server.new_world`.
    """
    own = "" if server is not None or in_process or explored.run() else explored.own_world()
    if own:
        yield _entered(own, **body)
        return
    made = server_for(server, in_process=in_process).new_world(**body)
    try:
        yield made
    finally:
        made.delete()


def _entered(world_id: str, *, scenarios: Scenario | Sequence[Scenario] = (), **body: Any) -> World:
    """Return an existing world after activating these scenarios. `body`, the options for a new world, has no effect."""
    server = server_for()
    world = World(server.link, server.link.control("GET", f"/worlds/{world_id}"), server)
    world.outlives = True
    if scenarios:
        world.scenario(*([scenarios] if isinstance(scenarios, str | Path | Mapping) else scenarios))
    return world


def server_for(server: Server | str | None = None, *, in_process: bool = False) -> Server:
    """Return the server for the arguments of `world`. This process starts at most one server, which worlds share."""
    if isinstance(server, Server):
        return server
    if in_process and not explored.run():
        return _in_process(os.getpid())
    url = server or os.environ.get("SIMULATOR_URL")
    return _started(os.getpid()) if not url else _running(url)


@cache
def _running(url: str) -> Server:
    return _ended_at_exit(Server(HttpLink(url, os.environ.get("SIMULATOR_CONTROL_TOKEN"))))


@cache
def _started(pid: int) -> Server:
    """Start a server. It is saved per process, because a forked process must not stop its parent's server."""
    process = Process({})
    return _ended_at_exit(Server(HttpLink(process.url), process.close))


@cache
def _in_process(pid: int) -> Server:
    return _ended_at_exit(Server(import_module("simulator.testing.links.in_process").InProcessLink()))


def _ended_at_exit(server: Server) -> Server:
    atexit.register(server.stop)
    return server
