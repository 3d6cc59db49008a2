"""Fan-out of messages to readers that may be slow or gone.

A channel passes every message to all readers and stores the newest ones for readers that come back. It never waits for
a reader and drops one that lags too far behind, so memory is bounded.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import field

from simulator.kernel.dataclass import dataclass

MESSAGES_KEPT = 1_000
LONGEST_QUEUE = 1_000


@dataclass(frozen=True, slots=True)
class ChannelMessage:
    """One message."""

    number: int
    """Unique and increasing within a server."""
    raw: bytes
    """The bytes that are sent."""


@dataclass(eq=False)
class Reader:
    """One reader and the messages that it has not taken yet."""

    drop: Callable[[], None]
    """Drops its connection."""
    waiting: deque[ChannelMessage] = field(default_factory=deque)
    closed: bool = False
    _woken: asyncio.Event = field(default_factory=asyncio.Event)

    def offer(self, message: ChannelMessage) -> None:
        """Queue a message, or drop the reader if it lags too far behind."""
        if self.closed:
            return
        self.waiting.append(message)
        self._woken.set()
        if len(self.waiting) > LONGEST_QUEUE:
            self.close()
            self.waiting.clear()
            self.drop()

    def close(self) -> None:
        """End the messages. Queued ones can still be taken."""
        self.closed = True
        self._woken.set()

    async def take(self) -> ChannelMessage | None:
        """Wait for the next message and return it, or None at the end."""
        while not self.waiting:
            if self.closed:
                return None
            self._woken.clear()
            await self._woken.wait()
        return self.waiting.popleft()


class Numbers:
    """Numbers of messages. They increase and never repeat, not even after a restart of the server."""

    def __init__(self, first: int) -> None:
        self.last = first - 1

    @classmethod
    def of_start(cls, wall_ms: int) -> Numbers:
        """Return the numbers of a server that starts at this time of the wall clock.

        A later start has higher numbers, unless more than 4,096 messages a millisecond were published in between. They
        stay below 2^53, which JavaScript represents exactly.
        """
        return cls(wall_ms << 12)

    def __next__(self) -> int:
        self.last += 1
        return self.last


class Channel:
    """The messages about one subject, and their readers."""

    def __init__(self, numbers: Numbers) -> None:
        self._numbers = numbers
        self._since = numbers.last
        self._kept: deque[ChannelMessage] = deque(maxlen=MESSAGES_KEPT)
        self._unread = 0
        self.readers: list[Reader] = []

    @property
    def is_of_use(self) -> bool:
        """True if there are readers, or if one could come back without a gap."""
        return bool(self.readers) or self._unread < MESSAGES_KEPT

    def publish(self, render: Callable[[int], bytes]) -> None:
        """Render a message with its number, and pass it to all readers."""
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
        """Return True if all messages after a number are stored. False for a number from before a restart."""
        return self._since <= number <= self._numbers.last

    def join(self, reader: Reader, after: int | None) -> None:
        """Add a reader. With `after` it first gets the stored messages after that number."""
        if after is not None:
            for message in self._beyond(after):
                reader.offer(message)
        self.readers.append(reader)
        self._unread = 0

    def _beyond(self, number: int) -> Iterator[ChannelMessage]:
        return (message for message in self._kept if message.number > number)

    def leave(self, reader: Reader) -> None:
        if reader in self.readers:
            self.readers.remove(reader)

    def close(self) -> None:
        """End all readers: the subject is gone, or the server stops."""
        for reader in self.readers:
            reader.close()
        self.readers.clear()
