"""JSON objects and headers that are stored as strings, which the kernel packs."""

from __future__ import annotations

from typing import TypeAlias

import orjson

from simulator.engine.text.json import JsonObject, Shown, dumps
from simulator.kernel.fields import one_line
from simulator.kernel.texts import NO_HEADERS, NO_MEMBERS, HeadersText, JsonText


def json_text(value: Shown) -> JsonText:
    """Return the string of an object, always `NO_MEMBERS` for the empty one."""
    return JsonText(dumps(value)) if value else NO_MEMBERS


def object_of(text: JsonText) -> JsonObject:
    """Return a new object parsed from its string."""
    made: JsonObject = orjson.loads(text.read())
    return made


Pairs: TypeAlias = tuple[tuple[str, str], ...]
"""Names and values, in their order."""


def headers_text(headers: Pairs) -> HeadersText:
    """Return the string of headers, each on one line; always `NO_HEADERS` for none."""
    if not headers:
        return NO_HEADERS
    return HeadersText(dumps([(one_line(name), one_line(value)) for name, value in headers]))


def headers_of(text: HeadersText) -> Pairs:
    """Return the headers of a string."""
    return tuple((name, value) for name, value in orjson.loads(text.read()))
