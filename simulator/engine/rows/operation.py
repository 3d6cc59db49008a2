"""The operation table: one row per operation of the interface, from which router, endpoint and contract are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Generic, Protocol, TypeAlias

from typing_extensions import TypeVar

from simulator.engine.records.listing import Listing
from simulator.engine.text.fields import Nothing
from simulator.engine.text.json import JsonObject
from simulator.kernel.dataclass import dataclass
from simulator.kernel.world import World

BodyT = TypeVar("BodyT", default=Any)
QueryT = TypeVar("QueryT", default=Any)
ResourceT = TypeVar("ResourceT", default=Any)


class Caller(Protocol):
    """Who calls: a key pair, as far as the pipeline has to know it."""

    @property
    def public_key(self) -> str: ...

    @property
    def permissions(self) -> tuple[str, ...]: ...


@dataclass(slots=True)
class Call(Generic[BodyT, QueryT, ResourceT]):
    """One interface call as a room sees it: validated input, no HTTP.

    A room names what it reads, `Call[CreateFee, None, FeeProduct]`: the types of body, query and resource, None for
    those that the operation does not have. `body` is the validated body, `raw` the JSON object as sent; `query` the
    validated query (a `ListRequest` for lists); `resource` what the path names, or the quote that is used, already
    found; `caller` the key pair behind the token. `trace` is False for HEAD, which leaves none (decision S20).
    `wall_ms` is the wall clock in milliseconds, given only in worlds with a scaled clock: there, what a client times
    by its own clock must hold for it (H17).
    """

    world: World
    environment: str
    path: Mapping[str, str]
    raw: JsonObject = field(default_factory=dict)
    # Filled in step by step by the pipeline, each before anything that may read it.
    body: BodyT = None  # type: ignore[assignment]  # filled in
    query: QueryT = None  # type: ignore[assignment]  # filled in
    resource: ResourceT = None  # type: ignore[assignment]  # filled in
    caller: Caller | None = None
    trace: bool = True
    wall_ms: int = 0


@dataclass(frozen=True)
class ProbeOutcome:
    """What came back from a test request: a status, or why there is none."""

    status: int | None
    error: str | None = None


@dataclass(frozen=True)
class Probe:
    """An answer that waits for the outside: the shell sends this signed request and calls `then` with the outcome."""

    url: str
    raw: bytes
    key: str
    then: Callable[[ProbeOutcome], Mapping[str, object]]


Answer: TypeAlias = "Mapping[str, object] | Probe | None"
"""What an action returns: the object that is shown (any TypedDict is one), a test request to send, or nothing."""


def _nothing() -> type[Nothing]:
    return Nothing


@dataclass(frozen=True)
class Operation(Generic[BodyT, QueryT, ResourceT]):
    """One row: what is called, what it takes, who may call it, what it answers and which errors it declares.

    Models and shapes are named by functions, so that they are made when somebody asks for them (`engine/late.py`).
    `body_for` picks among `bodies` where the fields depend on the resource or on the request; `check` refuses further
    malformed values (400) that no single field shows. `claim` finds the quote that is used and refuses one that is used
    or expired, before any business rule (decision H2); `uses` is its root, where the path names it. `group` is the
    permission group of decision H18 ("" = free to all); `reads` says that the permission `read` suffices.
    `refuses_with` replaces missing_parameter and invalid_parameter where the specification says so.
    `guessed` are those of the `errors` of which the specification does not say that this operation answers them, each
    with the decision it rests on. `description` says in a few sentences what it does, requires, books or sends, and
    when it is refused. `statuses` are the states that its successful answer may show, () where that is any of them.
    """

    method: str
    path: str
    name: str
    tag: str
    summary: str
    action: Callable[[Call[BodyT, QueryT, ResourceT]], Answer]
    answer: Callable[[], object] | None = None
    status: int = 200
    body: Callable[[], type[BodyT]] = _nothing  # type: ignore[assignment]  # where none is named, nobody reads it
    bodies: Callable[[], tuple[type[BodyT], ...]] = tuple
    body_for: Callable[[Call], type[BodyT]] | None = None
    query: Callable[[], type[QueryT]] | Listing | None = None
    check: Callable[[Call[BodyT, QueryT, ResourceT]], None] | None = None
    claim: Callable[[Call[BodyT, QueryT, ResourceT]], None] | None = None
    load: Callable[[Call], ResourceT] | None = None
    uses: str = ""
    group: str = ""
    reads: bool = False
    money: bool = False
    token: bool = True
    profile_gate: bool = True
    idempotent: bool = True
    refuses_with: str = ""
    errors: tuple[str, ...] = ()
    guessed: Mapping[str, str] = field(default_factory=dict)
    basis: str = "specified"
    description: str = ""
    statuses: tuple[str, ...] = ()

    @property
    def takes_key(self) -> bool:
        """Whether it may carry an Idempotency-Key."""
        return self.method == "POST" and self.idempotent

    @property
    def takes_body(self) -> bool:
        return self.method in ("POST", "PUT", "PATCH")
