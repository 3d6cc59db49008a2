"""JSON objects and headers that are stored as strings, which the kernel compresses."""

from __future__ import annotations

from typing import TypeAlias

import orjson

from simulator.engine.text.json import JsonObject, Shown, dumps
from simulator.kernel.fields import one_line
from simulator.kernel.texts import NO_HEADERS, NO_MEMBERS, HeadersText, JsonText


def json_text(value: Shown) -> JsonText:
    """Return a JSON object as a string. All empty objects share the string `NO_MEMBERS`."""
    return JsonText(dumps(value)) if value else NO_MEMBERS


def object_of(text: JsonText) -> JsonObject:
    """Parse a JSON object from its string. Each call returns a new object."""
    made: JsonObject = orjson.loads(text.read())
    return made


Pairs: TypeAlias = tuple[tuple[str, str], ...]
"""Header names and values, in order."""


def headers_text(headers: Pairs) -> HeadersText:
    """Return headers as a string, each on one line. Without headers, return the shared string `NO_HEADERS`."""
    if not headers:
        return NO_HEADERS
    return HeadersText(dumps([(one_line(name), one_line(value)) for name, value in headers]))


def headers_of(text: HeadersText) -> Pairs:
    """Return the headers from their string."""
    return tuple((name, value) for name, value in orjson.loads(text.read()))
