"""JSON objects that are kept for long as their texts, which the kernel packs."""

from __future__ import annotations

import orjson

from simulator.kernel.texts import NO_MEMBERS, JsonText
from simulator.wire.json import JsonObject, Shown, dumps


def json_text(value: Shown) -> JsonText:
    """The text of an object."""
    return JsonText(dumps(value)) if value else NO_MEMBERS


def object_of(text: JsonText) -> JsonObject:
    """The object of a text, made anew."""
    made: JsonObject = orjson.loads(text.read())
    return made
