"""The table rows of the control interface, and what their handlers get."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from inspect import getdoc
from math import inf
from types import NoneType
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    TypeAlias,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from starlette.requests import ClientDisconnect
from starlette.responses import Response

from simulator.engine.clients.address import CONTROL_BASE
from simulator.engine.control.access import EVERYBODY, Access
from simulator.engine.control.history.lookups import Lookups
from simulator.engine.control.refusals import absent as absent
from simulator.engine.control.refusals import clock_busy, unanswered
from simulator.engine.control.refusals import wrong as wrong
from simulator.engine.control.shapes import StoppedScenarios
from simulator.engine.control.time.receipts import show_receipt
from simulator.engine.rows.error import ControlError
from simulator.engine.rows.vocabulary import vocabulary_of
from simulator.engine.scenario.play.stops import stopped_since
from simulator.engine.server.keeping import unreadable_error
from simulator.engine.server.running.advance import AdvanceCancelled, ClockBusy, Receipt, Target
from simulator.engine.server.running.slices import Content
from simulator.engine.server.runtime import Runtime
from simulator.engine.text.enums import EVENT_NAMES, explained
from simulator.engine.text.fields import Body, Nothing
from simulator.engine.text.json import MAX_BYTES
from simulator.engine.text.strict import did_you_mean, is_whole, refuse_names, refuse_unknown
from simulator.engine.webhooks.courier.courier import Patience, Unanswered
from simulator.engine.worlds.simulator import Simulator
from simulator.kernel.clock import LAST_MS
from simulator.kernel.dataclass import dataclass
from simulator.kernel.world import DEFAULT_WORLD, World

T = TypeVar("T")
Shape = TypeVar("Shape")
WORLD_HEADER = "x-simulator-world"
ENVIRONMENT_HEADER = "x-simulator-environment"

RECEIVER_PATIENCE_SECONDS = 0.7
"""How long a call that waits for deliveries waits for a receiver that may itself be waiting for that call.

Nothing tells the two apart but time. A receiver that answers promptly needs a hundredth of it; to a person it is
still at once.
"""


REST_SECONDS = 15.0
"""How long a call waits for a world with nothing in flight while a receiver hangs: one attempt may take 10 seconds."""
MOST_REST_SECONDS = 60.0
"""How long it waits if every receiver answers and there is always something new for them."""


@dataclass
class ControlCall:
    """One control call: the world of its header, path variables, query, headers, and the validated body.

    `sent` is the body as it came, `raw` what it says: a JSON object, or bytes where the row says so. `origin` is the
    address of the server, with the prefix of a mount; `below` is `/_worlds/ID` where the call came below that. `id` is
    its number in the journal of control calls ("" where it is not kept), `began_ms` the simulated time at which it
    came. `is_whole`: nothing of the body was cut off. `gone` is done when the client leaves while the call is under
    way. `shows_keys`: the answer is made to show keys. `unanswered` are the webhook attempts of its world whose
    receiver may be the caller: sent before the call came, over a connection opened later (`connection_opened_at`, in
    seconds of the event loop), and not answered yet. `last_entry` is the newest entry of its world's logbook when it
    came. `access` is what its token reaches; `are_apart`: tokens differ in that. `rows`: the interface by name.
    """

    runtime: Runtime
    path: Mapping[str, str]
    query: Mapping[str, str]
    headers: Mapping[str, str]
    origin: str
    lookups: Lookups
    rows: Mapping[str, ControlOperation]
    sent: bytes = b""
    raw: Any = field(default_factory=dict)
    body: Any = None
    id: str = ""
    began_ms: int = 0
    is_whole: bool = True
    gone: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    shows_keys: bool = False
    connection_opened_at: float = inf
    cut: Callable[[], None] = lambda: None
    unanswered: frozenset[str] = frozenset()
    last_entry: int = 0
    access: Access = EVERYBODY
    are_apart: bool = False
    below: str = ""

    async def while_here(self, waiting: Coroutine[Any, Any, T], seconds: float) -> T:
        """Wait for something; TimeoutError when the time is over, ClientDisconnect when the client leaves first."""
        if seconds <= 0:
            waiting.close()
            raise TimeoutError
        wait = asyncio.ensure_future(waiting)
        try:
            await asyncio.wait((wait, self.gone), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if wait.done():
                return wait.result()
            raise ClientDisconnect if self.gone.done() else TimeoutError
        finally:
            if not wait.done():
                wait.cancel()
                await asyncio.wait((wait,))

    @property
    def simulator(self) -> Simulator:
        return self.runtime.simulator

    @property
    def world(self) -> World:
        """The world of the header; 404 not_found when there is none of that id."""
        return self.world_called(self.world_id)

    def world_called(self, world_id: str) -> World:
        """The world of that id; 404 not_found when there is none, or none for the token of this call.

        503 world_unreadable when it is set aside.
        """
        world = self.find_world(world_id)
        if world is None:
            self.require_readable(world_id)
            raise self.access.no_world(world_id)
        return world

    async def wake(self, world_id: str) -> None:
        """Have a world in memory that is at rest; nothing happens for one that the token does not reach."""
        if self.access.reaches(world_id):
            await self.runtime.wake(world_id)

    async def wake_snapshot(self, snapshot_id: str) -> None:
        """Have the world of a snapshot in memory."""
        if snapshot_id not in self.simulator.snapshots and self.runtime.keeper is not None:
            await self.runtime.keeper.wake_snapshot(snapshot_id)

    def require_readable(self, world_id: str) -> None:
        """503 world_unreadable for a world that is set aside."""
        why = self.runtime.unreadable(world_id) if self.access.reaches(world_id) else None
        if why is not None:
            raise unreadable_error(CONTROL_BASE, world_id, why)

    def find_world(self, world_id: str) -> World | None:
        """The world of that id, None when there is none for the token of this call."""
        return self.simulator.worlds.get(world_id) if self.access.reaches(world_id) else None

    @property
    def world_id(self) -> str:
        """The world of the header, `default` without one; there need be none of that id."""
        return self.headers.get(WORLD_HEADER, DEFAULT_WORLD)

    @property
    def environment(self) -> str:
        """The environment of the header, sandbox by default."""
        return self.headers.get(ENVIRONMENT_HEADER, "sandbox")

    def check_environment(self) -> None:
        """400 for a header that names no environment, whether the call looks at it or not."""
        if self.environment not in self.simulator.wiring.environments:
            raise wrong("X-Simulator-Environment", "it is sandbox or production")

    def require_idle(self, world: World) -> None:
        """409 clock_busy while the clock of a world is being advanced."""
        if self.runtime.driver.is_busy(world):
            raise clock_busy()

    async def advance(
        self, world: World, to: Target, reached: Callable[[], bool] | None = None, horizon_ms: int = LAST_MS
    ) -> Receipt:
        """Move the clock of a world as `Driver.advance` does, for as long as the caller is there.

        409 clock_busy during another advance and where `settle` raises it, advance_cancelled with the receipt.
        """
        driver = self.runtime.driver
        try:
            with self._leaving(lambda: driver.call_off(world, "its caller has gone")):
                return await driver.advance(world, to, reached, horizon_ms=horizon_ms, patience=self.patience())
        except ClockBusy:
            raise clock_busy() from None
        except Unanswered as error:
            raise unanswered(error) from None
        except AdvanceCancelled as error:
            message = f"The advance was called off: {error.why}."
            receipt = {**show_receipt(error.receipt, reached=False), **self.stopped_scenarios(world)}
            raise ControlError(409, "advance_cancelled", message, receipt=receipt) from None

    async def settle(self, world: World) -> int:
        """Wait until no webhook attempt of a world is in flight; returns how many were made that nobody had counted.

        409 clock_busy when a receiver does not answer an attempt that had reached it before this call came: it may be
        the receiver itself that calls. 409 too when the world does not come to rest in `REST_SECONDS` because a
        receiver hangs. With `wait=true` in the query the call waits however long it takes.
        """
        courier = self.runtime.courier
        try:
            with self._leaving(lambda: courier.wake(world)):
                made = await courier.settle(world, patience=self.patience(at_rest=True), called_off=self.gone.done)
        except Unanswered as error:
            raise unanswered(error) from None
        if self.gone.done():
            raise ControlError(409, "invalid_state", "The caller has gone before all deliveries were answered.")
        return made

    def stopped_scenarios(self, world: World) -> StoppedScenarios:
        """`stopped_scenarios`: those that were stopped while this call was answered; nothing when there are none."""
        stopped = stopped_since(world, self.last_entry)
        return {"stopped_scenarios": stopped} if stopped else {}

    @contextmanager
    def _leaving(self, then: Callable[[], object]) -> Iterator[None]:
        """Do something as soon as the caller leaves, while the block works."""

        def leave(_gone: asyncio.Future[None]) -> None:
            then()

        self.gone.add_done_callback(leave)
        try:
            yield
        finally:
            self.gone.remove_done_callback(leave)

    def patience(self, *, at_rest: bool = False) -> Patience | None:
        """How long this call waits for receivers, as its `wait` says (None: for ever); 400 when that is no boolean.

        `at_rest`: the call needs a world with nothing in flight, which one that hangs could put off for ever.
        """
        given = self.query.get("wait") or "false"
        if given not in ("true", "false"):
            raise wrong("wait", "it is true or false")
        if given == "true":
            return None
        rest = (REST_SECONDS, MOST_REST_SECONDS) if at_rest else (inf, inf)
        return Patience(RECEIVER_PATIENCE_SECONDS, self.unanswered, *rest)

    def limit(self) -> int | None:
        """The query parameter `limit`: how many of the newest."""
        return self.whole("limit")

    def whole(self, name: str) -> int | None:
        """A query parameter that is a whole number from 0, None when it is left out; 400 for anything else."""
        text = self.query.get(name)
        if text is None or text == "":
            return None
        if not is_whole(text):
            raise wrong(name, "it must be a whole number from 0")
        return int(text)


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
    return {"type": "string", **EVENT_NAMES, "description": means}


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


def known_event(world: World, param: str, name: str) -> str:
    """An event type of a control call; 400 with `param` when there is no such type."""
    events = vocabulary_of(world).events
    if name not in events:
        raise wrong(param, f"there is no event type {name!r}{did_you_mean(name, events)}")
    return name
