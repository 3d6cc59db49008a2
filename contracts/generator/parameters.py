"""Parameters of operations: what the path names, the query of lists and reads, request headers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, get_args

from contracts.generator.provenance import clauses_of, component_name
from contracts.generator.requests.values import DAY
from contracts.generator.schemas import Components, Schema
from simulator.assembly import DEFAULT_SCENARIOS, ROOMS
from simulator.resources import reference
from simulator.wire.listing import Bound, Filter, Listing
from simulator.wire.operation import Operation

Parameter = dict[str, Any]

_TIME = r"([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,9})?)?"
_MOMENT = rf"^({DAY}(T{_TIME}(Z|[+-]([01][0-9]|2[0-3]):?[0-5][0-9])?)?)?$"
"""A day or a timestamp, in UTC where it names no zone; an empty value counts as absent (decision H6)."""

_SEARCH = r"^([\s\S]{2,})?$"
"""At least two characters, or an empty value."""

_IDS_OF_ANOTHER_FORM: Mapping[str, tuple[str, str]] = {
    "/fees/{id}": ("^fee_[0-9a-z_]+$", "Fee product"),
    "/orders/{order_id}": ("^(ORD-[0-9]{8,}|txn_[0-9a-z]+)$", "Order"),
    "/wallets/{id}/lightning/{lightning_id}": ("^ln_[0-9a-z]+$", "Lightning entry"),
}
"""Ids that are more than a prefix and letters, or that nothing is read by."""


@cache
def _path_ids() -> Mapping[str, tuple[str, str]]:
    """The form of every id in a path, by the path up to it, and the clause that gives it.

    What a path is read by begins with the prefix of the kind that the read answers.
    """
    clauses = clauses_of(ROOMS)
    kinds = {shape: kind for room in ROOMS for kind in room.kinds for shape in _members(kind.shape)}
    found = dict(_IDS_OF_ANOTHER_FORM)
    for row in (row for room in ROOMS for row in room.operations if row.method == "GET" and row.path.endswith("}")):
        shape = _members(row.answer)[0]
        if row.path not in found:
            found[row.path] = (f"^{kinds[shape].prefix}[0-9a-z]+$", clauses[component_name(shape.__name__)])
    return found


def _members(shape: Any) -> tuple[Any, ...]:
    """The shapes of a union, or the one that it is."""
    return get_args(shape) or (shape,)


_LISTS = "Common list parameters"

HEADERS: Mapping[str, Parameter] = {
    "IdempotencyKey": {
        "name": "Idempotency-Key",
        "in": "header",
        "required": False,
        "description": "A UUID or unique string, so that a retry creates no duplicate. Kept for 24 hours; the same key "
        "with another request is refused (409 idempotency_conflict).",
        "schema": {
            "type": "string",
            "minLength": 1,
            "maxLength": 255,
            "pattern": "^[!-~]([ -~]*[!-~])?$",
            "x-provenance": "assumed",
            "x-basis": "H14",
        },
        "example": "0b8e2a52-9f0c-4a57-9a3e-6f1f6d2b7c10",
        "x-provenance": "specified",
        "x-basis": "Endpoints",
    },
    "SimulatorScenario": {
        "name": "X-Simulator-Scenario",
        "in": "header",
        "required": False,
        "description": "Simulator only, unknown to the real service: puts what this request creates under one "
        "scenario. Besides those named here any scenario of the world can be chosen; an unknown name is 400.",
        "schema": {"type": "string", "enum": list(DEFAULT_SCENARIOS)},
        "x-simulator-only": True,
        "x-provenance": "assumed",
        "x-basis": "simulator",
    },
}

CREATES_FOR_SCENARIOS = frozenset(
    {
        "confirm_quote",
        "send",
        "swap",
        "buy",
        "withdraw",
        "create_wallet",
        "create_lightning_entry",
        "create_recurring_payment",
    }
)
"""The operations that make what a scenario can rule: transactions, wallets, invoices, recurring payments."""


def path_parameters(path: str) -> list[Parameter]:
    found = []
    for match in re.finditer(r"\{(\w+)\}", path):
        pattern, clause = _path_ids()[path[: match.end()]]
        found.append(
            {
                "name": match[1],
                "in": "path",
                "required": True,
                "schema": {"type": "string", "pattern": pattern},
                "x-provenance": "specified",
                "x-basis": clause,
            }
        )
    return found


def header_parameters(operation: Operation) -> list[Parameter]:
    names = []
    if operation.method == "POST" and operation.idempotent:
        names.append("IdempotencyKey")
    if operation.name in CREATES_FOR_SCENARIOS:
        names.append("SimulatorScenario")
    return [{"$ref": f"#/components/parameters/{name}"} for name in names]


def query_parameters(operation: Operation, components: Components) -> list[Parameter]:
    if isinstance(operation.query, Listing):
        own = {filter_.name for filter_ in operation.query.filters}
        parameters = _list_parameters(operation.query, operation.tag)
        if operation.basis != "specified":
            for parameter in parameters:
                if parameter["name"] in own:
                    parameter |= {"x-provenance": "assumed", "x-basis": operation.basis}
        return parameters
    if operation.query is None:
        return []
    schema = components.of(operation.query.__name__)
    required = schema.get("required", ())
    parameters = []
    for name, member in schema["properties"].items():
        member = dict(member)
        marks = {key: member.pop(key) for key in ("x-provenance", "x-basis") if key in member}
        if isinstance(member.get("type"), list):
            member = _without_null(member)
        parameters.append(
            {"name": name, "in": "query", "required": name in required, "schema": _known(name, member), **marks}
        )
    return parameters


def _known(name: str, member: Schema) -> Schema:
    """Text fields of a query whose values are codes."""
    codes: Mapping[str, Iterable[str]] = {
        "asset": dict.fromkeys(code for codes in reference.RAMP_ASSETS.values() for code in codes),
        "fiat_currency": reference.FIATS,
    }
    return {"type": "string", "enum": list(codes[name])} if name in codes else member


def _without_null(member: Schema) -> Schema:
    member["type"] = member["type"][0]
    if "enum" in member:
        member["enum"] = [value for value in member["enum"] if value is not None]
    return member


def _query(name: str, schema: Schema, description: str, clause: str = _LISTS, **more: Any) -> Parameter:
    return {
        "name": name,
        "in": "query",
        "required": False,
        "description": description,
        # An empty value counts as absent (decision H6).
        **({"allowEmptyValue": True} if "enum" in schema else {}),
        "schema": schema,
        **more,
        "x-provenance": "specified",
        "x-basis": clause,
    }


def _list_parameters(listing: Listing, tag: str) -> list[Parameter]:
    whole = {"type": "integer", "minimum": 1}
    size = {**whole, "maximum": 100}
    parameters = [
        _query("page", {**whole, "default": 1}, "Which page; one beyond the last is empty."),
        _query("size", {**size, "default": 20}, "Records on a page."),
        _query("limit", size, "An alias of size, which wins when both are sent."),
    ]
    own = {filter_.name for filter_ in listing.filters}
    if listing.common:
        moment = {"type": "string", "pattern": _MOMENT}
        parameters += [
            _query("search", {"type": "string", "pattern": _SEARCH}, "Free text, upper and lower case alike."),
            _query("start_date", moment, "Created on or after: a day (from its start, UTC) or a timestamp."),
            _query("end_date", moment, "Created on or before: a day (to its end, UTC) or a timestamp."),
            _query(
                "sort_by",
                {"type": "string", "enum": list(listing.sortable), "default": "created_at"},
                "The field to sort by.",
            ),
            _query("sort_order", {"type": "string", "enum": ["desc", "asc"], "default": "desc"}, "Newest first."),
        ]
        if listing.statuses and "status" not in own:
            parameters.append(_several("status", list(listing.statuses), "One status, or several with commas.", _LISTS))
    parameters += [_filter(filter_, tag, listing.defaults) for filter_ in listing.filters]
    return parameters


def _several(name: str, choices: list[str], description: str, clause: str) -> Parameter:
    items = {"type": "string", "enum": choices}
    schema = {"type": "array", "items": items, "minItems": 1}
    return _query(name, schema, description, clause, style="form", explode=False)


def _filter(filter_: Filter | Bound, tag: str, defaults: Mapping[str, str]) -> Parameter:
    description = f"Only what has this {filter_.name}."
    default = {"default": defaults[filter_.name]} if filter_.name in defaults else {}
    if isinstance(filter_, Bound):
        schema: Schema = {"type": "string", "pattern": r"^([0-9]{1,18}(\.[0-9]{1,18})?)?$"}
        return _query(filter_.name, schema, "A bound of the amount, inclusive; a decimal number.", tag)
    if filter_.choices is None:
        return _query(filter_.name, {"type": "string"}, description, tag)
    if filter_.many:
        parameter = _several(filter_.name, list(filter_.choices), f"{description} Several with commas.", tag)
        if default:
            parameter["schema"]["default"] = [default["default"]]
        return parameter
    return _query(filter_.name, {"type": "string", "enum": list(filter_.choices), **default}, description, tag)
