"""JSON objects and headers that are kept for long as their texts, which the kernel packs."""

from __future__ import annotations

from typing import TypeAlias

import orjson

from simulator.engine.text.json import JsonObject, Shown, dumps
from simulator.kernel.fields import one_line
from simulator.kernel.texts import NO_HEADERS, NO_MEMBERS, HeadersText, JsonText


def json_text(value: Shown) -> JsonText:
    """The text of an object, always `NO_MEMBERS` for the empty one."""
    return JsonText(dumps(value)) if value else NO_MEMBERS


def object_of(text: JsonText) -> JsonObject:
    """The object of a text, made anew."""
    made: JsonObject = orjson.loads(text.read())
    return made


Pairs: TypeAlias = tuple[tuple[str, str], ...]
"""Names and values, in their order."""


def headers_text(headers: Pairs) -> HeadersText:
    """The text of headers, each on one line; always `NO_HEADERS` for none."""
    if not headers:
        return NO_HEADERS
    return HeadersText(dumps([(one_line(name), one_line(value)) for name, value in headers]))


def headers_of(text: HeadersText) -> Pairs:
    """The headers of a text."""
    return tuple((name, value) for name, value in orjson.loads(text.read()))
