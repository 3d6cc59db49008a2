"""Long responses: selected, written, masked and sent in chunks."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest

from simulator.engine.server.running.chunks import (
    PIECE,
    Content,
    Pieces,
    first_of,
    in_pieces,
    json_list,
    send_in_pieces,
)
from simulator.engine.text.masking import Masker


async def turns_during(work: Any) -> tuple[Any, int]:
    """Return the result of the work, and the number of turns of another task in the meantime."""
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    counting = asyncio.create_task(count())
    result = await work
    counting.cancel()
    return result, turns


@pytest.mark.parametrize("count", [0, 1, 2, 199, 200, 201, 1000])
@pytest.mark.parametrize("size", [1, PIECE // 3, PIECE])
def test_a_list_in_pieces_is_the_list(count: int, size: int) -> None:
    rows = ["x" * size] * min(count, 5) + ["y"] * max(count - 5, 0)
    body = asyncio.run(json_list(rows, orjson.dumps, dropped=3))
    whole = b"".join(parts_of(body))
    assert len(body) == len(whole)
    assert orjson.loads(whole) == {"data": rows, "dropped": 3}
    assert all(len(part) < 3 * PIECE for part in parts_of(body))


def test_a_short_list_is_one_piece() -> None:
    assert asyncio.run(json_list([1, 2], orjson.dumps)) == b'{"data":[1,2]}'


def parts_of(body: Content) -> tuple[bytes, ...]:
    return body.parts if isinstance(body, Pieces) else (body,)


def test_other_calls_get_their_turn_during_a_long_list() -> None:
    async def answer() -> None:
        rows = [b'"tok_test_1"' + b" " * 1_000] * 20_000
        found, turns = await turns_during(first_of(rows, bool, None))
        assert turns >= 99
        body, turns = await turns_during(json_list(found, bytes))
        assert turns >= 99
        masked, turns = await turns_during(in_pieces(body, Masker().answer))
        assert turns >= len(parts_of(body)) - 2 > 15
        assert b"tok_test" not in b"".join(parts_of(masked))
        sent: list[dict[str, Any]] = []

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        _, turns = await turns_during(send_in_pieces(send, masked))
        assert turns >= len(parts_of(body)) - 2
        assert b"".join(message["body"] for message in sent) == b"".join(parts_of(masked))
        assert [message["more_body"] for message in sent] == [True] * (len(sent) - 1) + [False]

    asyncio.run(answer())


@pytest.mark.parametrize("body", [b"", b"x", b"x" * (PIECE + 1), Pieces((b"",)), Pieces(())])
def test_every_body_is_sent_whole_and_ended(body: Any) -> None:
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    asyncio.run(send_in_pieces(send, body))
    assert sum(len(message["body"]) for message in sent) == len(body)
    assert [message["more_body"] for message in sent] == [True] * (len(sent) - 1) + [False]


@pytest.mark.parametrize(("limit", "found"), [(None, [0, 2, 4]), (0, []), (2, [0, 2]), (9, [0, 2, 4])])
def test_the_first_requested_items_are_found(limit: int | None, found: list[int]) -> None:
    assert asyncio.run(first_of(range(6), lambda item: item % 2 == 0, limit)) == found
