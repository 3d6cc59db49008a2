"""Long work that lets other calls through: one world's long lists make no other world wait."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

SLICE = 200
"""So many items are worked on in a few milliseconds."""


PIECE = 1024 * 1024


async def in_slices(items: Iterable[Item], work: Callable[[Item], Result]) -> list[Result]:
    """The result for every item; between the slices others have their turn, so the items are a copy or never change."""
    results: list[Result] = []
    for number, item in enumerate(items, 1):
        results.append(work(item))
        if number % SLICE == 0:
            await asyncio.sleep(0)
    return results


def json_list(rows: Iterable[bytes], **more: int) -> bytes:
    """`{"data": [...]}` of rows that are JSON already, and further members."""
    further = b"".join(b',"%b":%d' % (name.encode(), number) for name, number in more.items())
    return b'{"data":[' + b",".join(rows) + b"]" + further + b"}"


async def send_in_pieces(send: Callable[[dict[str, Any]], Awaitable[None]], body: bytes) -> None:
    """The body of an answer, so much at a time as is copied in a moment."""
    for start in range(0, len(body), PIECE) or (0,):
        is_last = start + PIECE >= len(body)
        await send({"type": "http.response.body", "body": body[start : start + PIECE], "more_body": not is_last})
        if not is_last:
            await asyncio.sleep(0)
