"""Splits long work into chunks, so that long lists in one world do not delay calls to other worlds."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any, TypeAlias, TypeVar

from simulator.engine.records import indexes
from simulator.engine.text.json import dumps
from simulator.kernel.dataclass import dataclass

Item = TypeVar("Item")
Found = TypeVar("Found")

SLICE = 200
"""The number of items in a chunk. A chunk takes a few milliseconds."""

PIECE = 1024 * 1024
"""The maximum number of bytes that are copied, masked or sent at once."""


@dataclass(frozen=True)
class Pieces:
    """A long response body, split between list items. Each piece can be masked and sent separately."""

    parts: tuple[bytes, ...]

    def __len__(self) -> int:
        return sum(map(len, self.parts))


Content: TypeAlias = bytes | Pieces
"""The body of a response."""


async def let_others_through(slices: Iterable[object]) -> None:
    """Do a slice of long work for each item of an iterator. Other calls run between the slices."""
    for _ in slices:
        await asyncio.sleep(0)


async def indexed(find: Callable[[], Found]) -> Found:
    """Return the result of `find`. If `find` needs an index that is not built yet, build the index first."""
    while True:
        try:
            return find()
        except indexes.Unindexed as missing:
            await let_others_through(missing.build)


async def first_of(items: Iterable[Item], wanted: Callable[[Item], bool], limit: int | None) -> list[Item]:
    """Return the first `limit` items for which `wanted` returns True. If `limit` is None, return all such items.

    Other calls run meanwhile, so `items` must be a copy or immutable.
    """
    found: list[Item] = []
    for number, item in enumerate(items, 1):
        if limit is not None and len(found) >= limit:
            break
        if wanted(item):
            found.append(item)
        if number % SLICE == 0:
            await asyncio.sleep(0)
    return found


async def json_list(
    items: Iterable[Item], written: Callable[[Item], bytes], opening: bytes = b'{"data":[', /, **more: object
) -> Content:
    """Return the JSON text of an object that contains a list of the items, followed by the fields in `more`.

    `opening` is the JSON before the first item. Other calls run meanwhile, so `items` must be a copy or immutable.
    """
    parts, rows, size = [], list[bytes](), 0
    for number, item in enumerate(items, 1):
        row = written(item)
        rows.append(row)
        size += len(row)
        if size >= PIECE:
            parts.append(opening + b",".join(rows))
            rows, size, opening = [], 0, b","
        if number % SLICE == 0 or not rows:
            await asyncio.sleep(0)
    opening = opening if rows or not parts else b""
    further = b"".join(b',"%b":%b' % (name.encode(), dumps(value)) for name, value in more.items())
    parts.append(opening + b",".join(rows) + b"]" + further + b"}")
    return parts[0] if len(parts) == 1 else Pieces(tuple(parts))


async def in_pieces(body: Content, change: Callable[[bytes], bytes]) -> Content:
    """Apply `change` to each piece of a body, and return the new body. Other calls run between the pieces."""
    if isinstance(body, bytes):
        return change(body)
    parts = []
    for part in body.parts:
        parts.append(change(part))
        await asyncio.sleep(0)
    return Pieces(tuple(parts))


async def send_in_pieces(send: Callable[[dict[str, Any]], Awaitable[None]], body: Content) -> None:
    """Send a response body in pieces of at most `PIECE` bytes."""
    sent, length = 0, len(body)
    for chunk in _chunks(body):
        sent += len(chunk)
        await send({"type": "http.response.body", "body": chunk, "more_body": sent < length})
        if sent < length:
            await asyncio.sleep(0)


def _chunks(body: Content) -> Iterator[bytes]:
    if not body:
        yield b""
    for part in body.parts if isinstance(body, Pieces) else (body,):
        for start in range(0, len(part), PIECE):
            yield part[start : start + PIECE] if len(part) > PIECE else part
