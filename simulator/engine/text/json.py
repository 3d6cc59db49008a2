"""JSON as the service writes and reads it: exact decimals, UTF-8, at most 32 levels deep (decisions H7, H12, S18)."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from itertools import islice
from math import isfinite
from typing import Any, TypeAlias

import orjson

from simulator.kernel.fields import one_line
from simulator.kernel.patterns import compile_late
from simulator.kernel.texts import NO_HEADERS, NO_MEMBERS, HeadersText, JsonText

JsonObject: TypeAlias = dict[str, Any]
Shown: TypeAlias = Mapping[str, Any]
"""A JSON object for output only, such as the TypedDict that a `render_*` function returns."""

MAX_DEPTH = 32
MAX_BYTES = 1024 * 1024

_TOKEN = compile_late(
    rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?', re.DOTALL
)
"""A pattern for a string, closed or not, or a number."""
_LARGEST = repr(sys.float_info.max).encode()
_INT64 = range(-(2**63), 2**64)
_INT64_DIGITS = 20
_LONGEST_POWER = 4_000
"""The length up to which an exponent is parsed. Python parses at most 4,300 digits."""
_SPARE = 64 * 1024
"""The size in bytes below which a result is copied. orjson returns its whole output buffer, which has at least 4 KB."""


def dumps(value: object) -> bytes:
    """Return UTF-8 JSON without whitespace. A short result is copied, to release the rest of orjson's buffer."""
    raw = orjson.dumps(value, default=_encode)
    return bytes(memoryview(raw)) if len(raw) < _SPARE else raw


def _encode(value: object) -> orjson.Fragment:
    if isinstance(value, Decimal):
        return orjson.Fragment(f"{value:f}")
    raise TypeError(f"cannot be written as JSON: {type(value).__name__}")


def loads(raw: bytes | str) -> Any:
    """Return the parsed value. Raise `ValueError` if the input is not JSON, too large or nested too deeply."""
    if len(raw) > MAX_BYTES:
        raise ValueError(f"larger than {MAX_BYTES} bytes")
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        value = _with_huge_numbers(raw, error)
    if _brackets(raw) > MAX_DEPTH and _is_deeper(value, MAX_DEPTH):
        raise ValueError(f"nested more than {MAX_DEPTH} levels deep")
    return value


def value_in(raw: bytes | str) -> Any:
    """Return the parsed value, or None if the input is not valid JSON."""
    try:
        return loads(raw) if raw else None
    except ValueError:
        return None


def object_in(raw: bytes | str) -> JsonObject:
    """Return the parsed object, or an empty dict if the input is not a JSON object."""
    value = value_in(raw)
    return value if isinstance(value, dict) else {}


def _with_huge_numbers(raw: bytes | str, error: orjson.JSONDecodeError) -> object:
    """Parse JSON in which numbers may be too large for a float, or raise the original error."""
    text = raw.encode() if isinstance(raw, str) else raw
    smaller = _TOKEN.sub(_bounded, text)
    if smaller == text:
        raise error
    return orjson.loads(smaller)


def _bounded(token: re.Match[bytes]) -> bytes:
    text = token[0]
    if text.startswith(b'"') or isfinite(float(text)):
        return text
    return b"-" * text.startswith(b"-") + _LARGEST


def _brackets(raw: bytes | str) -> int:
    """Return an upper bound for the nesting depth, in a tenth of the time of visiting every nested value."""
    return raw.count(b"{") + raw.count(b"[") if isinstance(raw, bytes) else raw.count("{") + raw.count("[")


def _is_deeper(value: object, depth: int) -> bool:
    deepest = next(islice(_levels(value), depth, None), [])
    return any(isinstance(node, dict | list) for node in deepest)


def _levels(value: object) -> Iterator[list[object]]:
    level = [value]
    while level:
        yield level
        level = [child for node in level for child in _children(node)]


def _children(node: object) -> Iterable[object]:
    return node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()


def with_texts(value: Any, change: Callable[[str], Any]) -> Any:
    """Return a JSON value in which `change` was applied to every string except field names."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {name: with_texts(item, change) for name, item in value.items()}
    return [with_texts(item, change) for item in value] if isinstance(value, list) else value


def canonical(raw: bytes | str) -> bytes:
    """Return a canonical form: equal JSON values have the same bytes (decision H14). The order of fields is ignored. 1
    and 1.0 are equal, but 1 and true are not. Numbers of any length are compared exactly. `raw` is JSON that `loads`
    accepts.
    """
    try:
        value = orjson.loads(raw)
        exact = not any(isinstance(node, float) for level in _levels(value) for node in level)
    except orjson.JSONDecodeError:
        exact = False
    if not exact:
        text = raw.decode() if isinstance(raw, bytes) else raw
        value = json.loads(text, parse_int=_exactly, parse_float=_exactly)
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def _exactly(text: str) -> int | orjson.Fragment:
    """Return a number in canonical form: a 64-bit integer unchanged, any other number as its digits and exponent."""
    mantissa, _, power = text.lower().partition("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    written = (whole + fraction).lstrip("0")
    digits = written.rstrip("0")
    if not digits:
        return 0
    if len(power) > _LONGEST_POWER:
        return orjson.Fragment(f"{sign}{digits}e{power.removeprefix('+')}")
    exponent = int(power or "0") + len(written) - len(digits) - len(fraction)
    if exponent >= 0 and len(digits) + exponent <= _INT64_DIGITS:
        number: int = int(f"{sign}{digits}") * 10**exponent
        if number in _INT64:
            return number
    return orjson.Fragment(f"{sign}{digits}e{exponent}")


_UP_TO_BRACKET = compile_late(rb'(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+")*+[\[\]{}]', re.DOTALL)


def read_down_to(raw: bytes, depth: int) -> object:
    """Parse JSON, but only down to the given depth. Raise `ValueError` if the input is not JSON. Every object and array
    at that depth is left as bytes. The depth of the outermost value is 1.
    """
    pieces: list[bytes] = []
    return _filled(orjson.loads(_cut(raw, depth, pieces)), depth, pieces)


def _cut(raw: bytes, wanted: int, pieces: list[bytes]) -> bytes:
    """Return the JSON in which each container at a depth is replaced with an array of its index in `pieces`."""
    parts: list[bytes] = []
    depth = copied = start = 0
    end = 0
    while (found := _UP_TO_BRACKET.match(raw, end)) is not None:
        end = found.end()
        if raw[end - 1] in b"[{":
            depth += 1
            if depth == wanted:
                start = end - 1
        else:
            if depth == wanted:
                parts += [raw[copied:start], b"[%d]" % len(pieces)]
                pieces.append(raw[start:end])
                copied = end
            depth -= 1
    return b"".join([*parts, raw[copied:]])


def _filled(value: object, depth: int, pieces: list[bytes]) -> object:
    """Return a copy of the parsed outer value in which each placeholder at this depth is replaced with its piece."""
    if not isinstance(value, dict | list):
        return value
    if depth == 1:
        return pieces[value[0]]
    if isinstance(value, list):
        return [_filled(item, depth - 1, pieces) for item in value]
    return {key: _filled(item, depth - 1, pieces) for key, item in value.items()}


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
