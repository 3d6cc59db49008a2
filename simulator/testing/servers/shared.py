"""`world()`: a world for tests that run without pytest, in a server that they share."""

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
    """A fresh world for the block; it ends with it.

    Where SIMULATOR_URL is the base of a world, `http://HOST:PORT/_worlds/ID`, it is that one, which goes on afterwards;
    but in a run of `rampsim explore` it is a fresh one there. Else it lies in `server`, a Server or a URL; without one,
    in the server at SIMULATOR_URL, else in one that is started at first use for this process and ends with it.
    `in_process`: in this process, without any socket. `body` is that of `POST /_simulator/worlds`, as
    `Server.new_world` takes it.
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
    """A world that is there already, with the scenarios that a fresh one would have."""
    server = server_for()
    world = World(server.link, server.link.control("GET", f"/worlds/{world_id}"), server)
    world.outlives = True
    if scenarios:
        world.scenario(*([scenarios] if isinstance(scenarios, str | Path | Mapping) else scenarios))
    return world


def server_for(server: Server | str | None = None, *, in_process: bool = False) -> Server:
    """The server that is meant by what `world` takes; one that is started is shared by all of this process."""
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
    """One for each process: a fork of this one must not end it."""
    process = Process({})
    return _ended_at_exit(Server(HttpLink(process.url), process.close))


@cache
def _in_process(pid: int) -> Server:
    return _ended_at_exit(Server(import_module("simulator.testing.links.in_process").InProcessLink()))


def _ended_at_exit(server: Server) -> Server:
    atexit.register(server.stop)
    return server
