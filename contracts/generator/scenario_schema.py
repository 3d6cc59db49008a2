"""`scenario.schema.json`: the language of scenario files for editors, made from its pydantic models."""

from __future__ import annotations

from pydantic.json_schema import JsonSchemaValue

from contracts.generator.schemas import unmarked
from simulator.scenario.parameters import names_of
from simulator.scenario.schema import Scenario
from simulator.scenario.script import CREATED, REQUEST
from simulator.wire.actions import ActionTable
from simulator.wire.errors import CATALOGUE
from simulator.wire.events import EVENT_TYPES
from simulator.wire.json import dumps, loads


def json_schema(actions: ActionTable) -> JsonSchemaValue:
    """The JSON Schema of scenario files, with the actions and their parameters in it."""
    schema = unmarked(_published(Scenario.model_json_schema(by_alias=True)))
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Scenario",
        "description": "What the outside world does to the simulated service, and when.",
        **{key: value for key, value in schema.items() if key not in ("title", "description")},
    }
    definitions = schema["$defs"]
    events = {"enum": [*EVENT_TYPES, CREATED, REQUEST]}
    definitions["Rule"]["properties"]["on"] = {"anyOf": [events, {"type": "array", "items": events}]}
    definitions["ExpectEvent"]["properties"]["event"] = {"enum": list(EVENT_TYPES)}
    definitions["ExpectDelivery"]["properties"]["delivery"] = {"enum": list(EVENT_TYPES)}
    members = definitions["Fault"]["properties"]
    for name in ("skip", "times", "probability"):  # what faults of both sorts have stands last
        members[name] = members.pop(name)
    definitions["AnswerInstead"]["properties"]["code"] = {"enum": list(CATALOGUE)}
    definitions["Call"]["properties"]["code"] = {"anyOf": [{"enum": list(CATALOGUE)}, {"type": "null"}]}
    for name in ("Step", "TimelineStep", "DriveAction"):
        _add_actions(definitions[name], actions)
    return schema


_PUBLISHED = {"DriveCall": "Call", "InitialState": "WorldState", "RuleStep": "Step"}
"""Classes that the published schema knows by another name: editors and other files may refer to it."""


def _published(schema: JsonSchemaValue) -> JsonSchemaValue:
    text = dumps(schema)
    for name, published in _PUBLISHED.items():
        text = text.replace(f'"#/$defs/{name}"'.encode(), f'"#/$defs/{published}"'.encode())
    found: JsonSchemaValue = loads(text)
    names = {_PUBLISHED.get(name, name): definition for name, definition in found["$defs"].items()}
    for name in _PUBLISHED.values():
        names[name]["title"] = name
    return {**found, "$defs": dict(sorted(names.items()))}


def _add_actions(definition: JsonSchemaValue, actions: ActionTable) -> None:
    names = {"enum": list(actions.rows)}
    optional = "anyOf" in definition["properties"]["action"]
    definition["properties"]["action"] = {"anyOf": [names, {"type": "null"}]} if optional else names
    definition["allOf"] = [
        {
            "if": {"properties": {"action": {"const": name}}, "required": ["action"]},
            "then": {"properties": {parameter: {} for row in rows for parameter in names_of(row.parameters())}},
        }
        for name, rows in actions.rows.items()
    ]
