"""The path of a call through its operation: admit, validate, act (decisions H2, H4 to H6).

The endpoint adds the steps of HTTP in between (reading a body, idempotency, responses of scenarios). Callers that
already have a body (a step towards an event, the trial of a document, a test) use `perform`.
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
"""Raises 403 for a caller before anything else is checked."""


def no_gates(operation: Operation, call: Call) -> None:
    """Let everybody call."""


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
    """Carry out a whole call as one change with its cause. Raise `ApiError` if it is refused, with nothing changed.

    `scenario` is the scenario that created resources are bound to, "" for any that matches.
    """
    admit(operation, call, gates)
    validate(operation, call, raw or {}, query or {}, strict=False)
    with call.world.change(cause, RequestOrigin(json_text(raw or {}), scenario)):
        claim(operation, call)
        with quotas.attempt(call.world):
            return operation.action(call)


def admit(operation: Operation, call: Call, gates: Gates) -> None:
    """Check the gates, then find the resource of the path. Raise `ApiError` 403 and 404."""
    gates(operation, call)
    if operation.load is not None:
        call.resource = operation.load(call)


def claim(operation: Operation, call: Call) -> None:
    """Check the state of the quote that is used, after idempotency and before business rules and responses (H2)."""
    if operation.claim is not None:
        operation.claim(call)


def validate(operation: Operation, call: Call, raw: JsonObject, query: Mapping[str, str], *, strict: bool) -> list[str]:
    """Fill in the validated body and query. Return the names of unknown fields and parameters (decision H6).

    Raise `ApiError` 400 for missing and malformed values, and in a strict world for unknown ones.
    """
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
