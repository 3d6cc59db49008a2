"""The messages of a feed."""

from __future__ import annotations

from typing import Any

import orjson

from simulator.engine.control.history.stream import Feed
from simulator.engine.server.running.advance import Progress
from simulator.engine.server.running.publisher import Numbers, Reader
from simulator.engine.text.masking import Masker
from simulator.kernel.clock import Clock
from simulator.kernel.world import World
from tests.unit.kernel.test_world import wiring


def progress(fired: int, to_ms: int | None = 2_000) -> Progress:
    return Progress(from_ms=0, now_ms=1_000, to_ms=to_ms, fired=fired, events=2 * fired, deliveries=1)


def told(feed: Feed, *looks: Progress | None) -> list[Any]:
    """Return the data of the `progress` messages for a sequence of states."""
    reader = Reader(drop=lambda: None)
    feed.channel.join(reader, None)
    for look in looks:
        feed.look(look)
    messages = [message.raw.split(b"\r\n") for message in reader.waiting]
    return [orjson.loads(lines[2].removeprefix(b"data: ")) for lines in messages if lines[1] == b"event: progress"]


def test_the_progress_of_an_advance_is_reported_once() -> None:
    feed = Feed(World("w", 1, Clock(0), wiring()), Numbers(1), Masker())
    first = progress(10)
    assert told(feed, None, first, first, progress(20, None), None) == [
        {
            "from": "1970-01-01T00:00:00.000Z",
            "now": "1970-01-01T00:00:01.000Z",
            "to": "1970-01-01T00:00:02.000Z",
            "fired": 10,
            "events": 20,
            "deliveries": 1,
        },
        {
            "from": "1970-01-01T00:00:00.000Z",
            "now": "1970-01-01T00:00:01.000Z",
            "to": None,
            "fired": 20,
            "events": 40,
            "deliveries": 1,
        },
    ]
