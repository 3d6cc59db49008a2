"""What control calls take besides bodies that are models: their queries, and the ways to advance the clock."""

from __future__ import annotations

from collections.abc import Mapping

from simulator.contract.schemas import Schema
from simulator.wire.advice import SEVERITIES

_TEXT: Schema = {"type": "string"}
_WHOLE: Schema = {"type": "integer", "minimum": 0}
_ENVIRONMENT: Schema = {"type": "string", "enum": ["sandbox", "production"]}
_WORLD: Schema = {"type": "string", "description": "A world by its id; `*` means all that the server ever had."}
_SECONDS: Schema = {"type": "number", "minimum": 0}

QUERIES: Mapping[str, Mapping[str, Schema]] = {
    "list_resources": {"type": _TEXT, "user_id": _TEXT},
    "requests": {"method": _TEXT, "path": _TEXT, "status": _WHOLE},
    "events": {"type": _TEXT, "object_id": _TEXT, "environment": _ENVIRONMENT},
    "wait_for_event": {"type": _TEXT, "object_id": _TEXT, "environment": _ENVIRONMENT, "timeout": _SECONDS},
    "deliveries": {
        "event_id": _TEXT,
        "endpoint_id": _TEXT,
        "status": {"type": "string", "enum": ["succeeded", "failed"]},
    },
    "inbox_wait": {"timeout": _SECONDS, "count": _WHOLE},
    "recording": {"since": _TEXT, "name": _TEXT},
    "advice": {"severity": {"type": "string", "enum": list(SEVERITIES)}, "kind": _TEXT},
    "coverage": {"world": _WORLD},
    "coverage_page": {"world": _WORLD},
    "stream": {"last_event_id": _TEXT},
}
"""The query parameters of control calls besides `limit`, which every list takes."""

_DURATION: Schema = {
    "anyOf": [
        {"type": "string", "examples": ["500ms", "20s", "2h30m", "3d", "PT90S"]},
        {"type": "number", "minimum": 0, "description": "Seconds."},
    ]
}

ADVANCE: Schema = {
    "title": "Advance",
    "oneOf": [
        {"type": "object", "required": ["by"], "properties": {"by": _DURATION}},
        {"type": "object", "required": ["to"], "properties": {"to": {"type": "string", "format": "date-time"}}},
        {"type": "object", "required": ["to_next_timer"], "properties": {"to_next_timer": {"const": True}}},
        {
            "type": "object",
            "required": ["until"],
            "properties": {
                "until": {
                    "oneOf": [
                        {
                            "type": "object",
                            "required": ["event"],
                            "properties": {"event": _TEXT, "object_id": {"type": ["string", "null"]}},
                        },
                        {
                            "type": "object",
                            "required": ["resource", "status"],
                            "properties": {"resource": _TEXT, "status": _TEXT},
                        },
                    ]
                }
            },
        },
    ],
}
"""The body of POST /_simulator/clock/advance: exactly one way to say how far."""
