"""`contracts/openapi.yaml`: the whole interface as OpenAPI 3.1, made from the operation, error and event tables."""

from __future__ import annotations

from collections.abc import Iterable

from contracts.generator.errors import HEADERS as RESPONSE_HEADERS
from contracts.generator.errors import error_responses, success_headers
from contracts.generator.events import SHAPES, SIGNATURE_HEADERS, webhooks
from contracts.generator.evidence import ObservedCall
from contracts.generator.examples import Examples, named
from contracts.generator.forms import STRICT, prune
from contracts.generator.links import links_of
from contracts.generator.named import MARK, at_operations
from contracts.generator.parameters import HEADERS as REQUEST_HEADERS
from contracts.generator.parameters import header_parameters, path_parameters, query_parameters
from contracts.generator.provenance import TAGS, basis_links, basis_of_status, clauses_of, pascal, unions_of
from contracts.generator.releases import version
from contracts.generator.requests.conditions import CONDITIONS
from contracts.generator.requests.fields import FIELDS
from contracts.generator.requests.flat import flat
from contracts.generator.schemas import REF, Components, Schema, mark, reached
from simulator.engine.records.listing import Listing
from simulator.engine.rows.operation import Operation
from simulator.engine.text.fields import Body, Nothing
from simulator.providers.ramp import reference
from simulator.providers.ramp.provider import ROOMS

_DESCRIPTION = """\
The interface of a stablecoin ramp and wallet service, as the simulator serves it. Every operation, field, status and \
error code carries `x-provenance`: `specified` is what the service's specification promises (`x-basis` names the \
clause), `assumed` is what the simulator fills in (`x-basis` names the entry in assumptions.md). `x-assumed` lists the \
constraints of a specified field that are guesses, `x-assumed-basis` the entry of each. `x-assumptions` lists further \
entries that an operation or event rests on. `x-basis-links` has the page of a running simulator where each clause and \
entry is described. Amounts are decimal strings, \
times are ISO 8601 in UTC. {form} Any POST but the token exchange may carry an Idempotency-Key. A path outside this \
contract answers 404, a method it does not know 405."""


def operations() -> tuple[Operation, ...]:
    return tuple(row for room in ROOMS for row in room.operations)


def bodies_of(operation: Operation) -> tuple[type[Body], ...]:
    """The models that a body of this operation is read by."""
    if not operation.takes_body:
        return ()
    return operation.bodies() or (operation.body(),)


def make_components(rows: Iterable[Operation]) -> Components:
    """Every shape and body of the interface."""
    rows = tuple(rows)
    answers = [row.answer() for row in rows if row.answer is not None]
    bodies = [model for row in rows for model in bodies_of(row)]
    queries = [row.query() for row in rows if row.query is not None and not isinstance(row.query, Listing)]
    components = Components([*answers, *SHAPES], [*bodies, *queries], clauses_of(ROOMS), FIELDS)
    components.name_unions(unions_of(ROOMS))
    return components


def build(examples: Examples, rows: tuple[Operation, ...] | None = None) -> Schema:
    """The strict document, of which `forms` makes the others."""
    rows = operations() if rows is None else rows
    assumptions = at_operations(operations())
    components = make_components(rows)
    responses: dict[str, Schema] = {}
    paths: dict[str, Schema] = {}
    for row in rows:
        paths.setdefault(row.path, {})[row.method.lower()] = _operation(
            row, components, responses, examples, assumptions.get(row.name, ())
        )
    for name, conditions in CONDITIONS.items():
        if name in components.schemas:
            components.schemas[name].setdefault("allOf", []).extend(conditions)
    hooks = webhooks(components, examples.events)
    document: Schema = {
        "openapi": "3.1.0",
        "info": {
            "title": "Stablecoin ramp and wallet service",
            "version": version(),
            "summary": "Ramps, a wallet balance, deposit wallets, beneficiaries, recurring payments, webhooks.",
            "description": _DESCRIPTION.format(form=STRICT),
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
    document["x-basis-links"] = basis_links(document)
    return document


def _operation(
    row: Operation,
    components: Components,
    responses: dict[str, Schema],
    examples: Examples,
    assumptions: tuple[str, ...],
) -> Schema:
    assumed = row.basis != "specified"
    shown: Schema = {
        "operationId": row.name,
        "summary": row.summary,
        **({"description": row.description} if row.description else {}),
        "tags": [row.tag],
        "x-provenance": "assumed" if assumed else "specified",
        "x-basis": row.basis if assumed else row.tag,
        **({MARK: list(assumptions)} if assumptions else {}),
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
    name = pascal(row.name) + "Request"
    flat(components, [components.body(model)["$ref"].removeprefix(REF) for model in models], name)
    components.schemas[name].setdefault("description", f"The body of {row.method} {row.path}.")
    media: Schema = {"schema": {"$ref": REF + name}}
    for part in reached(media, components.schemas):
        for member in components.schemas[part].get("properties", {}).values():
            if mark(member, row.tag)["x-provenance"] == "specified":
                member.setdefault("x-basis", row.tag)
            if row.method == "PATCH":
                member.pop("default", None)  # what a PATCH does not name stays as it is
    sent = [call for call in calls if call.body is not None]
    if sent:
        media["examples"] = named(sent, lambda call: call.body)
    required = any(field.is_required() for model in models for field in model.model_fields.values())
    return {"required": required, "content": {"application/json": media}}


def _success(row: Operation, components: Components, calls: list[ObservedCall]) -> Schema:
    provenance, basis = basis_of_status(row.method, row.status)
    response: Schema = {
        "description": "Done; no body." if row.status == 204 else f"{row.summary[:1].upper()}{row.summary[1:]}.",
        "headers": success_headers(row),
        "x-provenance": provenance,
        "x-basis": basis,
    }
    if row.answer is not None:
        media: Schema = {"schema": _in_state(components.answer(row.answer()), row.statuses)}
        if calls:
            media["examples"] = named(calls, lambda call: call.answer)
        response["content"] = {"application/json": media}
    links = links_of(row.name)
    if links:
        response["links"] = links
    return response


def _in_state(schema: Schema, statuses: tuple[str, ...]) -> Schema:
    """An answer that shows one of these states, () for any."""
    return {"allOf": [schema, {"properties": {"status": {"enum": list(statuses)}}}]} if statuses else schema
