"""JSON as the service writes and reads it (decisions H7, H12, S18).

Decimals are written as exact numbers. What is read must be UTF-8, finite, and nested at most 32 deep.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, TypeAlias

import orjson

JsonObject: TypeAlias = dict[str, Any]

MAX_DEPTH = 32
MAX_BYTES = 1024 * 1024


_SPARE = 64 * 1024
"""orjson hands out the buffer it wrote into, 4 KB for the smallest text: one shorter than this is copied out of it."""


def dumps(value: Any) -> bytes:
    """UTF-8 JSON in the order of the members, without white space; it takes no more memory than it is long."""
    raw = orjson.dumps(value, default=_encode)
    return bytes(memoryview(raw)) if len(raw) < _SPARE else raw


def pretty(value: Any) -> str:
    """Indented JSON for people."""
    return orjson.dumps(value, default=_encode, option=orjson.OPT_INDENT_2).decode()


def _encode(value: Any) -> Any:
    if isinstance(value, Decimal):
        return orjson.Fragment(f"{value:f}")
    raise TypeError(f"cannot be written as JSON: {type(value).__name__}")


def loads(raw: bytes | str) -> Any:
    """The parsed value; ValueError when it is no JSON, or too large or deep to be taken."""
    if len(raw) > MAX_BYTES:
        raise ValueError(f"larger than {MAX_BYTES} bytes")
    value = orjson.loads(raw)
    if _deeper_than(value, MAX_DEPTH):
        raise ValueError(f"nested more than {MAX_DEPTH} deep")
    return value


def _deeper_than(value: Any, depth: int) -> bool:
    level = [value]
    for _ in range(depth):
        level = [child for node in level for child in _children(node)]
        if not level:
            return False
    return any(isinstance(node, dict | list) for node in level)


def _children(node: Any) -> list[Any]:
    if isinstance(node, dict):
        return list(node.values())
    return node if isinstance(node, list) else []


def canonical(value: Any) -> bytes:
    """The same bytes for equal JSON: member order does not matter, 1 and 1.0 are equal, 1 and true are not (H14)."""
    return orjson.dumps(_canonical(value), option=orjson.OPT_SORT_KEYS)


def _canonical(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _canonical(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_canonical(item) for item in value]
    if isinstance(value, float) and value.is_integer() and -(2**63) <= value < 2**64:
        return int(value)
    return value
