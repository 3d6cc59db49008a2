"""The table rows of the control interface, and what their handlers get."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from simulator.control.lookups import Lookups
from simulator.kernel.world import ENVIRONMENTS, World
from simulator.scenario.document import nearest
from simulator.server.app import Application, Mounted
from simulator.wire.errors import ControlError
from simulator.wire.fields import Body, Nothing
from simulator.wire.json import JsonObject

WORLD_HEADER = "x-simulator-world"
ENVIRONMENT_HEADER = "x-simulator-environment"


@dataclass
class ControlCall:
    """One control call: the world of its header, path variables, query, headers, and the validated body.

    `raw` is the body as sent: a JSON object, or bytes where the row says so. `id` is its number in the journal of
    control calls ("" where it is not kept), `began_ms` the simulated time at which it came.
    """

    application: Application
    path: Mapping[str, str]
    query: Mapping[str, str]
    headers: Mapping[str, str]
    origin: str
    raw: Any = field(default_factory=dict)
    body: Any = None
    id: str = ""
    began_ms: int = 0
    lookups: Lookups = field(default_factory=Lookups)

    @property
    def world(self) -> World:
        """The world of the header, brought up to date; 404 not_found when there is none of that id."""
        world = self.application.simulator.worlds.get(self.world_id)
        if world is None:
            raise ControlError(404, "not_found", f"There is no world {self.world_id!r}.")
        self.application.driver.bring_up_to_date(world)
        return world

    @property
    def world_id(self) -> str:
        return self.headers.get(WORLD_HEADER, "default")

    @property
    def environment(self) -> str:
        """The environment of the header, sandbox by default; 400 for another word."""
        environment = self.headers.get(ENVIRONMENT_HEADER, "sandbox")
        if environment not in ENVIRONMENTS:
            raise wrong("X-Simulator-Environment", "it is sandbox or production")
        return environment

    def limit(self) -> int | None:
        """The query parameter `limit`: how many of the newest."""
        return self.whole("limit", minimum=0)

    def whole(self, name: str, *, minimum: int) -> int | None:
        text = self.query.get(name)
        if text is None or text == "":
            return None
        if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) >= minimum):
            raise wrong(name, f"it must be a whole number from {minimum}")
        return int(text)


@dataclass
class Raw:
    """An answer that is not JSON made here: ready bytes with their media type."""

    body: bytes
    media_type: str = "application/json"
    status: int = 200


@dataclass
class Streamed:
    """An answer that goes on: an ASGI application that writes it."""

    app: Mounted


ControlAnswer: TypeAlias = "JsonObject | Raw | Streamed | None"
Handler: TypeAlias = Callable[[ControlCall], Awaitable[ControlAnswer]]


@dataclass(frozen=True)
class ControlOperation:
    """One row of the control interface. `takes`: json (default), bytes (the raw body), or nothing."""

    method: str
    path: str
    name: str
    summary: str
    handler: Handler
    status: int = 200
    body: type[Body] = Nothing
    takes: str = "json"
    open: bool = False


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """"; did you mean `x`?", or nothing when no name is near."""
    meant = nearest(name, names)
    return f"; did you mean `{meant}`?" if meant else ""


def wrong(param: str, why: str) -> ControlError:
    return ControlError(400, "invalid_parameter", f"The parameter `{param}` is not valid: {why}.", param)


def absent(param: str) -> ControlError:
    return ControlError(400, "missing_parameter", f"The required parameter `{param}` is missing.", param)
