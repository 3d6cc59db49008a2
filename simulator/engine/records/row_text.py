"""Encodes many rows as JSON strings, like the codec but in half the time: orjson reads the fields, and Python code runs
only for types that orjson does not support.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from operator import attrgetter
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import orjson

from simulator.engine.records.codec import TAG, Codec
from simulator.kernel.dataclass import dataclass
from simulator.kernel.texts import HeadersText, JsonText, Text

_PLAIN = (str, int, bool, NoneType, Decimal, bytes, Text, JsonText, HeadersText)
"""The types that orjson writes itself, or passes to the fallback function, without preparation."""
_TAGGED = f'"{TAG}"'.encode()


@dataclass(frozen=True)
class _Form:
    """The field names of a class, a getter for all values, and functions that convert some fields for orjson."""

    names: tuple[str, ...]
    values: Callable[[Any], tuple[Any, ...]]
    special: Mapping[str, Callable[[Any], object]]


class RowTexts:
    """Writes rows as JSON. Parsing the JSON gives the same value as the codec's `encode`."""

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self._forms: dict[type[object], _Form] = {}

    def dumps(self, value: object) -> bytes:
        """Return the JSON for a value whose rows were passed through `ready`. Raise `TypeError` if a row cannot
        contain the value.
        """
        return orjson.dumps(value, self._asked, orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME)

    def ready(self, row: Any) -> object:
        """Return a row in the form that `dumps` accepts, converted if orjson would not write it like the codec."""
        kind = type(row)
        if kind is tuple:
            return {TAG: "tuple", "items": [self.ready(item) for item in row]}
        return self._codec.encode(row) if kind in (dict, list, float) else row

    def _asked(self, value: Any) -> object:
        """Convert a value that orjson does not support, such as a record or `Decimal`, to a JSON value."""
        if type(value) is JsonText and _TAGGED not in (raw := value.read()):
            return orjson.Fragment(raw)
        if type(value) in _PLAIN:
            return self._codec.encode(value)
        form = self._forms.get(type(value))
        if form is None:
            form = self._forms[type(value)] = self._form_of(type(value))
        written = dict(zip(form.names, form.values(value), strict=True))
        for name, ready in form.special.items():
            written[name] = ready(written[name])
        return written

    def _form_of(self, kind: type[object]) -> _Form:
        members = self._codec.members_of(kind)
        name = self._codec.name_of(kind)
        special: dict[str, Callable[[Any], object]] = {TAG: lambda _: name}
        special |= {name: self.ready for name, (_, hint, _) in members.items() if not _is_plain(hint)}
        special |= {name: _after(word, self.ready) for name, (_, _, word) in members.items() if word}
        own = [attribute for attribute, _, _ in members.values()]
        return _Form((TAG, *members), attrgetter("__class__", *own), special)


def _after(word: str, ready: Callable[[Any], object]) -> Callable[[Any], object]:
    return lambda texts: ready(tuple(word + text for text in texts))


def _is_plain(hint: Any) -> bool:
    """Return True if `dumps` can write values with this type annotation without preparation by `ready`."""
    origin = get_origin(hint)
    if origin is Annotated:
        return _is_plain(get_args(hint)[0])
    if origin in (UnionType, Union):
        return all(map(_is_plain, get_args(hint)))
    return origin is Literal or hint in _PLAIN or hasattr(hint, "__dataclass_fields__")
