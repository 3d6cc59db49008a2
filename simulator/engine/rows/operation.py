"""The operation table: one row per operation of the interface, from which router, endpoint and contract are made.

A room declares an operation at the function that carries it out:

    operation = OperationDecorator("Deposit wallets", group="wallets")

    @operation("PATCH /wallets/{id}", "Change the label, disable or enable", load=by_id(WALLETS, "wallet"))
    def update_wallet(call: Call[bodies.WalletChanges, None, Wallet]) -> shapes.WalletShape:
        \"""Changes what is sent: the label, or whether deposits are credited.\"""

Name, description, body, query and answer are those of the function. Its annotations are evaluated at the first use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from functools import cache
from inspect import cleandoc
from typing import Any, Generic, Protocol, TypeAlias, get_args, get_type_hints

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

    Rooms make rows with an `OperationDecorator`.
    Models and shapes are named by functions, so that they are made when somebody asks for them (`engine/lazy.py`).
    `body_for` picks among `bodies` where the fields depend on the resource or on the request; `check` refuses further
    malformed values (400) that no single field shows. `claim` finds the quote that is used and refuses one that is used
    or expired, before any business rule (decision H2); `uses` is its root, where the path names it. `group` is the
    permission group of decision H18 ("" = free to all); `reads` says that the permission `read` suffices.
    `refuses_with` replaces missing_parameter and invalid_parameter where the specification says so.
    `errors` are the codes it may raise, each with its basis: `specified`, or the decision by which this operation
    raises it. `description` says in a few sentences what it does, requires, books or sends, and
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
    errors: Mapping[str, str] = field(default_factory=dict)
    basis: str = "specified"
    description: str = ""
    statuses: tuple[str, ...] = ()
    shows: str = ""
    """The object of events that it shows as it is now."""

    @property
    def takes_key(self) -> bool:
        """Whether it may carry an Idempotency-Key."""
        return self.method == "POST" and self.idempotent

    @property
    def takes_body(self) -> bool:
        return self.method in ("POST", "PUT", "PATCH")

    def __call__(self, call: Call[BodyT, QueryT, ResourceT]) -> Answer:
        return self.action(call)


@cache
def _annotations(action: Callable[..., Answer]) -> dict[str, Any]:
    """The types of an action's call (`body`, `query`, `resource`) and of its answer; None becomes `NoneType`."""
    hints = get_type_hints(action, include_extras=True)
    answer = hints.pop("return")
    (call,) = hints.values()
    return {**dict(zip(("body", "query", "resource"), get_args(call), strict=True)), "answer": answer}


def _has(action: Callable[..., Answer], part: int) -> bool:
    """Whether an argument of the annotation `Call[body, query, resource]` is not None; does not evaluate it."""
    (call,) = (written for name, written in action.__annotations__.items() if name != "return")
    if isinstance(call, str):
        return call.partition("[")[2].rstrip("]").split(", ")[part] != "None"
    return get_args(call)[part] is not type(None)


@dataclass(frozen=True)
class Variants(Generic[BodyT]):
    """The models of a body by a member of it (`destination.type`: a member of a member).

    The model of the function's annotation stands in where the member is missing or none of these, so that it is
    what is refused.
    """

    member: str
    models: Callable[[], Mapping[str, type[BodyT]]]

    def all(self) -> tuple[type[BodyT], ...]:
        return tuple(dict.fromkeys(self.models().values()))

    def of(self, raw: JsonObject) -> type[BodyT] | None:
        value: object = raw
        for name in self.member.split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
        return self.models().get(value) if isinstance(value, str) else None


def specified(*codes: str) -> dict[str, str]:
    """Return error codes with the basis `specified`, for the `errors` of an operation."""
    return dict.fromkeys(codes, "specified")


def _with_bases(errors: Iterable[str], *, finds: bool) -> Mapping[str, str]:
    found = dict(errors) if isinstance(errors, Mapping) else specified(*errors)
    return found if not finds or any(code.endswith("not_found") for code in found) else specified("not_found") | found


@dataclass(frozen=True)
class OperationDecorator:
    """Makes the operations of one chapter: they share the tag in the contract and the permission group."""

    tag: str
    group: str = ""

    def __call__(
        self,
        route: str,
        summary: str,
        *,
        status: int = 0,
        answer: Callable[[], object] | None = None,
        variants: Variants[BodyT] | None = None,
        bodies: Callable[[], tuple[type[BodyT], ...]] = tuple,
        body_for: Callable[[Call], type[BodyT]] | None = None,
        query: Listing | None = None,
        check: Callable[[Call[BodyT, QueryT, ResourceT]], None] | None = None,
        claim: Callable[[Call[BodyT, QueryT, ResourceT]], None] | None = None,
        load: Callable[[Call], ResourceT] | None = None,
        uses: str = "",
        reads: bool | None = None,
        money: bool = False,
        token: bool = True,
        profile_gate: bool = True,
        idempotent: bool = True,
        refuses_with: str = "",
        errors: Iterable[str] = (),
        basis: str = "specified",
        statuses: tuple[str, ...] = (),
        shows: str = "",
    ) -> Callable[[Callable[[Call[BodyT, QueryT, ResourceT]], Answer]], Operation[BodyT, QueryT, ResourceT]]:
        """Declare the decorated function as the operation `route`, such as `GET /wallets/{id}`.

        `status` is 200, or 204 where the function returns None, unless it is given. An operation with the method GET
        only reads. `errors` without bases are specified. An operation on the resource of its path raises not_found
        unless it declares another code for that. The other parameters are the fields of `Operation`.
        """
        method, path = route.split(" ")

        def declare(
            action: Callable[[Call[BodyT, QueryT, ResourceT]], Answer],
        ) -> Operation[BodyT, QueryT, ResourceT]:
            silent = action.__annotations__["return"] in ("None", None)
            in_query = query is None and _has(action, 1)

            def body() -> type[BodyT]:
                found: type[BodyT] = _annotations(action)["body"]
                return found

            def pick(call: Call) -> type[BodyT]:
                assert variants is not None
                return variants.of(call.raw) or body()

            return Operation(
                method,
                path,
                action.__name__,
                self.tag,
                summary,
                action,
                answer or (None if silent else lambda: _annotations(action)["answer"]),
                status or (204 if silent else 200),
                body if _has(action, 0) and body_for is None else _nothing,  # type: ignore[arg-type]  # nobody reads it
                variants.all if variants is not None and bodies is tuple else bodies,
                body_for if variants is None else pick,
                (lambda: _annotations(action)["query"]) if in_query else query,
                check,
                claim,
                load,
                uses,
                self.group,
                method == "GET" if reads is None else reads,
                money,
                token,
                profile_gate,
                idempotent,
                refuses_with,
                _with_bases(errors, finds=load is not None and "{" in path),
                basis,
                " ".join(cleandoc(action.__doc__ or "").split()),
                statuses,
                shows,
            )

        return declare
