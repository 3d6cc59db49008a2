"""A server of the library of `tests/toy` in a thread of this process, and a world of it seen from outside."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from simulator.engine.server.runtime import Runtime
from simulator.engine.worlds.simulator import Blueprint
from simulator.host import application_of
from tests.library import Simulator
from tests.remote import Answer, Remote, served


@dataclass
class Library(Remote):
    """One world of the library. Every call carries the secret of a card."""

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
def running_library() -> Iterator[str]:
    """The origin of a server of the library whose default world has no scenarios."""
    simulator = Simulator()
    simulator.create_world(Blueprint("default", 1, scenarios=()))
    with served(application_of(Runtime(simulator))) as origin:
        yield origin
