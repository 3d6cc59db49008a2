"""The steps of an API request, without HTTP: admit the request, validate it, and run the operation (decisions H2, H4 to
H6).

The endpoint adds reading a body, idempotency and scenario responses. Code with a parsed body calls `perform`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from simulator.engine.records.listing import Listing, parse_list
from simulator.engine.records.origins import RequestOrigin
from simulator.engine.rows.error import ApiError
from simulator.engine.rows.operation import Answer, Call, Operation
from simulator.engine.text.fields import parse, unknown_fields
from simulator.engine.text.json import JsonObject, json_text
from simulator.engine.worlds import quotas
from simulator.kernel.journal import Cause

Gates: TypeAlias = Callable[[Operation, Call], None]
"""Raises `ApiError` 403 if the caller may not make the request. This check precedes all other checks."""


def no_gates(operation: Operation, call: Call) -> None:
    """Allow every caller to make any request."""


def perform(
    operation: Operation,
    call: Call,
    raw: JsonObject | None = None,
    query: Mapping[str, str] | None = None,
    *,
    cause: Cause,
    scenario: str = "",
    gates: Gates = no_gates,
) -> Answer:
    """Process a whole request in one transaction. If the request is refused, change nothing and raise `ApiError`.

    The created resources are bound to the scenario with the name `scenario`. If `scenario` is "", any active scenario
    can act on them.
    """
    admit(operation, call, gates)
    validate(operation, call, raw or {}, query or {}, strict=False)
    with call.world.change(cause, RequestOrigin(json_text(raw or {}), scenario)):
        claim(operation, call)
        with quotas.attempt(call.world):
            return operation.action(call)


def admit(operation: Operation, call: Call, gates: Gates) -> None:
    """Check that the caller may make the request, and find the resource of the path. Raise `ApiError` 403 or 404."""
    gates(operation, call)
    if operation.load is not None:
        call.resource = operation.load(call)


def claim(operation: Operation, call: Call) -> None:
    """Find the quote that the request uses. Raise `ApiError` if the quote cannot be used.

    Call this after the idempotency check, and before business rules and scenario responses (H2).
    """
    if operation.claim is not None:
        operation.claim(call)


def validate(operation: Operation, call: Call, raw: JsonObject, query: Mapping[str, str], *, strict: bool) -> list[str]:
    """Validate the body and the query, and store them in `call`. Return the names of unknown fields and parameters
    (decision H6).

    Raise `ApiError` 400 for missing and malformed values. If `strict` is True, also raise it for unknown names.
    """
    if query:
        query = {name: value for name, value in query.items() if value != ""}
    unknown: list[str] = []
    if operation.takes_body:
        call.raw = raw
        model = operation.body_for(call) if operation.body_for else operation.body()
        call.body = parse(model, raw, patch=operation.method == "PATCH", code=operation.refuses_with)
        unknown += unknown_fields(call.body)
    if isinstance(operation.query, Listing):
        call.query = parse_list(operation.query, query)
        unknown += [name for name in query if name not in operation.query.parameters()]
    elif operation.query is not None:
        call.query = parse(operation.query(), query, code=operation.refuses_with)
        unknown += unknown_fields(call.query)
    else:
        unknown += list(query)
    if operation.check is not None:
        operation.check(call)
    if strict and unknown:
        raise ApiError("invalid_parameter", f"The parameter `{unknown[0]}` is unknown to this operation.", unknown[0])
    return unknown
