"""The journal of API requests in a world. The size of the journal is limited."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import field
from itertools import chain
from typing import ClassVar, Generic, Protocol, TypeAlias, TypeVar

from simulator.kernel.dataclass import dataclass
from simulator.kernel.fields import Headers, Id, Milliseconds, WallMilliseconds
from simulator.kernel.world import PerWorld, World

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
        if self.size > self._bytes_kept:
            self._fit()

    def put_back(self, entries: Sequence[Entry], size: int | None = None, dropped: int = 0) -> None:
        """Fill this empty log with the entries of another log, their size in bytes if known, and its `dropped`."""
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


_ROW_BYTES = 1_000
"""The approximate size of a journal entry without its strings, in bytes."""


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One API request and its response, with secrets masked.

    `duration_ms` and `wall_ms` (the time of arrival) are measured with the machine's monotonic clock, so they differ
    from run to run. `fault` is the id of the fault that applied.
    """

    id: Id
    at_ms: Milliseconds
    environment: str
    public_key: str | None
    method: str
    path: str
    headers: Headers
    body: bytes
    status: int
    response: bytes
    duration_ms: WallMilliseconds
    unknown_fields: tuple[str, ...] = field(
        default=(), metadata={"saved_as": "advice", "saved_after": "unknown_field:"}
    )
    operation: str = ""
    answer_headers: Headers = ()
    wall_ms: WallMilliseconds = 0.0
    fault: str = ""

    saved_as: ClassVar[str] = "Exchange"
    """The class name in exported worlds. It must not change."""

    @property
    def size(self) -> int:
        """The approximate size in bytes."""
        return _ROW_BYTES + len(self.path) + _length_of(self.headers) + len(self.body) + len(self.response)


_LENGTHS: dict[int, tuple[Headers, int]] = {}
"""The lengths of recent headers, by the identity of their tuple, which requests with the same headers share. Every
request is measured twice, and hashing all headers would take longer than the rest of the measurement.
"""
_LENGTHS_KEPT = 256


def _length_of(headers: Headers) -> int:
    known = _LENGTHS.get(id(headers))
    if known is not None and known[0] is headers:
        return known[1]
    if len(_LENGTHS) >= _LENGTHS_KEPT:
        _LENGTHS.clear()
    length = sum(map(len, chain.from_iterable(headers)))
    _LENGTHS[id(headers)] = headers, length
    return length


RequestLog: TypeAlias = BoundedLog[JournalEntry]

_LOGS: PerWorld[RequestLog] = PerWorld(BoundedLog)


def requests_of(world: World) -> RequestLog:
    """Return the journal of API requests in a world."""
    return _LOGS[world]
