"""The table rows of the control interface."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field, replace
from inspect import getdoc
from types import NoneType
from typing import (
    Annotated,
    Any,
    Concatenate,
    Generic,
    Literal,
    ParamSpec,
    TypeAlias,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from starlette.responses import Response

from simulator.engine.control.call import ControlCall
from simulator.engine.control.refusals import wrong
from simulator.engine.rows.vocabulary import vocabulary_of
from simulator.engine.server.running.chunks import Content
from simulator.engine.text.enums import ENVIRONMENT, EVENT, explained, listed
from simulator.engine.text.fields import Body, Nothing
from simulator.engine.text.json import MAX_BYTES
from simulator.engine.text.strict import did_you_mean, refuse_names, refuse_unknown
from simulator.kernel.dataclass import dataclass
from simulator.kernel.world import World

Shape = TypeVar("Shape")
HandlerT = TypeVar("HandlerT", bound="Callable[..., Awaitable[ControlAnswer]]")
Facts = ParamSpec("Facts")


@dataclass
class Raw(Generic[Shape]):
    """An answer that is not JSON made here: ready bytes, or a long list in pieces.

    `Shape` is what they say: the shape of their JSON, or `str` for text.
    """

    body: Content
    status: int = 200


ControlAnswer: TypeAlias = "Mapping[str, object] | Raw[Any] | Response | None"
"""What a handler returns: what is shown as JSON, what is ready, a response of its own (a stream), or nothing."""

Handler: TypeAlias = Callable[[ControlCall], Awaitable[ControlAnswer]]


Query: TypeAlias = Mapping[str, Mapping[str, Any]]


def any_text(means: str) -> Mapping[str, Any]:
    """The schema of a query parameter that is any text, and what it means."""
    return {"type": "string", "description": means}


def one_of(choices: Mapping[str, str], means: str) -> Mapping[str, Any]:
    """The schema of a query parameter that is one of these, each with its meaning."""
    return {**explained({"type": "string", "enum": list(choices)}, choices), "description": means}


def event_name(means: str) -> Mapping[str, Any]:
    """The schema of a query parameter that is the name of an event."""
    return {"type": "string", **listed(EVENT), "description": means}


def environment_name(means: str) -> Mapping[str, Any]:
    """The schema of a query parameter that is the name of an environment."""
    return {"type": "string", **listed(ENVIRONMENT), "description": means}


WHOLE: Mapping[str, Any] = {"type": "integer", "minimum": 0}
SECONDS: Mapping[str, Any] = {"type": "number", "minimum": 0}
LIMIT: Query = {"limit": {**WHOLE, "description": "The newest that many, oldest first."}}
"""What every list takes."""
WAIT: Query = {
    "wait": {
        "type": "boolean",
        "description": "Wait for a receiver that has not answered yet, however long it takes; without it, such a call "
        "is 409 clock_busy.",
    }
}
"""What every call takes that waits for deliveries."""


Scope: TypeAlias = Literal["world", "server"]

RecordedAs: TypeAlias = Literal["call", "action", "time", "settings", "upload", "activation", "fault", "nothing"]
"""How a recording repeats what a call did: by the same call or action, by time that passes, …, or not at all."""

TAGS: Mapping[str, str] = {
    "Worlds": "Isolated simulations: making, resetting, keeping and ending them; their settings.",
    "Clock": "Simulated time and what is planned in it.",
    "Actions": "What the outside world does, and every resource: how it came to be and what can happen to it.",
    "Scenarios": "What the outside world does by itself, and when, from files.",
    "Faults": "What is to go wrong on the wire.",
    "Seeing": "Calls, events, deliveries, advice: what happened.",
    "Contract": "The interface in writing.",
}
"""The groups of control calls, and what each is about."""


@dataclass(frozen=True)
class ControlOperation:
    """One row of the control interface: all that router, contract, help and journal know of a call.

    `scope`: whether it is about the world of the header or about the server; `by_environment`: whether it looks at the
    header of the environment too. `takes`: json (default), raw (a JSON object that the handler judges), bytes, or
    nothing; `accepts` says in the contract what such a body is: the types of which it is one, or a JSON Schema (a named
    one where it has a title), and `sent_as` how it is written. `query`: the query parameters with their JSON Schemas;
    None: whatever comes. `catches_up`: whether the world of the header is brought
    up to date before the handler works. Not for what puts an end to a world's doings: it must work however much is due.
    `open`: no token, no own host is asked for. A body over `max_bytes` is refused, or cut where the row says `cuts`.
    `shows_keys`: its answer is made to show keys. `takes_webhooks`: webhooks may be pointed at it. `recorded_as`: it
    changes something in a world, so the journal of control calls keeps it and recordings repeat it like this; None for
    reads, and for what makes, freezes or replaces whole worlds. `keeps_answer`: the journal keeps its answer too,
    because that names what the call has made.
    """

    method: str
    path: str
    name: str
    tag: str
    summary: str
    handler: Handler
    status: int = 200
    body: type[Body] = Nothing
    takes: str = "json"
    accepts: tuple[type, ...] | Mapping[str, Any] = ()
    sent_as: tuple[str, ...] = ("application/json",)
    media_type: str = "application/json"
    scope: Scope = "world"
    by_environment: bool = False
    open: bool = False
    query: Query | None = field(default_factory=dict)
    catches_up: bool = True
    max_bytes: int = MAX_BYTES
    cuts: bool = False
    shows_keys: bool = False
    takes_webhooks: bool = False
    recorded_as: RecordedAs | None = None
    keeps_answer: bool = False

    @property
    def description(self) -> str:
        """What the call does, in a few sentences: what its handler says of itself."""
        return " ".join((getdoc(self.handler) or "").split())

    @property
    def answer(self) -> Any:
        """The shape of the answer, a TypedDict; `str` for text that is no JSON, None where there is no answer.

        It is what the handler is annotated to return, so that no second place can say otherwise and mypy holds the
        handler to it. Data that is shown as it was stored is `Annotated[JsonObject, Shape]`.
        """
        returned = get_type_hints(self.handler, include_extras=True)["return"]
        if returned is Response:
            return str
        if get_origin(returned) in (Raw, Annotated):
            return get_args(returned)[-1]
        return None if returned is NoneType else returned

    def check_query(self, given: Mapping[str, str]) -> None:
        """400 invalid_parameter for a query parameter that the call does not know."""
        if self.query is not None:
            refuse_names(given, self.query, "query parameter")

    def check_members(self, raw: Any) -> None:
        """400 invalid_parameter for a member of the body that the call does not know."""
        if self.takes == "json":
            refuse_unknown(self.body, raw)


Made: TypeAlias = Callable[Concatenate[str, str, str, str, str, Handler, Facts], ControlOperation]


class ControlDecorator(Generic[Facts]):
    r"""Declares the calls of one module, each at the function that answers it; they share the tag.

        operation = calls_under("Faults")

        @operation("DELETE /faults/{id}", "End one fault", status=204, recorded_as="call")
        async def delete_fault(call: ControlCall) -> None:
            \"""End one fault; 404 for one that is not in force.\"""

    Name, description and answer are those of the function.
    """

    def __init__(self, tag: str, make: Made[Facts]) -> None:
        self._tag = tag
        self._make = make
        self.rows: list[ControlOperation] = []
        """The calls in the order of their functions."""

    def __call__(
        self, route: str, summary: str, *args: Facts.args, **facts: Facts.kwargs
    ) -> Callable[[HandlerT], HandlerT]:
        """Declare the decorated function as the call `route`, such as `GET /clock`; `facts` are fields of its row."""
        method, path = route.split(" ")

        def declare(handler: HandlerT) -> HandlerT:
            self.rows.append(self._make(method, path, handler.__name__, self._tag, summary, handler, *args, **facts))
            return handler

        return declare

    def bound_to(self, owner: object) -> list[ControlOperation]:
        """The calls of a module whose handlers are methods, for one object."""
        return [replace(row, handler=getattr(owner, row.name)) for row in self.rows]

    def with_body(self, name: str, body: type[Body]) -> list[ControlOperation]:
        """The calls, of which one takes this body."""
        return [replace(row, body=body) if row.name == name else row for row in self.rows]


def _decorators_of(make: Made[Facts]) -> Callable[[str], ControlDecorator[Facts]]:
    return lambda tag: ControlDecorator(tag, make)


calls_under = _decorators_of(ControlOperation)
"""A decorator for the calls under a tag. Its type has the fields of `ControlOperation`, so mypy knows them."""


def known_event(world: World, param: str, name: str) -> str:
    """An event type of a control call; 400 with `param` when there is no such type."""
    events = vocabulary_of(world).events
    if name not in events:
        raise wrong(param, f"there is no event type {name!r}{did_you_mean(name, events)}")
    return name
