"""Every status an operation can answer, with the codes it can carry: its own, and what all operations share."""

from __future__ import annotations

from collections.abc import Mapping

from contracts.generator.examples import Examples
from contracts.generator.provenance import pascal
from contracts.generator.schemas import Components, Schema
from simulator.engine.records.listing import Listing
from simulator.engine.rows.operation import Operation
from simulator.engine.text.fields import Body
from simulator.engine.text.shapes import guesses
from simulator.host import vocabulary

REFERENCE = "#/components/responses/"

HEADERS: Mapping[str, Schema] = {
    "XRequestId": {
        "description": "Names this call; an error envelope carries the same as request_id.",
        "required": True,
        "schema": {"type": "string", "pattern": "^req_[0-9a-z]+$"},
        "x-provenance": "assumed",
        "x-basis": "H11",
    },
    "IdempotentReplayed": {
        "description": "`true` when this is the stored answer of an earlier request with the same Idempotency-Key.",
        "schema": {"type": "string", "const": "true"},
        "x-provenance": "assumed",
        "x-basis": "H14",
    },
    "RetryAfter": {
        "description": "Seconds to wait before the next try.",
        "schema": {"type": "string", "pattern": "^[0-9]+$"},
        "x-provenance": "specified",
        "x-basis": "Errors",
    },
    "Allow": {
        "description": "The methods that are possible here.",
        "required": True,
        "schema": {"type": "string", "pattern": "^[A-Z]+(, [A-Z]+)*$"},
        "x-provenance": "assumed",
        "x-basis": "H3",
    },
}

_MEANINGS = {
    400: "Malformed request or invalid parameter.",
    401: "Authentication failed or the token expired.",
    403: "Authenticated but not allowed.",
    404: "The resource does not exist in this environment.",
    405: "Another method than this path knows.",
    409: "Conflicts with the present state of the resource.",
    422: "A valid request that cannot be processed.",
    429: "Too many requests.",
    500: "An unexpected error; retry with backoff.",
    503: "The service, a partner or the network is unavailable; retry with backoff.",
}

_REPLAYED = frozenset({200, 201, 404, 409, 422})


def header(name: str) -> Schema:
    return {"$ref": f"#/components/headers/{name}"}


def success_headers(operation: Operation) -> dict[str, Schema]:
    return _headers(operation.status, replays(operation))


def replays(operation: Operation) -> bool:
    """Whether answers are stored under an idempotency key."""
    return operation.takes_key


def _headers(status: int, stored: bool) -> dict[str, Schema]:
    headers = {"X-Request-Id": header("XRequestId")}
    if stored and status in _REPLAYED:
        headers["Idempotent-Replayed"] = header("IdempotentReplayed")
    if status in (429, 503):
        headers["Retry-After"] = header("RetryAfter")
    if status == 405:
        headers["Allow"] = header("Allow")
    return headers


def codes_of(operation: Operation) -> dict[int, list[str]]:
    """The codes that an operation can answer, by status, in the order of the catalogue."""
    codes = {"rate_limited", "internal_error", "service_unavailable", *operation.errors}
    codes |= _malformed(operation)
    if operation.token:
        codes |= {"unauthorized", "forbidden", "production_access_required"}
    if operation.money:
        codes.add("kyc_required")
    if "{" in operation.path and not any(vocabulary().errors[code].status == 404 for code in operation.errors):
        codes.add("not_found")
    if replays(operation):
        codes.add("idempotency_conflict")
    if not operation.token:
        codes.discard("rate_limited")
    by_status: dict[int, list[str]] = {}
    for code, row in vocabulary().errors.items():
        if code in codes:
            by_status.setdefault(row.status, []).append(code)
    by_status[405] = ["invalid_request"]
    return dict(sorted(by_status.items()))


def _malformed(operation: Operation) -> set[str]:
    codes = {"invalid_parameter"}  # for whatever is unknown, under the setting strict (H6)
    if operation.refuses_with:
        return codes | {operation.refuses_with}
    if operation.takes_body:
        codes.add("invalid_request")
        if any(_requires(model) for model in operation.bodies() or (operation.body(),)):
            codes.add("missing_parameter")
    if isinstance(operation.query, Listing):
        if operation.query.common:
            codes.add("invalid_date_range")
    elif operation.query is not None and _requires(operation.query()):
        codes.add("missing_parameter")
    return codes


def _requires(model: type[Body]) -> bool:
    return any(field.is_required() for field in model.model_fields.values())


_CLAUSE = "Pagination envelope and error envelope"


def _field(description: str, **more: object) -> Schema:
    marks = {"x-provenance": "specified", "x-basis": _CLAUSE}
    return {"type": "string", "description": description, **more, **marks}


ERROR: Schema = {
    "title": "Error",
    "description": "The body of every error response. `x-codes` of a status lists its codes.",
    "type": "object",
    "additionalProperties": False,
    "required": ["error"],
    "properties": {
        "error": {
            "description": "What went wrong.",
            "type": "object",
            "additionalProperties": False,
            "required": ["code", "message"],
            "properties": {
                "code": _field("What went wrong, for programs: branch on it."),
                "message": _field("What went wrong, for people."),
                "param": _field("The parameter it is about, as a dotted path."),
                "request_id": _field(
                    "Names the call, as X-Request-Id does; quote it to support.",
                    pattern="^req_[0-9a-z]+$",
                    **guesses({"pattern": "H11"}),
                ),
            },
            "x-provenance": "specified",
            "x-basis": _CLAUSE,
        }
    },
}


def _refused(components: Components, codes: list[str]) -> Schema:
    """The error envelope with one of these codes, and with the id that the simulator gives every call."""
    own = {
        "required": ["request_id"],
        "properties": {"code": {"enum": codes}, "request_id": guesses({"required": "H11"})},
    }
    return {"allOf": [components.add("Error", ERROR), {"properties": {"error": own}}]}


_GATES = {"kyc_required": "H18", "production_access_required": "H18"}
"""Codes whose operations a decision names, but for those that declare them themselves."""


def _about(operation: Operation, code: str, status: int) -> Schema:
    """The cause of a code, and what it rests on that this operation answers it."""
    row = vocabulary().errors[code]
    if status == 405:
        return {"cause": "the path does not know this method", "x-provenance": "assumed", "x-basis": "H3"}
    basis = _guess(operation, code)
    marks = (
        {"x-provenance": "assumed", "x-basis": basis} if basis else {"x-provenance": "specified", "x-basis": "Errors"}
    )
    return {"cause": row.cause, **marks}


def _reads(operation: Operation) -> bool:
    """Whether a value of the request can be refused as an invalid parameter, without the setting strict."""
    if operation.refuses_with:
        return False
    bodies = (*operation.bodies(), operation.body()) if operation.takes_body else ()
    return operation.query is not None or any(model.model_fields for model in bodies)


def _guess(operation: Operation, code: str) -> str:
    """The decision by which an operation answers a code, "" where the specification says so."""
    basis = operation.errors.get(code, "specified")
    if basis != "specified":
        return basis
    row = vocabulary().errors[code]
    if row.basis != "specified":
        return row.basis
    if code == "invalid_parameter" and not _reads(operation):
        return "H6"
    return _GATES.get(code, "") if code not in operation.errors else ""


def error_responses(
    operation: Operation, components: Components, responses: dict[str, Schema], examples: Examples
) -> dict[str, Schema]:
    """Return the error responses of an operation. Shared responses are components in `responses`.

    A response with evidence from this operation is inline, with that evidence. So is a response with another basis.
    """
    seen, anywhere = examples.refusals(operation), examples.refusals_of_all()
    shown: dict[str, Schema] = {}
    for status, codes in codes_of(operation).items():
        stored = replays(operation) and status in _REPLAYED
        name = "".join(pascal(code) for code in codes) if len(codes) <= 3 else f"{pascal(operation.name)}{status}"
        if status == 405:
            name = "MethodNotAllowed"
        own = {} if status == 405 else {code: seen[code] for code in codes if code in seen}
        shared = {} if status == 405 else {code: anywhere[code] for code in codes if code in anywhere}
        about = {code: _about(operation, code, status) for code in codes}
        response = _response(status, about, _refused(components, codes), stored, own or shared)
        name = f"{name}Stored" if stored else name
        if own or responses.get(name, response) != response:
            shown[str(status)] = response
        else:
            responses[name] = response
            shown[str(status)] = {"$ref": REFERENCE + name}
    return shown


def _response(status: int, about: Mapping[str, Schema], schema: Schema, stored: bool, examples: Schema) -> Schema:
    """A response with these codes; it is promised where one of them is."""
    marks = [{key: code[key] for key in ("x-provenance", "x-basis")} for code in about.values()]
    return {
        "description": _MEANINGS[status],
        "headers": _headers(status, stored),
        "content": {"application/json": {"schema": schema, **({"examples": examples} if examples else {})}},
        "x-codes": dict(about),
        **next((mark for mark in marks if mark["x-provenance"] == "specified"), marks[0]),
    }
