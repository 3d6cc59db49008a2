"""A log that is bounded by the number of its entries and by the bytes that they take: the oldest go first."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

DEFAULT_ENTRIES_KEPT = 10_000
DEFAULT_BYTES_KEPT = 64 * 1024 * 1024


class Measured(Protocol):
    """An entry that knows about how many bytes it takes to keep it."""

    @property
    def size(self) -> int: ...


Entry = TypeVar("Entry", bound=Measured)


class BoundedLog(Generic[Entry]):
    """Entries, oldest first.

    `dropped`: how many there were before them. `size`: about how many bytes they take.
    """

    __slots__ = ("_bytes_kept", "dropped", "entries", "size")

    def __init__(self) -> None:
        self.entries: deque[Entry] = deque(maxlen=DEFAULT_ENTRIES_KEPT)
        self.dropped = 0
        self.size = 0
        self._bytes_kept = DEFAULT_BYTES_KEPT

    def keep(self, count: int, size: int = DEFAULT_BYTES_KEPT) -> None:
        """Keep that many entries and bytes from now on; those beyond it, the oldest, go at once."""
        self._bytes_kept = size
        if count != self.entries.maxlen:
            while len(self.entries) > count:
                self._drop_oldest()
            self.entries = deque(self.entries, maxlen=count)
        self._fit()

    def enter(self, entry: Entry) -> None:
        """Keep an entry; the oldest go when there are too many, or they take too much. The newest is always kept."""
        if len(self.entries) == self.entries.maxlen:
            self._drop_oldest()
        self.entries.append(entry)
        self.size += entry.size
        self._fit()

    def put_back(self, entries: Sequence[Entry], size: int | None = None, dropped: int = 0) -> None:
        """Enter what was kept of another log into an empty one.

        `size`: the bytes that it takes, None if unknown. `dropped`: how many entries the other log had dropped.
        """
        self.dropped += dropped
        if size is None or len(entries) > (self.entries.maxlen or 0):
            for entry in entries:
                self.enter(entry)
        else:
            self.entries.extend(entries)
            self.size = size
            self._fit()

    def _fit(self) -> None:
        while self.size > self._bytes_kept and len(self.entries) > 1:
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        self.size -= self.entries.popleft().size
        self.dropped += 1
