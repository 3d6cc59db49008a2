"""Channels and subscribers: who gets which message, how slow subscribers are dropped, and how a channel closes."""

from __future__ import annotations

import asyncio

import pytest

from simulator.engine.server.running import publisher
from simulator.engine.server.running.publisher import Channel, Numbers, Reader


def test_a_channel_drops_a_reader_that_lags(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publisher, "LONGEST_QUEUE", 3)
    cut: list[str] = []
    channel = Channel(Numbers(1))
    slow, quick = Reader(lambda: cut.append("slow")), Reader(lambda: cut.append("quick"))
    channel.join(slow, None)
    channel.join(quick, None)

    async def run() -> list[int]:
        got = []
        for number in range(6):
            channel.publish(lambda given: b"%d" % given)
            message = await quick.take()
            assert message is not None
            assert message.number == number + 1
            got.append(message.number)
        return got

    assert asyncio.run(run()) == [1, 2, 3, 4, 5, 6]
    assert cut == ["slow"]
    assert channel.readers == [quick]
    assert not slow.waiting
    assert asyncio.run(slow.take()) is None


def test_a_channel_remembers_the_newest_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publisher, "MESSAGES_KEPT", 3)
    channel = Channel(Numbers(1))
    for _ in range(5):
        channel.publish(lambda number: b"%d" % number)
    reader = Reader(lambda: None)
    channel.join(reader, 1)
    assert [message.number for message in reader.waiting] == [3, 4, 5]
    channel.close()
    assert channel.readers == []

    async def rest() -> list[int]:
        return [message.number for message in [await reader.take() for _ in range(3)] if message]

    assert asyncio.run(rest()) == [3, 4, 5]
    assert asyncio.run(reader.take()) is None


def test_a_message_is_taken_as_soon_as_it_is_published() -> None:
    async def scenario() -> None:
        channel, reader = Channel(Numbers(1)), Reader(lambda: None)
        channel.join(reader, None)
        taking = asyncio.create_task(reader.take())
        await asyncio.sleep(0)
        assert not taking.done()
        channel.publish(lambda number: b"news %d" % number)
        message = await taking
        assert message is not None
        assert message.raw == b"news 1"
        again = asyncio.create_task(reader.take())
        await asyncio.sleep(0)
        channel.close()
        assert await again is None

    asyncio.run(scenario())


def test_a_reader_that_left_gets_no_more_messages() -> None:
    channel, reader = Channel(Numbers(1)), Reader(lambda: None)
    channel.join(reader, None)
    channel.leave(reader)
    channel.leave(reader)
    channel.publish(lambda number: b"")
    assert not reader.waiting


def test_channels_of_a_server_number_their_messages_together() -> None:
    numbers = Numbers(1)
    one, other, reader = Channel(numbers), Channel(numbers), Reader(lambda: None)
    other.join(reader, None)
    for channel in (one, other, one, other):
        channel.publish(lambda number: b"")
    assert [message.number for message in reader.waiting] == [2, 4]


def test_a_channel_is_usable_until_a_reader_would_miss_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publisher, "MESSAGES_KEPT", 2)
    channel, reader = Channel(Numbers(1)), Reader(lambda: None)
    channel.join(reader, None)
    for _ in range(3):
        channel.publish(lambda number: b"")
    assert channel.is_of_use
    channel.leave(reader)
    channel.publish(lambda number: b"")
    assert channel.is_of_use
    channel.publish(lambda number: b"")
    assert not channel.is_of_use
    channel.join(Reader(lambda: None), 5)
    assert channel.is_of_use


def test_channel_knows_whether_it_has_everything_after_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publisher, "MESSAGES_KEPT", 3)
    numbers = Numbers(100)
    other = Channel(numbers)
    other.publish(lambda number: b"")
    channel = Channel(numbers)
    for _ in range(3):
        channel.publish(lambda number: b"")
    assert [channel.has_all_since(number) for number in (99, 100, 103, 104)] == [False, True, True, False]
    channel.publish(lambda number: b"")
    assert [channel.has_all_since(number) for number in (100, 101)] == [False, True]


def test_numbers_of_a_later_start_are_higher() -> None:
    numbers = Numbers.of_start(1_800_000_000_000)
    for _ in range(1000):
        next(numbers)
    assert numbers.last < next(Numbers.of_start(1_800_000_000_001)) < 2**53
