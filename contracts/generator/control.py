"""`contracts/control.yaml`: the control interface under /_simulator, made from its rows and from the action table."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from contracts.generator.forms import prune
from contracts.generator.provenance import pascal
from contracts.generator.releases import CONTROL, version
from contracts.generator.schemas import REF, Components, Schema, any_of
from simulator.engine.clients.address import CONTROL_BASE
from simulator.engine.control.operation import LIMIT, TAGS, ControlOperation
from simulator.engine.rows.action import ActionTable
from simulator.engine.text.fields import Body, Nothing
from simulator.engine.text.shapes import ENVIRONMENT, explained, listed, with_names
from simulator.host import vocabulary

_DESCRIPTION = """\
How a person, a test or a dashboard steers the simulator and sees inside. No part of the simulated service. Bound to a \
loopback address it needs no token; elsewhere it needs the control token. An action has the same name and parameters \
here, in scenario files and on the command line."""

ERRORS = {
    "400": "Missing or malformed: invalid_request, missing_parameter, invalid_parameter, invalid_scenario.",
    "401": "The control token is missing or wrong: unauthorized.",
    "403": "Another host or origin than the server's own: forbidden.",
    "404": "No such world, resource, scenario or path: not_found.",
    "408": "The time passed without what was waited for: timeout.",
    "409": "Not now: invalid_transition (with the allowed actions), clock_busy, not_reached and advance_cancelled "
    "(with the receipt), already_exists, invalid_state.",
    "503": "The store cannot keep what calls do, and nothing was done: storage_unavailable; not_ready from GET /ready. "
    "A world that cannot be read: world_unreadable.",
    "507": "The world has as many objects as its quota_objects lets it have, or the control token as many worlds as "
    "it may, quotas of the simulator: simulator_quota_exceeded.",
}


def build(rows: Iterable[ControlOperation], table: ActionTable) -> Schema:
    """The document."""
    rows = tuple(rows)
    parameter_models: set[type[Body]] = {row.parameters() for entries in table.rows.values() for row in entries}
    bodies = [row.body for row in rows if row.takes == "json" and row.body is not Nothing]
    accepted = [model for row in rows if isinstance(row.accepts, tuple) for model in row.accepts]
    distinct: set[type] = {*bodies, *parameter_models, *accepted}
    models = sorted(distinct, key=_place)
    components = Components([row.answer for row in rows if row.answer is not None], models, None)
    actions = _actions(components, table)
    components.add("ControlError", _ERROR)
    paths: dict[str, Schema] = {}
    for row in rows:
        paths.setdefault(CONTROL_BASE + row.path, {})[row.method.lower()] = _operation(row, components, actions)
    document: Schema = {
        "openapi": "3.1.0",
        "info": {
            "title": "Control interface of the simulator",
            "version": version(CONTROL),
            "description": _DESCRIPTION,
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "http://127.0.0.1:8642", "description": "The simulator on this machine"}],
        "security": [{}, {"control_token": []}],
        "tags": [{"name": name, "description": text} for name, text in TAGS.items()],
        "paths": paths,
        "components": {
            "securitySchemes": {"control_token": {"type": "http", "scheme": "bearer"}},
            "parameters": _PARAMETERS,
            "responses": {
                f"Error{status}": {
                    "description": text,
                    "content": {"application/json": {"schema": {"$ref": f"{REF}ControlError"}}},
                }
                for status, text in ERRORS.items()
            },
            "schemas": components.schemas,
        },
    }
    prune(document)
    return document


_PARAMETERS: Schema = {
    "World": {
        "name": "X-Simulator-World",
        "in": "header",
        "description": "The world this call is about.",
        "schema": {"type": "string", "default": "default"},
    },
    "Environment": {
        "name": "X-Simulator-Environment",
        "in": "header",
        "description": "Where an action without a target applies.",
        "schema": {
            **with_names({"type": "string", **listed(ENVIRONMENT)}, vocabulary().names),
            "default": next(iter(vocabulary().provider.environments)),
        },
    },
    "Limit": {
        "name": "limit",
        "in": "query",
        "description": "The newest that many, oldest first.",
        "schema": {"type": "integer", "minimum": 0},
    },
}

_PATHS = {
    "/worlds/id": "The id of the world.",
    "/snapshots/id": "The id of the snapshot.",
    "/actions/action": "The name of the action.",
    "/resources/id": "The id of the resource, of any kind.",
    "/scenarios/name": "The name of the scenario.",
    "/faults/id": "The id of the fault.",
    "/events/id": "The id of the event.",
    "/inbox/name": "The name of the inbox; it is made by its first call.",
}
"""Descriptions of path parameters of several calls. A parameter of one call is described there."""

_ERROR: Schema = {
    "title": "ControlError",
    "description": "What every control call answers that is not done.",
    "type": "object",
    "additionalProperties": False,
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "description": "What is wrong with the call, or why it cannot be done now.",
            "required": ["code", "message"],
            "properties": {
                "code": {"type": "string", "description": "What is wrong; branch on this."},
                "message": {"type": "string", "description": "The same in words, for people."},
                "param": {"type": "string", "description": "The parameter that is wrong, dotted."},
                "allowed": {"type": "array", "items": {"type": "string"}, "description": "Actions that are legal now."},
                "doc_url": {"type": "string", "description": "Where the call is described, on this server."},
                "receipt": {"$ref": f"{REF}AdvanceReceipt", "description": "What was done before it stopped."},
                "steps": {
                    "type": "array",
                    "items": {},
                    "description": "What had been done on the way when it stopped.",
                },
                "errors": {
                    "type": "array",
                    "description": "Every problem of a scenario; lines and columns from 1 where it was sent as a file.",
                    "items": {
                        "type": "object",
                        "required": ["path", "message"],
                        "properties": {
                            "path": {"type": "string", "description": "The place in the document."},
                            "line": {"type": "integer", "minimum": 1, "description": "Its line."},
                            "column": {"type": "integer", "minimum": 1, "description": "Its column."},
                            "message": {"type": "string", "description": "What is wrong there."},
                        },
                    },
                },
            },
        }
    },
}


def _place(model: type) -> str:
    return f"{model.__module__}.{model.__qualname__}"


def _actions(components: Components, table: ActionTable) -> dict[str, Schema]:
    """For every action a named schema of its body: the target, and the parameters of its rows."""
    found: dict[str, Schema] = {}
    for name, rows in table.rows.items():
        variants: list[Schema] = []
        for row in rows:
            schema = components.of(_model_name(components, row.parameters()))
            schema.pop("title", None)
            properties = schema.get("properties", {})
            required = list(schema.get("required", []))
            if row.kinds:
                target = {"type": "string", "description": f"The id of: {', '.join(row.kinds)}."}
                properties = {"target": target, **properties}
                required = ["target", *required]
            own: Schema = {"type": "object", "additionalProperties": False, "properties": properties}
            if required:
                own["required"] = required
            if own not in variants:
                variants.append(own)
        title = _action_name(name)
        found[name] = components.add(title, {"title": title, "description": rows[0].does, **any_of(variants)})
    return found


def _action_name(name: str) -> str:
    return pascal(name) + "Action"


def _does(components: Components, action: str) -> str:
    does: str = components.schemas[_action_name(action)]["description"]
    return f"{does[:1].upper()}{does[1:]}."


def _model_name(components: Components, model: type) -> str:
    reference: str = components.body(model)["$ref"]
    return reference.removeprefix(REF)


def _operation(row: ControlOperation, components: Components, actions: dict[str, Schema]) -> Schema:
    shown: Schema = {"operationId": row.name, "summary": row.summary, "tags": [row.tag]}
    if row.description:
        shown["description"] = row.description
    if row.open:
        shown["security"] = [{}]
    parameters = _parameters(row, components, actions)
    if parameters:
        shown["parameters"] = parameters
    body = _body(row, components, actions)
    if body is not None:
        shown["requestBody"] = body
    statuses = ["400", "401", "403", "404", "409", "503", "507"] if not row.open else ["400", "403", "404", "503"]
    if "timeout" in (row.query or {}):
        statuses.append("408")
    shown["responses"] = {
        str(row.status): _success(row, components),
        **{status: {"$ref": f"#/components/responses/Error{status}"} for status in sorted(statuses)},
    }
    return shown


def _parameters(row: ControlOperation, components: Components, actions: dict[str, Schema]) -> list[Any]:
    parameters: list[Any] = []
    for name in re.findall(r"\{(\w+)\}", row.path):
        own: Schema = {"type": "string"}
        if name == "action":
            own = explained(own | {"enum": list(actions)}, {one: _does(components, one) for one in actions})
        text = _PATHS.get(row.path.partition("{")[0] + name, f"Its {name}.")
        parameters.append({"name": name, "in": "path", "required": True, "description": text, "schema": own})
    for name, schema in with_names(row.query or {}, vocabulary().names).items():
        if name in LIMIT:
            parameters.append({"$ref": "#/components/parameters/Limit"})
        else:
            schema = dict(schema)
            said = {"description": schema.pop("description")} if "description" in schema else {}
            parameters.append({"name": name, "in": "query", **said, "schema": schema})
    if row.scope == "world":
        parameters.append({"$ref": "#/components/parameters/World"})
    if row.by_environment:
        parameters.append({"$ref": "#/components/parameters/Environment"})
    return parameters


def _body(row: ControlOperation, components: Components, actions: dict[str, Schema]) -> Schema | None:
    if row.method in ("GET", "DELETE"):
        return None
    if "{action}" in row.path:
        schema = any_of(list(actions.values()))
        examples = {name: {"value": {"target": "txn_…"}} for name in ("payment_arrives", "complete")}
        return {"content": {"application/json": {"schema": schema, "examples": examples}}}
    if row.accepts:
        return {"required": True, "content": {kind: {"schema": _accepted(row, components)} for kind in row.sent_as}}
    if row.takes == "bytes":
        return {"content": {"*/*": {"schema": {}}}}
    if row.body is Nothing:
        return None
    required = any(field.is_required() for field in row.body.model_fields.values())
    return {"required": required, "content": {"application/json": {"schema": components.body(row.body)}}}


def _accepted(row: ControlOperation, components: Components) -> Schema:
    """The schema of a body that the handler judges itself; one with a title has a name of its own."""
    if isinstance(row.accepts, tuple):
        return any_of([components.body(model) for model in row.accepts])
    schema = dict(row.accepts)
    return components.add(schema["title"], schema) if "title" in schema else schema


def _success(row: ControlOperation, components: Components) -> Schema:
    response: Schema = {"description": row.summary}
    if row.status != 204:
        response["content"] = {row.media_type.partition(";")[0]: {"schema": components.answer(row.answer)}}
    return response
