"""The table rows of the control interface, and what their handlers get."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from simulator.control.lookups import Lookups
from simulator.kernel.world import ENVIRONMENTS, World
from simulator.server.app import Application, Mounted
from simulator.wire.errors import ControlError
from simulator.wire.events import EVENT_TYPES
from simulator.wire.fields import Body, Nothing
from simulator.wire.json import JsonObject
from simulator.wire.strict import did_you_mean, refuse_names, refuse_unknown

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


Query: TypeAlias = Mapping[str, Mapping[str, Any]]

TEXT: Mapping[str, Any] = {"type": "string"}
WHOLE: Mapping[str, Any] = {"type": "integer", "minimum": 0}
SECONDS: Mapping[str, Any] = {"type": "number", "minimum": 0}
LIMIT: Query = {"limit": {**WHOLE, "description": "The newest that many, oldest first."}}
"""What every list takes."""


@dataclass(frozen=True)
class ControlOperation:
    """One row of the control interface.

    `takes`: json (default), raw (a JSON object that the handler judges), bytes, or nothing. `query`: the query
    parameters with their JSON Schemas; None: whatever comes.
    """

    method: str
    path: str
    name: str
    summary: str
    handler: Handler
    status: int = 200
    body: type[Body] = Nothing
    takes: str = "json"
    open: bool = False
    query: Query | None = field(default_factory=dict)

    def check_query(self, given: Mapping[str, str]) -> None:
        """400 invalid_parameter for a query parameter that the call does not know."""
        if self.query is not None:
            refuse_names(given, self.query, "query parameter")

    def check_members(self, raw: Any) -> None:
        """400 invalid_parameter for a member of the body that the call does not know."""
        if self.takes == "json":
            refuse_unknown(self.body, raw)


def known_event(param: str, name: str) -> str:
    """An event type of a control call; 400 with `param` when there is no such type."""
    if name not in EVENT_TYPES:
        raise wrong(param, f"there is no event type {name!r}{did_you_mean(name, EVENT_TYPES)}")
    return name


def wrong(param: str, why: str) -> ControlError:
    return ControlError(400, "invalid_parameter", f"The parameter `{param}` is not valid: {why}.", param)


def absent(param: str) -> ControlError:
    return ControlError(400, "missing_parameter", f"The required parameter `{param}` is missing.", param)
