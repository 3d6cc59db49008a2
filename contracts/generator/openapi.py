"""`contracts/openapi.yaml`: the whole interface as OpenAPI 3.1, made from the operation, error and event tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from contracts.generator.errors import HEADERS as RESPONSE_HEADERS
from contracts.generator.errors import error_responses, success_headers
from contracts.generator.events import SHAPES, SIGNATURE_HEADERS, webhooks
from contracts.generator.evidence import ObservedCall
from contracts.generator.examples import Examples, named
from contracts.generator.links import links_of
from contracts.generator.naming import name_objects
from contracts.generator.parameters import HEADERS as REQUEST_HEADERS
from contracts.generator.parameters import header_parameters, path_parameters, query_parameters
from contracts.generator.provenance import TAGS, basis_of_status, clauses_of
from contracts.generator.requests import variants_of
from contracts.generator.schemas import REF, Components, Schema, any_of, mark, references
from simulator.assembly import ROOMS
from simulator.resources import reference
from simulator.wire.fields import Body, Nothing
from simulator.wire.operation import Operation

_DESCRIPTION = """\
The interface of a stablecoin ramp and wallet service, as the simulator serves it. Every operation, field, status and \
error code carries `x-provenance`: `specified` is what the service's specification promises (`x-basis` names the \
clause), `assumed` is what the simulator fills in (`x-basis` names the entry in assumptions.md). Amounts are decimal \
strings, times are ISO 8601 in UTC. A response carries the fields written here and no others. Any POST but the token \
exchange may carry an Idempotency-Key. A path outside this contract answers 404, a method it does not know 405."""


def operations() -> tuple[Operation, ...]:
    return tuple(row for room in ROOMS for row in room.operations)


def bodies_of(operation: Operation) -> tuple[type[Body], ...]:
    """The models that a body of this operation is read by."""
    if not operation.takes_body:
        return ()
    return operation.bodies or (operation.body,)


def make_components(rows: Iterable[Operation]) -> Components:
    """Every shape and body of the interface."""
    rows = tuple(rows)
    answers = [row.answer for row in rows if row.answer is not None]
    bodies = [model for row in rows for model in bodies_of(row)]
    queries = [row.query for row in rows if isinstance(row.query, type)]
    return Components([*answers, *SHAPES], [*bodies, *queries], clauses_of(ROOMS))


def build(examples: Examples, rows: tuple[Operation, ...] | None = None) -> Schema:
    """The document."""
    rows = operations() if rows is None else rows
    components = make_components(rows)
    for name, schema in components.schemas.items():
        _mark_request(name, schema)
    responses: dict[str, Schema] = {}
    paths: dict[str, Schema] = {}
    for row in rows:
        paths.setdefault(row.path, {})[row.method.lower()] = _operation(row, components, responses, examples)
    hooks = webhooks(components, examples.events)
    name_objects(components.schemas)
    document: Schema = {
        "openapi": "3.1.0",
        "info": {
            "title": "Stablecoin ramp and wallet service",
            "version": "1",
            "summary": "Ramps, a wallet balance, deposit wallets, beneficiaries, recurring payments, webhooks.",
            "description": _DESCRIPTION,
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [
            {"url": "http://127.0.0.1:8642/v1", "description": "Sandbox"},
            {"url": "http://127.0.0.1:8642/production/v1", "description": "Simulated production"},
        ],
        "security": [{"bearer": []}],
        "tags": [{"name": name, "description": text} for name, text in TAGS.items()],
        "paths": paths,
        "webhooks": hooks,
        "components": {
            "securitySchemes": {
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The access_token of POST /auth/token.",
                    "x-provenance": "specified",
                    "x-basis": "Authentication",
                }
            },
            "parameters": {
                **REQUEST_HEADERS,
                **{header["name"].replace("-", ""): dict(header) for header in SIGNATURE_HEADERS},
            },
            "headers": dict(RESPONSE_HEADERS),
            "responses": dict(sorted(responses.items())),
            "schemas": components.schemas,
        },
    }
    prune(document)
    return document


def _mark_request(name: str, schema: Schema) -> None:
    for member in schema.get("properties", {}).values():
        mark(member, "")


def _operation(row: Operation, components: Components, responses: dict[str, Schema], examples: Examples) -> Schema:
    assumed = row.basis != "specified"
    shown: Schema = {
        "operationId": row.name,
        "summary": row.summary,
        **({"description": row.description} if row.description else {}),
        "tags": [row.tag],
        "x-provenance": "assumed" if assumed else "specified",
        "x-basis": row.basis if assumed else row.tag,
    }
    if not row.token:
        shown["security"] = []
    parameters = [*path_parameters(row.path), *query_parameters(row, components), *header_parameters(row)]
    if row.path == "/rates":
        shown["x-network-assets"] = {network: list(codes) for network, codes in reference.RAMP_ASSETS.items()}
    if parameters:
        shown["parameters"] = examples.parameters(row, parameters)
    calls = examples.successes(row)
    body = _body(row, components, calls)
    if body is not None:
        shown["requestBody"] = body
    shown["responses"] = {
        str(row.status): _success(row, components, calls),
        **error_responses(row, components, responses, examples),
    }
    return shown


def _body(row: Operation, components: Components, calls: list[ObservedCall]) -> Schema | None:
    models = bodies_of(row)
    if not models or models == (Nothing,):
        return None
    name = "".join(part.capitalize() for part in row.name.split("_")) + "Request"
    variants = variants_of(row.name, components)
    if variants is None:
        schema = any_of([components.body(model) for model in models])
        for reference_ in references(schema):
            _basis(components.schemas[reference_.removeprefix(REF)], row.tag)
    else:
        if row.method == "PATCH":
            _drop_defaults(variants)
        else:
            _admit_null(variants)
        _basis(variants, row.tag)
        for one in variants.get("oneOf", ()):
            _basis(components.schemas[one["$ref"].removeprefix(REF)], row.tag)
        schema = components.add(name, variants)
    media: Schema = {"schema": schema}
    sent = [call for call in calls if call.body is not None]
    if sent:
        media["examples"] = named(sent, lambda call: call.body)
    required = any(field.is_required() for model in models for field in model.model_fields.values())
    return {"required": required, "content": {"application/json": media}}


def _admit_null(variants: Schema) -> None:
    """An optional field that is null counts as absent (decision H4; in PATCH it is a value)."""
    for variant in variants.get("anyOf", [variants]):
        for name, member in variant.get("properties", {}).items():
            if name in variant.get("required", ()) or member.get("type") not in ("string", "boolean"):
                continue
            if "const" in member:
                member["anyOf"] = [{"type": member.pop("type"), "const": member.pop("const")}, {"type": "null"}]
                continue
            member["type"] = [member["type"], "null"]
            if "enum" in member:
                member["enum"] = [*member["enum"], None]


def _drop_defaults(variants: Schema) -> None:
    """What a PATCH does not name stays as it is."""
    for member in variants["properties"].values():
        member.pop("default", None)


def _basis(schema: Any, clause: str) -> None:
    """Name the clause of request fields, which is that of their operation."""
    if isinstance(schema, dict):
        for name, member in schema.items():
            if name == "properties":
                for field in member.values():
                    if mark(field, clause)["x-provenance"] == "specified":
                        field.setdefault("x-basis", clause)
            _basis(member, clause)
    elif isinstance(schema, list):
        for item in schema:
            _basis(item, clause)


def _success(row: Operation, components: Components, calls: list[ObservedCall]) -> Schema:
    provenance, basis = basis_of_status(row.method, row.status)
    response: Schema = {
        "description": "Done; no body." if row.status == 204 else f"{row.summary[:1].upper()}{row.summary[1:]}.",
        "headers": success_headers(row),
        "x-provenance": provenance,
        "x-basis": basis,
    }
    if row.answer is not None:
        media: Schema = {"schema": components.answer(row.answer)}
        if calls:
            media["examples"] = named(calls, lambda call: call.answer)
        response["content"] = {"application/json": media}
    links = links_of(row.name)
    if links:
        response["links"] = links
    return response


def prune(document: Schema) -> None:
    """Leave out the schemas that nothing refers to, and sort the rest."""
    schemas: dict[str, Schema] = document["components"].pop("schemas")
    used: set[str] = set()
    waiting = _named(document)
    while waiting:
        name = waiting.pop()
        if name not in used:
            used.add(name)
            waiting += _named(schemas[name])
    document["components"]["schemas"] = {name: schemas[name] for name in sorted(used)}


def _named(value: Any) -> list[str]:
    return [reference_.removeprefix(REF) for reference_ in references(value) if reference_.startswith(REF)]
