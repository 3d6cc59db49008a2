"""`scenario.schema.json`: the language of scenario files for editors, made from its pydantic models."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic.json_schema import JsonSchemaValue

from contracts.generator.schemas import unmarked
from contracts.generator.texts import explained
from simulator.engine.rows.action import Action, ActionTable
from simulator.engine.scenario.language.action_checks import names_of
from simulator.engine.scenario.language.schema import model
from simulator.engine.scenario.play.script import CREATED, REQUEST
from simulator.engine.text.json import dumps, loads
from simulator.engine.text.shapes import with_names
from simulator.host import vocabulary


def json_schema(actions: ActionTable) -> JsonSchemaValue:
    """The JSON Schema of scenario files, with the actions and their parameters in it."""
    made = model(vocabulary()).model_json_schema(by_alias=True, schema_generator=explained({}))
    schema = unmarked(_published(with_names(made, vocabulary().names)))
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Scenario",
        "description": "The actions of third parties on the simulated service, and when they happen.",
        **{key: value for key, value in schema.items() if key not in ("title", "description")},
    }
    definitions = schema["$defs"]
    events = {"enum": [*vocabulary().events, CREATED, REQUEST]}
    _narrow(definitions["Rule"], "on", {"anyOf": [events, {"type": "array", "items": events}]})
    _narrow(definitions["ExpectEvent"], "event", {"enum": list(vocabulary().events)})
    _narrow(definitions["ExpectDelivery"], "delivery", {"enum": list(vocabulary().events)})
    members = definitions["Fault"]["properties"]
    for name in ("skip", "times", "probability"):  # what faults of both sorts have stands last
        members[name] = members.pop(name)
    _narrow(definitions["AnswerInstead"], "code", {"enum": list(vocabulary().errors)})
    _narrow(definitions["Call"], "code", {"anyOf": [{"enum": list(vocabulary().errors)}, {"type": "null"}]})
    for name in ("Call", "DriveAction"):
        definitions[name]["properties"]["environment"]["default"] = next(iter(vocabulary().provider.environments))
    for name in ("Step", "TimelineStep", "DriveAction"):
        _add_actions(definitions[name], actions)
    return schema


_PUBLISHED = {"DriveCall": "Call", "RuleStep": "Step"}
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


def _narrow(definition: JsonSchemaValue, name: str, values: JsonSchemaValue) -> None:
    """Let a member have these values alone; what it means stays."""
    member = definition["properties"][name]
    definition["properties"][name] = {**values, "description": member["description"]}


def _add_actions(definition: JsonSchemaValue, actions: ActionTable) -> None:
    names = {"enum": list(actions.rows)}
    optional = "anyOf" in definition["properties"]["action"]
    _narrow(definition, "action", {"anyOf": [names, {"type": "null"}]} if optional else names)
    definition["allOf"] = [
        {
            "if": {"properties": {"action": {"const": name}}, "required": ["action"]},
            "then": {"properties": _parameters(rows)},
        }
        for name, rows in actions.rows.items()
    ]


def _parameters(rows: Iterable[Action]) -> JsonSchemaValue:
    """The parameters of an action with what they mean; any value, for a step may name one that is not known yet."""
    found: JsonSchemaValue = {}
    for row in rows:
        shown = row.parameters().model_json_schema(by_alias=True, schema_generator=explained({}))
        for name in names_of(row.parameters()):
            text = shown["properties"][name].get("description", "")
            said = found.get(name, {}).get("description", "")
            found[name] = {"description": f"{said} Or: {text}" if said and said != text else text}
    return found
