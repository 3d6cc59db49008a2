"""The steps in which an operation handles a request: admit, validate, act (decisions H2, H4 to H6).

The endpoint adds the HTTP steps in between, such as reading a body, idempotency and scenario responses. Code that
already has a body, such as the trial of a document or a test, calls `perform`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from simulator.engine.records.listing import Listing, parse_list
from simulator.engine.records.origins import RequestOrigin
from simulator.engine.rows.error import ApiError
from simulator.engine.rows.operation import Answer, Call, Operation
from simulator.engine.text.fields import parse, unknown_fields
from simulator.engine.text.json import JsonObject
from simulator.engine.text.texts import json_text
from simulator.engine.worlds import quotas
from simulator.kernel.journal import Cause

Gates: TypeAlias = Callable[[Operation, Call], None]
"""Raises `ApiError` 403 if the caller may not make the request. This check precedes all other checks."""


def no_gates(operation: Operation, call: Call) -> None:
    """Allow every caller."""


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
    """Process a whole request as one transaction. Raise `ApiError` if it is refused.

    In that case, nothing has changed. The created resources are bound to `scenario`. If it is "", any matching scenario
    may act on them.
    """
    admit(operation, call, gates)
    validate(operation, call, raw or {}, query or {}, strict=False)
    with call.world.change(cause, RequestOrigin(json_text(raw or {}), scenario)):
        claim(operation, call)
        with quotas.attempt(call.world):
            return operation.action(call)


def admit(operation: Operation, call: Call, gates: Gates) -> None:
    """Check whether the caller may make the request (`gates`), then find the resource that the path identifies.

    Raise `ApiError` 403 or 404 if the request is refused.
    """
    gates(operation, call)
    if operation.load is not None:
        call.resource = operation.load(call)


def claim(operation: Operation, call: Call) -> None:
    """Check the state of the quote that the request uses.

    This runs after the idempotency check and before the business rules and scenario responses (H2).
    """
    if operation.claim is not None:
        operation.claim(call)


def validate(operation: Operation, call: Call, raw: JsonObject, query: Mapping[str, str], *, strict: bool) -> list[str]:
    """Set the validated body and query. Return the names of unknown fields and parameters (decision H6).

    Raise `ApiError` 400 for missing and malformed values, and in a strict world for unknown names.
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
