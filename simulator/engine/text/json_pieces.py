"""Parses large JSON in pieces, so that other requests run in between."""

from __future__ import annotations

import re

import orjson

from simulator.kernel.dataclass import dataclass

_UP_TO_BRACKET = re.compile(rb'(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+")*+[\[\]{}]', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Piece:
    """An object or array that is parsed when it is read. `read` raises `ValueError` if its JSON is invalid."""

    raw: bytes

    def read(self) -> object:
        return orjson.loads(self.raw)


def read_down_to(raw: bytes, depth: int) -> object:
    """Parse JSON, but only down to the given depth. Raise `ValueError` if the input is not JSON. Every object and array
    at that depth is replaced with a `Piece`. The depth of the outermost value is 1.
    """
    pieces: list[Piece] = []
    return _filled(orjson.loads(_cut(raw, depth, pieces)), depth, pieces)


def _cut(raw: bytes, wanted: int, pieces: list[Piece]) -> bytes:
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
                pieces.append(Piece(raw[start:end]))
                copied = end
            depth -= 1
    return b"".join([*parts, raw[copied:]])


def _filled(value: object, depth: int, pieces: list[Piece]) -> object:
    """Return a copy of the parsed outer value in which each placeholder at this depth is replaced with its `Piece`."""
    if not isinstance(value, dict | list):
        return value
    if depth == 1:
        return pieces[value[0]]
    if isinstance(value, list):
        return [_filled(item, depth - 1, pieces) for item in value]
    return {key: _filled(item, depth - 1, pieces) for key, item in value.items()}
