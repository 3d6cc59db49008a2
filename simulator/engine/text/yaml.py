"""Writes JSON-like data as YAML in block style. Strings that YAML 1.1 or 1.2 would not read as strings are quoted as in
JSON, so that any parser reads exactly the written data. The output is the same on every machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal

import orjson

from simulator.engine.text.terminal import escaped

_PLAIN = re.compile(r"[A-Za-z/$][A-Za-z0-9_./{}$()-]*(?: [A-Za-z0-9(][A-Za-z0-9_./{}();'’-]*)*", re.ASCII)
_UNPRINTABLE = re.compile(
    "[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
    "|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
"""Characters that must be escaped in YAML, and characters that change the direction of displayed text."""
_LONGEST_KEY = 1000
"""The maximum length of a key. In YAML, longer keys must follow a question mark."""
_WORDS = frozenset(("true", "false", "null", "yes", "no", "on", "off", "y", "n", "none"))


def yaml_text(value: object) -> str:
    """Return the document as YAML that ends with a newline."""
    return "\n".join(_block(value, 0)) + "\n"


def _block(value: object, indent: int) -> Iterator[str]:
    pad = "  " * indent
    if isinstance(value, dict) and value:
        for name, member in value.items():
            key = _scalar(str(name))
            if len(key) <= _LONGEST_KEY:
                yield from _entry(f"{pad}{key}:", member, indent)
            else:
                yield f"{pad}? {key}"
                yield from _entry(f"{pad}:", member, indent)
    elif isinstance(value, list | tuple) and value:
        for item in value:
            yield from _item(pad, item, indent)
    else:
        yield pad + _scalar(value)


def _entry(head: str, member: object, indent: int) -> Iterator[str]:
    if isinstance(member, dict | list | tuple) and member:
        if _is_flat(member):
            yield f"{head} {_flow(member)}"
        else:
            yield head
            yield from _block(member, indent + 1)
    else:
        yield f"{head} {_scalar(member)}"


def _item(pad: str, item: object, indent: int) -> Iterator[str]:
    if not isinstance(item, dict | list | tuple) or not item:
        yield f"{pad}- {_scalar(item)}"
        return
    if _is_flat(item):
        yield f"{pad}- {_flow(item)}"
        return
    lines = _block(item, indent + 1)
    yield f"{pad}- {next(lines).lstrip()}"
    yield from lines


def _is_flat(value: dict[str, object] | list[object] | tuple[object, ...]) -> bool:
    return (
        isinstance(value, list | tuple)
        and all(not isinstance(item, dict | list | tuple) for item in value)
        and len(_flow(value)) <= 100
    )


def _flow(value: Iterable[object]) -> str:
    return "[" + ", ".join(_scalar(item, flow=True) for item in value) + "]"


def _scalar(value: object, *, flow: bool = False) -> str:
    if isinstance(value, str):
        plain = _PLAIN.fullmatch(value) is not None and value.lower() not in _WORDS
        if plain and not (flow and re.search(r"[{}]", value)):
            return value
        return _UNPRINTABLE.sub(escaped, orjson.dumps(value).decode())
    if isinstance(value, float):
        # Without a decimal point, the number would be read as an integer that is too large.
        return f"{Decimal(repr(value)):f}" if abs(value) < 1e16 else f"{value:.17e}"
    return str(value) if type(value) is int else orjson.dumps(value).decode()
