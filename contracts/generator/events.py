"""The contract of events: the envelope with its object for every type, as webhooks and as schemas of their own."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from contracts.generator.named import MARK, at_events
from contracts.generator.provenance import pascal
from contracts.generator.schemas import REF, Components, Schema
from simulator.engine.rows.event import EventType
from simulator.engine.text.shapes import guesses
from simulator.host import vocabulary

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def _narrowed(event: EventType) -> Schema | None:
    """Return restrictions of the object by the event type: possible statuses and required fields, or None.

    The statuses are an `enum`, because client generators can narrow it.
    """
    found = vocabulary().subjects[event.name]
    schema: Schema = {}
    field = found[0].kind.status_field
    statuses = dict.fromkeys((*(status for one in found for status in one.statuses), *event.also))
    if event.narrows:
        schema["properties"] = {field: {"type": "string", "enum": list(statuses)}}
    for path in event.requires:
        member, _, part = path.partition(".")
        if part:
            schema.setdefault("properties", {})[member] = {"required": [part]}
        else:
            schema.setdefault("required", []).append(member)
    return schema or None


SHAPES: tuple[Any, ...] = tuple(
    dict.fromkeys(shape for event in vocabulary().events for shape in vocabulary().shapes_of(event))
)
"""The shapes of the objects of all events."""


def component(event_type: str) -> str:
    """The name of an event's schema in the contract: `transaction.created` is TransactionCreatedEvent."""
    return pascal(event_type) + "Event"


def envelope(components: Components, event: EventType) -> Schema:
    """The whole body that a receiver gets."""
    clause = "Webhook endpoint and event"
    narrowed = _narrowed(event)
    subject = _subject(components, event.name)
    if narrowed is not None:
        subject = {"allOf": [subject, copy.deepcopy(narrowed)]}
    promised = event.name.startswith("transaction.")
    subject |= {"description": "The whole resource at the time of the event."}
    subject |= {"x-provenance": "specified", "x-basis": clause}
    if not promised:
        # That there is an object is promised, what it is of is not.
        subject |= {"type": "object", **guesses({"schema": "W8"})}

    def field(schema: Schema) -> Schema:
        return {**schema, "x-provenance": "specified", "x-basis": clause}

    return {
        "title": component(event.name),
        "description": event.description,
        "type": "object",
        "additionalProperties": False,
        "required": ["id", "type", "created_at", "livemode", "data"],
        "properties": {
            "id": field(
                {
                    "type": "string",
                    "pattern": "^evt_[!-~]+$",
                    "description": "Names the event: one that comes twice has the same id.",
                }
            ),
            "type": field({"type": "string", "const": event.name, "description": f"Always `{event.name}`."}),
            "created_at": field(
                {
                    "type": "string",
                    "format": "date-time",
                    "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$",
                    "description": "When it happened.",
                    **guesses({"pattern": "H10"}),
                }
            ),
            "livemode": field(
                {"type": "boolean", "description": "Whether it comes from production: false in the sandbox."}
            ),
            "data": field(
                {
                    "type": "object",
                    "description": "What the event is about.",
                    "additionalProperties": False,
                    "required": ["object"],
                    "properties": {"object": subject},
                }
            ),
        },
    }


def _subject(components: Components, event_type: str) -> Schema:
    options: list[Schema] = []
    for shape in vocabulary().shapes_of(event_type):
        schema = components.answer(shape)
        named = schema.get("$ref", "").removeprefix(REF)
        options += components.schemas.get(named, {}).get("oneOf") or schema.get("anyOf") or [schema]
    return components.any_of(options)


SIGNATURE_HEADERS: tuple[Mapping[str, Any], ...] = (
    {
        "name": "X-Signature",
        "in": "header",
        "required": True,
        "description": "Hex-encoded HMAC-SHA256 with the webhook key over `<X-Timestamp>.<raw body>`.",
        "schema": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        "x-provenance": "specified",
        "x-basis": "Delivery and signature",
    },
    {
        "name": "X-Timestamp",
        "in": "header",
        "required": True,
        "description": "Unix time in milliseconds at sending; refuse what is off by more than 5 minutes.",
        "schema": {"type": "string", "pattern": "^[0-9]{13}$"},
        "x-provenance": "specified",
        "x-basis": "Delivery and signature",
    },
)


def webhooks(components: Components, examples: Mapping[str, Any]) -> Schema:
    """The `webhooks` of the contract, one entry for each event type; their envelopes are named components."""
    shown: Schema = {}
    assumptions = at_events()
    for name, event in vocabulary().events.items():
        reference = components.add(component(name), envelope(components, event))
        media: Schema = {"schema": reference}
        if name in examples:
            media["examples"] = {"envelope": {"value": examples[name]}}
        shown[name] = {
            "post": {
                "operationId": f"receive_{name.replace('.', '_')}",
                "summary": f"{event.sent_when[:1].upper()}{event.sent_when[1:]}",
                "description": f"{event.description} Answer 2xx within 10 seconds; anything else is tried again.",
                "tags": ["Events"],
                "parameters": [
                    {"$ref": "#/components/parameters/XSignature"},
                    {"$ref": "#/components/parameters/XTimestamp"},
                ],
                "security": [],
                "requestBody": {"required": True, "content": {"application/json": media}},
                "responses": {
                    "2XX": {"description": "Received. Anything else, or 10 seconds without an answer, is tried again."}
                },
                "x-provenance": "specified",
                "x-basis": "Event types",
                **({MARK: list(assumptions[name])} if assumptions[name] else {}),
            }
        }
    return shown
