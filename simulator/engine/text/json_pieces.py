"""Large JSON read piece by piece, so that nobody waits while all of it is parsed at once."""

from __future__ import annotations

import re

import orjson

from simulator.kernel.dataclass import dataclass

_UP_TO_BRACKET = re.compile(rb'(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+")*+[\[\]{}]', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Piece:
    """An object or array that is not parsed yet; ValueError when it is read and is no JSON."""

    raw: bytes

    def read(self) -> object:
        return orjson.loads(self.raw)


def read_down_to(raw: bytes, depth: int) -> object:
    """The value of a JSON text, every object and array at that depth (the outermost is 1) a `Piece`; ValueError."""
    pieces: list[Piece] = []
    return _filled(orjson.loads(_cut(raw, depth, pieces)), depth, pieces)


def _cut(raw: bytes, wanted: int, pieces: list[Piece]) -> bytes:
    """The text with every container at that depth replaced by an array of its number."""
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
    """The parsed frame with the pieces in their places: whatever stands that deep is one of them."""
    if not isinstance(value, dict | list):
        return value
    if depth == 1:
        return pieces[value[0]]
    if isinstance(value, list):
        return [_filled(item, depth - 1, pieces) for item in value]
    return {key: _filled(item, depth - 1, pieces) for key, item in value.items()}
