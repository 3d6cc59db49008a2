"""The library of `tests/toy`: a simulator of it, and a server in a thread of this process seen from outside."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from simulator.engine.rows.provider import Provider
from simulator.engine.rows.room import Room
from simulator.engine.scenario.files.library import Library as Scenarios
from simulator.engine.server.runtime import Runtime
from simulator.engine.worlds.simulator import Blueprint, Inherited
from simulator.engine.worlds.simulator import Simulator as AnySimulator
from simulator.host import application_of
from tests.remote import Answer, Remote, served
from tests.toy import PROVIDER


def library_with(*rooms: Room) -> Provider:
    """The library, with further rooms."""
    return replace(PROVIDER, rooms=(*PROVIDER.rooms, *rooms))


class Simulator(AnySimulator):
    """All worlds of a process, of the library unless another provider is given."""

    def __init__(
        self, provider: Provider = PROVIDER, library: Scenarios | None = None, inherited: Inherited | None = None
    ) -> None:
        super().__init__(provider, library or Scenarios(), inherited or Inherited(scenarios=()))


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
