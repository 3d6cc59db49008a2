"""The body of an advance, which is no model: the ways to say how far."""

from __future__ import annotations

from typing import Any, TypeAlias

Schema: TypeAlias = dict[str, Any]

_TEXT: Schema = {"type": "string"}

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
        {
            "type": "object",
            "required": ["to"],
            "properties": {"to": {"type": "string", "format": "date-time"}},
        },
        {
            "type": "object",
            "required": ["to_next_timer"],
            "properties": {"to_next_timer": {"const": True}},
        },
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
                },
                "horizon": {**_DURATION, "description": "How far to look at most; 3652d unless given."},
                "partial": {"type": "boolean", "description": "200 with reached false instead of 409 not_reached."},
            },
        },
    ],
}
"""The body of POST /_simulator/clock/advance: exactly one way to say how far."""
