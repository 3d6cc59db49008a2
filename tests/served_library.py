"""A server for the toy service `tests/toy` in a thread of this process, and a client for a world in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.engine.durable.opening import persist
from simulator.engine.server.config import Config
from simulator.engine.server.runtime import Runtime
from simulator.engine.worlds.simulator import Blueprint
from simulator.host import application_of
from tests.library import Simulator
from tests.remote import Answer, Remote, new_client, served


@dataclass
class Library(Remote):
    """One world of the library. Every call carries the secret of a card."""

    def base(self, environment: str = "practice") -> str:
        return super().base(environment)

    def token(self, environment: str = "practice") -> str:
        secret: str = self.world["credentials"][environment]["secret_key"]
        return secret

    def api(self, method: str, path: str, json: Any = None, headers: dict[str, str] | None = None,
            environment: str = "practice", **more: Any) -> Answer:  # fmt: skip
        return super().api(method, path, json, headers, environment, **more)

    def act(self, action: str, target: str | None = None, environment: str = "practice", **parameters: Any) -> Answer:
        return super().act(action, target, environment, **parameters)

    def lend(self) -> str:
        """The id of a loan that is out."""
        book = self.api("POST", "/books", {"title": "Middlemarch"}).body
        loan: str = self.api("POST", "/loans", {"book_id": book["id"]}).body["id"]
        return loan


@contextmanager
def running_library(store: Path | None = None) -> Iterator[str]:
    """The origin of a server of the library whose default world has no scenarios. It saves its worlds in a store."""
    simulator, default = Simulator(), Blueprint("default", 1, scenarios=())
    runtime = Runtime(simulator)

    def make_default() -> None:
        simulator.create_world(default)

    if store is None:
        make_default()
    else:
        persist(runtime, Config(clock="manual", store=f"sqlite:///{store}"), default, make_default)
    with served(application_of(runtime)) as origin:
        yield origin


@contextmanager
def visited_library(store: Path | None = None) -> Iterator[Library]:
    """The default world of such a server."""
    with running_library(store) as origin, new_client() as http:
        library = Library(origin, http)
        library.world = library.control("GET", "/worlds/default").body
        yield library
