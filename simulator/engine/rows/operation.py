"""The operation table: one row for each API operation. The router, the endpoint and the OpenAPI contract are derived
from this table.

A package declares an operation on the function that implements it:

    operation = OperationDecorator("Deposit wallets", group="wallets")

    @operation("PATCH /wallets/{id}", "Change the label, disable or enable", load=by_id(WALLETS, "wallet"))
    def update_wallet(call: Call[bodies.WalletChanges, None, Wallet]) -> shapes.WalletShape:
        \"""Changes the label of the wallet, or whether its deposits are credited.\"""

The function defines the name, description, body, query and response of the operation. Its annotations are evaluated on
first use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from functools import cache, cached_property
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
    """The public key and the permissions of the key pair that makes a request."""

    @property
    def public_key(self) -> str: ...
    @property
    def permissions(self) -> tuple[str, ...]: ...


@dataclass(slots=True)
class Call(Generic[BodyT, QueryT, ResourceT]):
    """One API request as passed to an operation's function. The input is validated and independent of HTTP. The
    function declares the types of the body, query and resource, such as `Call[CreateFee, None, FeeProduct]`. None means
    that the operation has no body, query or resource.
    """

    world: World
    environment: str
    path: Mapping[str, str]
    raw: JsonObject = field(default_factory=dict)
    """The JSON object as sent."""
    # The pipeline sets these fields step by step, each before any code reads it.
    body: BodyT = None  # type: ignore[assignment]  # filled in
    """The validated body."""
    query: QueryT = None  # type: ignore[assignment]  # filled in
    """The validated query, which is a `ListRequest` for lists."""
    resource: ResourceT = None  # type: ignore[assignment]  # filled in
    """The resource that the path identifies, or the quote that the request uses."""
    caller: Caller | None = None
    """The key pair that the token was issued for."""
    trace: bool = True
    """False for HEAD requests, which are not recorded (decision S20)."""
    wall_ms: int = 0
    """The wall-clock time in milliseconds if the world has a scaled clock, otherwise 0. It is needed for periods that a
    client measures with its own clock. A scaled clock must not shorten these periods (H17).
    """


@dataclass(frozen=True)
class ProbeOutcome:
    """The result of a test request to a webhook endpoint: an HTTP status, or an error."""

    status: int | None
    error: str | None = None


@dataclass(frozen=True)
class Probe:
    """A signed test request that precedes the response to the API call, which `then` returns, given its result."""

    url: str
    raw: bytes
    key: str
    then: Callable[[ProbeOutcome], Mapping[str, object]]


Answer: TypeAlias = "Mapping[str, object] | Probe | None"
"""The result of an operation's function: the object to return (any TypedDict), a test request to send, or nothing."""


def _nothing() -> type[Nothing]:
    return Nothing


@dataclass(frozen=True)
class Operation(Generic[BodyT, QueryT, ResourceT]):
    """One row of the operation table. An `OperationDecorator` creates these rows. Several fields are functions that
    return models and response shapes, so the models and shapes are created on first use (`engine/lazy.py`).
    """

    method: str
    path: str
    name: str
    tag: str
    summary: str
    action: Callable[[Call[BodyT, QueryT, ResourceT]], Answer]
    answer: Callable[[], object] | None = None
    """Returns the response shape."""
    status: int = 200
    body: Callable[[], type[BodyT]] = _nothing  # type: ignore[assignment]  # where none is named, nobody reads it
    bodies: Callable[[], tuple[type[BodyT], ...]] = tuple
    """All models that `body_for` may return."""
    body_for: Callable[[Call], type[BodyT]] | None = None
    """Selects the body model. Set it if the fields depend on the resource or the request."""
    query: Callable[[], type[QueryT]] | Listing | None = None
    check: Callable[[Call[BodyT, QueryT, ResourceT]], None] | None = None
    """Raises `ApiError` 400 for problems that checks of single fields do not find."""
    claim: Callable[[Call[BodyT, QueryT, ResourceT]], None] | None = None
    """Finds the quote that the request uses. A used or expired quote is refused before any business rule is checked
    (decision H2).
    """
    load: Callable[[Call], ResourceT] | None = None
    """Finds the resource that the path identifies."""
    uses: str = ""
    """The name under which a `where` refers to the quote that the operation uses. Set if the path contains the quote's
    id.
    """
    group: str = ""
    """The permission group (decision H18), or "" if every key may use the operation."""
    reads: bool = False
    """True if the permission `read` is sufficient."""
    money: bool = False
    token: bool = True
    profile_gate: bool = True
    idempotent: bool = True
    refuses_with: str = ""
    """The code to use instead of missing_parameter and invalid_parameter, if the specification requires it."""
    errors: Mapping[str, str] = field(default_factory=dict)
    """The error codes that the operation may raise. Each has a source: `specified`, or the decision that assigns the
    code to this operation.
    """
    basis: str = "specified"
    description: str = ""
    """A few sentences for integrators: effect, requirements, refusals."""
    statuses: tuple[str, ...] = ()
    """The statuses that a successful response may contain, or () for any status."""
    shows: str = ""
    """The type of event object whose current state the response contains."""

    @cached_property
    def takes_key(self) -> bool:
        """True if requests may have an Idempotency-Key."""
        return self.method == "POST" and self.idempotent

    @cached_property
    def takes_body(self) -> bool:
        return self.method in ("POST", "PUT", "PATCH")

    @cached_property
    def takes_nothing(self) -> bool:
        """True if there is nothing to validate: no body, no query and no `check`."""
        return not self.takes_body and self.query is None and self.check is None

    def __call__(self, call: Call[BodyT, QueryT, ResourceT]) -> Answer:
        return self.action(call)


@cache
def _annotations(action: Callable[..., Answer]) -> dict[str, Any]:
    """Return the types of a function's body, query, resource and response. None becomes `NoneType`."""
    hints = get_type_hints(action, include_extras=True)
    answer = hints.pop("return")
    (call,) = hints.values()
    return {**dict(zip(("body", "query", "resource"), get_args(call), strict=True)), "answer": answer}


def _has(action: Callable[..., Answer], part: int) -> bool:
    """Return True if argument number `part` of `Call[body, query, resource]` is not None, without evaluating it."""
    (call,) = (written for name, written in action.__annotations__.items() if name != "return")
    if isinstance(call, str):
        return call.partition("[")[2].rstrip("]").split(", ")[part] != "None"
    return get_args(call)[part] is not type(None)


@dataclass(frozen=True)
class Variants(Generic[BodyT]):
    """Several body models for one operation. The value of one field of the body, such as `destination.type`, selects
    the model. If the field is missing or has an unknown value, the model in the function's annotation is used. This
    model reports the error.
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
    """Return a dictionary in which each error code has the source `specified`. Pass it as `errors` of an operation."""
    return dict.fromkeys(codes, "specified")


def _with_bases(errors: Iterable[str], *, finds: bool) -> Mapping[str, str]:
    found = dict(errors) if isinstance(errors, Mapping) else specified(*errors)
    return found if not finds or any(code.endswith("not_found") for code in found) else specified("not_found") | found


@dataclass(frozen=True)
class OperationDecorator:
    """Declares operations with the same tag in the OpenAPI contract and the same permission group."""

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

        `status` defaults to 200, or to 204 if the function returns None. `reads` defaults to True for the method GET,
        and to False for other methods. Error codes in `errors` that have no source get the source `specified`. If the
        path identifies a resource, the code `not_found` is added unless the operation declares another code for a
        missing resource. The other parameters are the fields of `Operation`.
        """
        method, path = route.split(" ")

        def declare(action: Callable[[Call[BodyT, QueryT, ResourceT]], Answer]) -> Operation[BodyT, QueryT, ResourceT]:
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
