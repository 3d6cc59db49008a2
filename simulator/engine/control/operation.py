"""The type that describes a control operation, and the decorator that declares a handler as an operation."""

from __future__ import annotations

import typing
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field, replace
from inspect import getdoc
from types import NoneType
from typing import Annotated, Any, Concatenate, Generic, Literal, ParamSpec, TypeAlias, TypeVar

from starlette.responses import Response

from simulator.engine.control.call import ControlCall
from simulator.engine.server.running.chunks import Content
from simulator.engine.text.fields import Body, Nothing
from simulator.engine.text.json import MAX_BYTES
from simulator.engine.text.shapes import EVENT, explained, listed
from simulator.kernel.dataclass import dataclass

Shape = TypeVar("Shape")
HandlerT = TypeVar("HandlerT", bound="Callable[..., Awaitable[ControlAnswer]]")
RowArguments = ParamSpec("RowArguments")


@dataclass
class Raw(Generic[Shape]):
    """A response that is already encoded. The type parameter is the type of the JSON body, or `str` without JSON."""

    body: Content
    status: int = 200


ControlAnswer: TypeAlias = "Mapping[str, object] | Raw[Any] | Response | None"
"""The result of a handler: a JSON object, an encoded body, a Starlette response (for a stream), or None for 204."""

Handler: TypeAlias = Callable[[ControlCall], Awaitable[ControlAnswer]]

Query: TypeAlias = Mapping[str, Mapping[str, Any]]
"""The JSON Schemas of query parameters, by name."""


def any_text(means: str) -> Mapping[str, Any]:
    """Return the schema of a string parameter. `means` is the description."""
    return {"type": "string", "description": means}


def one_of(choices: Mapping[str, str], means: str) -> Mapping[str, Any]:
    """Return the schema of a parameter with fixed values. `choices` maps each value to its description."""
    return {**explained({"type": "string", "enum": list(choices)}, choices), "description": means}


def event_name(means: str) -> Mapping[str, Any]:
    """Return the schema of a parameter whose value is an event type."""
    return {"type": "string", **listed(EVENT), "description": means}


WHOLE: Mapping[str, Any] = {"type": "integer", "minimum": 0}
SECONDS: Mapping[str, Any] = {"type": "number", "minimum": 0}
_LIMITS = "The maximum number of items. The newest are returned, oldest first."
LIMIT: Query = {"limit": {**WHOLE, "description": _LIMITS}}
"""The query parameter that every list accepts."""
_WAITS = (
    "Wait without a limit for a receiver that has not responded yet. Without it, the call fails with 409 clock_busy."
)
WAIT: Query = {"wait": {"type": "boolean", "description": _WAITS}}
"""The query parameter of every control call that waits for deliveries."""

Scope: TypeAlias = Literal["world", "server"]

RecordedAs: TypeAlias = Literal["call", "action", "time", "settings", "upload", "activation", "fault", "nothing"]
"""The ways in which a recording repeats a control call: the call or the action itself, elapsed time, or not at all."""

TAGS: Mapping[str, str] = {
    "Worlds": "Create, reset, save and delete isolated simulations, and change their settings.",
    "Clock": "Read and advance simulated time, and list the timers.",
    "Actions": "Perform actions of third parties, and inspect each resource with its history and legal actions.",
    "Scenarios": "Files that decide what third parties do by themselves, and when.",
    "Faults": "Inject errors, delays and lost connections into requests and webhook deliveries.",
    "Seeing": "Inspect what happened: requests, events, deliveries, e-mails and advice.",
    "Contract": "The published descriptions of both APIs.",
}
"""The tags that group control calls, with their descriptions."""


@dataclass(frozen=True)
class ControlOperation:
    """One operation of the control API. The router, contract, help and journal are derived from it."""

    method: str
    path: str
    """The path below `/_simulator`."""
    name: str
    tag: str
    summary: str
    handler: Handler
    status: int = 200
    body: type[Body] = Nothing
    takes: str = "json"
    """The format of the body: `json` (validated with `body`), `raw` (a JSON object), or `bytes`."""
    accepts: tuple[type, ...] | Mapping[str, Any] = ()
    """The schema of a `raw` or `bytes` body in the contract: alternative types, or a JSON Schema."""
    sent_as: tuple[str, ...] = ("application/json",)
    """The media types of the body."""
    media_type: str = "application/json"
    """The media type of the response."""
    scope: Scope = "world"
    """The scope of the call: `world` if it applies to the world in the header, otherwise `server`."""
    by_environment: bool = False
    """Whether the call depends on the environment header."""
    open: bool = False
    """Whether the call is allowed without a token and from any host."""
    query: Query | None = field(default_factory=dict)
    """The query parameters, or None if any are allowed."""
    catches_up: bool = True
    """Whether due timers fire before the handler. Deleting or replacing a world must work with any number of them."""
    max_bytes: int = MAX_BYTES
    """The maximum body size. A longer body is refused, or truncated if `cuts` is set."""
    cuts: bool = False
    shows_keys: bool = False
    """Whether the response shows keys instead of masking them."""
    takes_webhooks: bool = False
    """Whether a webhook endpoint can use this path as its URL."""
    recorded_as: RecordedAs | None = None
    """The repeat mode of the call in a recording. None for calls that only read, or that create, freeze or replace
    worlds. The journal of control calls contains only calls with a value here.
    """
    keeps_answer: bool = False
    """Whether the journal saves the response, because it contains the id of a new resource."""

    @property
    def description(self) -> str:
        """Return the handler's docstring as one line."""
        return " ".join((getdoc(self.handler) or "").split())

    @property
    def answer(self) -> Any:
        """The type of the response: a TypedDict, `str` if it is not JSON, or None if there is no body. The type is
        derived from the handler's return annotation, so mypy checks the handler against it. A handler that returns
        stored data unchanged declares `Annotated[JsonObject, Shape]`.
        """
        returned = typing.get_type_hints(self.handler, include_extras=True)["return"]
        if returned is Response:
            return str
        if typing.get_origin(returned) in (Raw, Annotated):
            return typing.get_args(returned)[-1]
        return None if returned is NoneType else returned


RowFactory: TypeAlias = Callable[Concatenate[str, str, str, str, str, Handler, RowArguments], ControlOperation]


class ControlDecorator(Generic[RowArguments]):
    r"""A decorator that declares the operations of one module. All these operations get the same tag.

        operation = calls_under("Faults")

        @operation("DELETE /faults/{id}", "Remove a fault", status=204, recorded_as="call")
        async def delete_fault(call: ControlCall) -> None:
            \"""Remove a fault. Fails with 404 if there is no such fault.\"""

    The name, description and response type of the operation come from the function.
    """

    def __init__(self, tag: str, make: RowFactory[RowArguments]) -> None:
        self._tag = tag
        self._make = make
        self.rows: list[ControlOperation] = []

    def __call__(
        self, route: str, summary: str, *args: RowArguments.args, **facts: RowArguments.kwargs
    ) -> Callable[[HandlerT], HandlerT]:
        """Declare a function as the handler of `route`, such as `GET /clock`, with more fields of its row."""
        method, path = route.split(" ")

        def declare(handler: HandlerT) -> HandlerT:
            self.rows.append(self._make(method, path, handler.__name__, self._tag, summary, handler, *args, **facts))
            return handler

        return declare

    def bound_to(self, owner: object) -> list[ControlOperation]:
        """Return the operations with the methods of `owner` as their handlers."""
        return [replace(row, handler=getattr(owner, row.name)) for row in self.rows]

    def with_body(self, name: str, body: type[Body]) -> list[ControlOperation]:
        """Return the operations, with `body` as the body type of the operation `name`."""
        return [replace(row, body=body) if row.name == name else row for row in self.rows]


def _decorators_of(make: RowFactory[RowArguments]) -> Callable[[str], ControlDecorator[RowArguments]]:
    return lambda tag: ControlDecorator(tag, make)


calls_under = _decorators_of(ControlOperation)
"""Return a decorator for operations under a tag. mypy checks its arguments against `ControlOperation`."""
