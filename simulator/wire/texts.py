"""JSON objects and headers that are kept for long as their texts, which the kernel packs."""

from __future__ import annotations

from typing import TypeAlias

import orjson

from simulator.kernel.texts import NO_HEADERS, NO_MEMBERS, HeadersText, JsonText
from simulator.wire.json import JsonObject, Shown, dumps


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
    """The text of headers, always `NO_HEADERS` for none."""
    return HeadersText(dumps(headers)) if headers else NO_HEADERS


def headers_of(text: HeadersText) -> Pairs:
    """The headers of a text."""
    return tuple((name, value) for name, value in orjson.loads(text.read()))
