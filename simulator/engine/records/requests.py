"""The journal of API requests in a world. The size of the journal is limited."""

from __future__ import annotations

from dataclasses import field
from itertools import chain
from typing import ClassVar, TypeAlias

from simulator.engine.records.bounded_log import BoundedLog
from simulator.kernel.dataclass import dataclass
from simulator.kernel.fields import Headers, Id, Milliseconds, WallMilliseconds
from simulator.kernel.per_world import PerWorld
from simulator.kernel.world import World

_ROW_BYTES = 1_000
"""The approximate size of a journal entry without its strings, in bytes."""


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One API request and its response, with secrets masked.

    `fault` is the id of the fault that applied to the request. `duration_ms` and `wall_ms` (the time at which it
    arrived) are measured with the machine's monotonic clock, so they differ from run to run.
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
"""The lengths of recent headers, by the identity of their tuple. Requests with the same headers share one tuple.

Every request is measured twice, when it is added and when it is dropped. Hashing all headers would take longer than the
rest of the measurement.
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
