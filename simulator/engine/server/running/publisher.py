"""Sends messages to several readers, which may be slow or disconnected.

A channel stores the newest messages for readers that reconnect. It never waits for a reader, and drops readers that
fall too far behind.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import field

from simulator.kernel.dataclass import dataclass

MESSAGES_KEPT = 1_000
LONGEST_QUEUE = 1_000


@dataclass(frozen=True, slots=True)
class ChannelMessage:
    """One message on a channel."""

    number: int
    """The message number, which is unique and increasing within a server."""
    raw: bytes
    """The bytes to send."""


@dataclass(eq=False)
class Reader:
    """One reader of a channel, and the messages that it has not read yet."""

    drop: Callable[[], None]
    """Drops the reader's connection."""
    waiting: deque[ChannelMessage] = field(default_factory=deque)
    closed: bool = False
    _woken: asyncio.Event = field(default_factory=asyncio.Event)

    def offer(self, message: ChannelMessage) -> None:
        """Queue a message for this reader. If the queue is too long, drop the reader's connection."""
        if self.closed:
            return
        self.waiting.append(message)
        self._woken.set()
        if len(self.waiting) > LONGEST_QUEUE:
            self.close()
            self.waiting.clear()
            self.drop()

    def close(self) -> None:
        """Accept no more messages for this reader. The reader still gets queued messages."""
        self.closed = True
        self._woken.set()

    async def take(self) -> ChannelMessage | None:
        """Wait for the next message and return it. Return None if there are no more messages."""
        while not self.waiting:
            if self.closed:
                return None
            self._woken.clear()
            await self._woken.wait()
        return self.waiting.popleft()


class Numbers:
    """Generates message numbers. The numbers increase and never repeat, even after a restart of the server."""

    def __init__(self, first: int) -> None:
        self.last = first - 1

    @classmethod
    def of_start(cls, wall_ms: int) -> Numbers:
        """Return the generator for a server that starts at the wall-clock time `wall_ms`.

        A server that starts later gets higher numbers, unless more than 4,096 messages per millisecond were published
        in between. The numbers stay below 2^53, so JavaScript represents them exactly.
        """
        return cls(wall_ms << 12)

    def __next__(self) -> int:
        self.last += 1
        return self.last


class Channel:
    """The messages about one subject, such as a world, and the readers that get these messages."""

    def __init__(self, numbers: Numbers) -> None:
        self._numbers = numbers
        self._since = numbers.last
        self._kept: deque[ChannelMessage] = deque(maxlen=MESSAGES_KEPT)
        self._unread = 0
        self.readers: list[Reader] = []

    @property
    def is_of_use(self) -> bool:
        """True if there are readers, or if a former reader could reconnect without missing a message."""
        return bool(self.readers) or self._unread < MESSAGES_KEPT

    def publish(self, render: Callable[[int], bytes]) -> None:
        """Number a message, render it with `render`, and pass it to all readers."""
        number = next(self._numbers)
        message = ChannelMessage(number, render(number))
        if len(self._kept) == MESSAGES_KEPT:
            self._since = self._kept[0].number
        self._kept.append(message)
        self._unread = 0 if self.readers else self._unread + 1
        for reader in tuple(self.readers):
            reader.offer(message)
            if reader.closed:
                self.leave(reader)

    def has_all_since(self, number: int) -> bool:
        """Return True if all messages after this number are stored, and the number is not from before a restart."""
        return self._since <= number <= self._numbers.last

    def join(self, reader: Reader, after: int | None) -> None:
        """Add a reader. If `after` is given, it first gets the stored messages after the message with that number."""
        if after is not None:
            for message in self._kept:
                if message.number > after:
                    reader.offer(message)
        self.readers.append(reader)
        self._unread = 0

    def leave(self, reader: Reader) -> None:
        if reader in self.readers:
            self.readers.remove(reader)

    def close(self) -> None:
        """Close all readers of this channel. Call this when its world no longer exists or the server is stopping."""
        for reader in self.readers:
            reader.close()
        self.readers.clear()
