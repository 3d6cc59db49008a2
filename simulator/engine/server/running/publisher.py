"""Fan-out of messages to readers that may be slow, gone, or not there at all.

A channel keeps the newest messages for readers that come back, and hands every message to all readers. Nobody is
waited for: a reader that lags too far behind is dropped. Memory is bounded by what a channel and a reader may hold.
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
    """One message: its number, unique and growing in a server, and its bytes as they go on the wire."""

    number: int
    raw: bytes


@dataclass(eq=False)
class Reader:
    """One reader: what it has not yet taken, and whether it was let go. `drop` cuts its connection."""

    drop: Callable[[], None]
    waiting: deque[ChannelMessage] = field(default_factory=deque)
    closed: bool = False
    _woken: asyncio.Event = field(default_factory=asyncio.Event)

    def offer(self, message: ChannelMessage) -> None:
        """Hand over a message, or let the reader go when it lags too far behind."""
        if self.closed:
            return
        self.waiting.append(message)
        self._woken.set()
        if len(self.waiting) > LONGEST_QUEUE:
            self.close()
            self.waiting.clear()
            self.drop()

    def close(self) -> None:
        """No more messages will come; what waits may still be taken."""
        self.closed = True
        self._woken.set()

    async def take(self) -> ChannelMessage | None:
        """The next message, as soon as there is one; None at the end."""
        while not self.waiting:
            if self.closed:
                return None
            self._woken.clear()
            await self._woken.wait()
        return self.waiting.popleft()


class Numbers:
    """The numbers of messages: growing, and never given twice, not even after another start of the server."""

    def __init__(self, first: int) -> None:
        self.last = first - 1

    @classmethod
    def of_start(cls, wall_ms: int) -> Numbers:
        """Return the numbers of a server that starts at this moment of the wall clock.

        A later start has higher ones, unless more than 4,096 messages a millisecond were published since. They stay
        below 2^53, so that every reader of JSON and JavaScript takes them exactly.
        """
        return cls(wall_ms << 12)

    def __next__(self) -> int:
        self.last += 1
        return self.last


class Channel:
    """The messages about one subject, and who reads them."""

    def __init__(self, numbers: Numbers) -> None:
        self._numbers = numbers
        self._since = numbers.last
        self._kept: deque[ChannelMessage] = deque(maxlen=MESSAGES_KEPT)
        self._unread = 0
        self.readers: list[Reader] = []

    @property
    def is_of_use(self) -> bool:
        """Whether anybody reads, or can still come back without having missed anything."""
        return bool(self.readers) or self._unread < MESSAGES_KEPT

    def publish(self, render: Callable[[int], bytes]) -> None:
        """Make a message of its number by `render`, and hand it to every reader."""
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
        """Whether everything after the message of a number is still kept; False for a number from another start."""
        return self._since <= number <= self._numbers.last

    def join(self, reader: Reader, after: int | None) -> None:
        """Let a reader in; with `after` it first gets what is kept of the messages beyond that number."""
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
        """The subject is gone, or the server stops: every reader comes to its end."""
        for reader in self.readers:
            reader.close()
        self.readers.clear()
