"""Parameters of operations: what the path names, the query of lists and reads, request headers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, get_args, get_origin

from contracts.generator.provenance import clauses_of, component_name
from contracts.generator.requests.values import DAY
from contracts.generator.schemas import Components, Schema, without_guesses
from simulator.engine.records.listing import Bound, Filter, Listing
from simulator.engine.rows.operation import Operation
from simulator.engine.text.shapes import Choices, explained, guesses
from simulator.providers.ramp.provider import ROOMS

Parameter = dict[str, Any]

_TIME = r"([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,9})?)?"
_MOMENT = rf"^({DAY}(T{_TIME}(Z|[+-]([01][0-9]|2[0-3]):?[0-5][0-9])?)?)?$"
"""A day or a timestamp, in UTC where it names no zone; an empty value counts as absent (decision H6)."""

_SEARCH = r"^([\s\S]{2,})?$"
"""At least two characters, or an empty value."""


@dataclass(frozen=True)
class _PathId:
    """An id in a path: its form, the clause that gives its beginning, which it is, the decision on the rest of it."""

    pattern: str
    clause: str
    text: str
    guess: str = "id-form"


_IDS_OF_ANOTHER_FORM: Mapping[str, _PathId] = {
    "/fees/{id}": _PathId("^fee_[0-9a-z_]+$", "Fee product", "The id of the fee product.", "R9"),
    "/transactions/{id}": _PathId("^txn_[0-9a-z]+$", "Ramp transaction", "The id of the transaction, of any type."),
    "/orders/{order_id}": _PathId(
        "^(ORD-[0-9]{8,}|txn_[0-9a-z]+)$",
        "Order",
        "The number of the order, or the id of its transaction.",
        "order-number",
    ),
    "/wallets/{id}/lightning/{lightning_id}": _PathId(
        "^ln_[0-9a-z]+$", "Lightning entry", "The id of the Lightning entry, which is one of this wallet."
    ),
}
"""Ids that are more than a prefix and letters, or that nothing is read by."""


@cache
def _path_ids() -> Mapping[str, _PathId]:
    """Every id in a path, by the path up to it.

    What a path is read by begins with the prefix of the kind that the read answers.
    """
    clauses = clauses_of(ROOMS)
    kinds = {shape: kind for room in ROOMS for kind in room.kinds for shape in _members(kind.shape())}
    found = dict(_IDS_OF_ANOTHER_FORM)
    for row in (row for room in ROOMS for row in room.operations if row.method == "GET" and row.path.endswith("}")):
        if row.path not in found and row.answer is not None:
            shape = _members(row.answer())[0]
            kind, clause = kinds[shape], str(clauses[component_name(shape.__name__)])
            text = f"The id of the {kind.name.replace('_', ' ')}."
            found[row.path] = _PathId(f"^{kind.prefix}[0-9a-z]+$", clause, text)
    return found


def _members(shape: Any) -> tuple[Any, ...]:
    """The shapes of a union, however it is wrapped, or the one that it is."""
    if get_origin(shape) is Annotated:
        return _members(get_args(shape)[0])
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
            **guesses(dict.fromkeys(("maxLength", "minLength", "pattern"), "H14")),
        },
        "x-provenance": "specified",
        "x-basis": "Endpoints",
    },
}


def path_parameters(path: str) -> list[Parameter]:
    found = []
    for match in re.finditer(r"\{(\w+)\}", path):
        named = _path_ids()[path[: match.end()]]
        found.append(
            {
                "name": match[1],
                "in": "path",
                "required": True,
                "description": named.text,
                "schema": {"type": "string", "pattern": named.pattern, **guesses({"pattern": named.guess})},
                "x-provenance": "specified",
                "x-basis": named.clause,
            }
        )
    return found


def header_parameters(operation: Operation) -> list[Parameter]:
    takes_key = operation.takes_key
    return [{"$ref": "#/components/parameters/IdempotencyKey"}] if takes_key else []


def query_parameters(operation: Operation, components: Components) -> list[Parameter]:
    if isinstance(operation.query, Listing):
        parameters = _list_parameters(operation.query, operation.tag)
        if operation.query.basis != "specified":
            for parameter in parameters:
                parameter |= {"x-provenance": "assumed", "x-basis": operation.query.basis}
        return parameters
    if operation.query is None:
        return []
    schema = components.of(operation.query().__name__)
    required = schema.get("required", ())
    parameters = []
    for name, member in schema["properties"].items():
        member = dict(member)
        marks = {key: member.pop(key) for key in ("description", "x-provenance", "x-basis") if key in member}
        if isinstance(member.get("type"), list):
            member = _without_null(member)
        parameters.append(
            {
                "name": name,
                "in": "query",
                "required": name in required,
                **({} if name in required else _MAY_BE_EMPTY),
                "schema": member,
                "x-basis": operation.tag,
                **marks,
            }
        )
    return parameters


def _without_null(member: Schema) -> Schema:
    member["type"] = member["type"][0]
    if "enum" in member:
        member["enum"] = [value for value in member["enum"] if value is not None]
    return without_guesses(member, "nullable")


_MAY_BE_EMPTY = {"allowEmptyValue": True}
"""An empty value counts as absent (decision H6)."""


def _query(name: str, schema: Schema, description: str, clause: str = _LISTS, **more: Any) -> Parameter:
    return {
        "name": name,
        "in": "query",
        "required": False,
        "description": description,
        **_MAY_BE_EMPTY,
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
        _query("limit", size, "An alias of size. Where both are sent, size counts and limit is not looked at."),
    ]
    own = {filter_.name for filter_ in listing.filters}
    if listing.common:
        moment = {"type": "string", "pattern": _MOMENT}
        parameters += [
            _query(
                "search",
                {"type": "string", "pattern": _SEARCH},
                f"Free text of at least two characters, upper and lower case alike, found in {listing.searched}.",
            ),
            _query("start_date", moment, "Created on or after: a day (from its start, UTC) or a timestamp."),
            _query("end_date", moment, "Created on or before: a day (to its end, UTC) or a timestamp."),
            _query("sort_by", {**_one_of(_sorts(listing)), "default": "created_at"}, "The field to sort by."),
            _query("sort_order", {**_one_of(_ORDERS), "default": "desc"}, "Which end of the order comes first."),
        ]
        if listing.statuses and "status" not in own:
            choices = _one_of(listing.statuses, listing.assumed_statuses)
            parameters.append(_several("status", choices, "One status, or several with commas.", _LISTS))
    parameters += [_filter(filter_, tag, listing.defaults) for filter_ in listing.filters]
    return parameters


_ORDERS = {"desc": "The newest or largest first.", "asc": "The oldest or smallest first."}
_SORTS = {
    "created_at": "When it was created.",
    "updated_at": "When it last changed.",
    "amount": "Its amount.",
    "name": "Its name.",
}


def _sorts(listing: Listing) -> Choices:
    """The fields that a list can be sorted by, with what they are where all of them are known."""
    return (
        {name: _SORTS[name] for name in listing.sorts}
        if listing.sorts.keys() <= _SORTS.keys()
        else tuple(listing.sorts)
    )


def _several(name: str, choice: Schema, description: str, clause: str) -> Parameter:
    schema = {"type": "array", "items": choice, "minItems": 1}
    return _query(name, schema, description, clause, style="form", explode=False)


def _one_of(choices: Choices, assumed: str = "") -> Schema:
    """One of these values, which rest on a decision where `assumed` names one."""
    values = {"type": "string", "enum": list(choices)}
    told = explained(values, choices) if isinstance(choices, Mapping) else values
    return {**told, **guesses({"enum": assumed} if assumed else {})}


def _filter(filter_: Filter | Bound, tag: str, defaults: Mapping[str, str]) -> Parameter:
    default = {"default": defaults[filter_.name]} if filter_.name in defaults else {}
    if isinstance(filter_, Bound):
        # Text as it stands in the address; whoever sets it gives a number.
        schema: Schema = {
            "type": "string",
            "pattern": r"^([0-9]{1,18}(\.[0-9]{1,18})?)?$",
            "x-parsed-as": "number",
            **guesses({"pattern": "H7"}),
        }
        return _query(filter_.name, schema, filter_.description, tag)
    if filter_.choices is None:
        return _query(filter_.name, {"type": "string"}, filter_.description, tag)
    choice = _one_of(filter_.choices, filter_.assumed)
    if filter_.many:
        parameter = _several(filter_.name, choice, f"{filter_.description} Several with commas.", tag)
        if default:
            parameter["schema"]["default"] = [default["default"]]
        return parameter
    return _query(filter_.name, {**choice, **default}, filter_.description, tag)
