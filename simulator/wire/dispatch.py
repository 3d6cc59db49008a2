"""The pure part of a call: from the resource in the path to the validated body and query (decision H2, H4 to H6)."""

from __future__ import annotations

from collections.abc import Mapping

from simulator.wire.errors import ApiError
from simulator.wire.fields import parse, unknown_fields
from simulator.wire.json import JsonObject
from simulator.wire.listing import Listing, parse_list
from simulator.wire.operation import Call, Operation


def load(operation: Operation, call: Call) -> None:
    """Find the resource that the path names; ApiError 404."""
    if operation.load is not None:
        call.resource = operation.load(call)


def claim(operation: Operation, call: Call) -> None:
    """Look at the state of the quote that is used, after idempotency and before business rules and answers (H2)."""
    if operation.claim is not None:
        operation.claim(call)


def validate(operation: Operation, call: Call, raw: JsonObject, query: Mapping[str, str], *, strict: bool) -> list[str]:
    """Fill in the validated body and query; answers the names of unknown fields and parameters (decision H6).

    ApiError 400 for what is missing or malformed, and in a strict world for what is unknown.
    """
    query = {name: value for name, value in query.items() if value != ""}
    unknown: list[str] = []
    if operation.takes_body:
        call.raw = raw
        model = operation.body_for(call) if operation.body_for else operation.body
        call.body = parse(model, raw, patch=operation.method == "PATCH", code=operation.refuses_with)
        unknown += unknown_fields(call.body)
    if isinstance(operation.query, Listing):
        call.query = parse_list(operation.query, query)
        unknown += [name for name in query if name not in operation.query.parameters()]
    elif operation.query is not None:
        call.query = parse(operation.query, query, code=operation.refuses_with)
        unknown += unknown_fields(call.query)
    else:
        unknown += list(query)
    if operation.check is not None:
        operation.check(call)
    if strict and unknown:
        raise ApiError("invalid_parameter", f"The parameter `{unknown[0]}` is unknown to this operation.", unknown[0])
    return unknown
