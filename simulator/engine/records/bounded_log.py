"""A log with limits on the number and the total size of its entries. The oldest entries are dropped first."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

DEFAULT_ENTRIES_KEPT = 10_000
DEFAULT_BYTES_KEPT = 64 * 1024 * 1024


class Measured(Protocol):
    """An entry that reports its approximate size in memory."""

    @property
    def size(self) -> int: ...


Entry = TypeVar("Entry", bound=Measured)


class BoundedLog(Generic[Entry]):
    """A log of entries, oldest first."""

    __slots__ = ("_bytes_kept", "dropped", "entries", "size")

    def __init__(self) -> None:
        self.entries: deque[Entry] = deque(maxlen=DEFAULT_ENTRIES_KEPT)
        self.dropped = 0
        """The number of dropped entries."""
        self.size = 0
        """The approximate total size of the entries, in bytes."""
        self._bytes_kept = DEFAULT_BYTES_KEPT

    def keep(self, count: int, size: int = DEFAULT_BYTES_KEPT) -> None:
        """Set new limits, and drop the oldest entries that exceed them."""
        self._bytes_kept = size
        if count != self.entries.maxlen:
            while len(self.entries) > count:
                self._drop_oldest()
            self.entries = deque(self.entries, maxlen=count)
        self._fit()

    def enter(self, entry: Entry) -> None:
        """Append an entry, and drop the oldest entries that exceed the limits. The newest entry is never dropped."""
        if len(self.entries) == self.entries.maxlen:
            self._drop_oldest()
        self.entries.append(entry)
        self.size += entry.size
        self._fit()

    def put_back(self, entries: Sequence[Entry], size: int | None = None, dropped: int = 0) -> None:
        """Fill this empty log with the entries of another log.

        `size` is their size in bytes, or None if it is unknown. `dropped` is the number of entries that the other log
        had dropped.
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
