"""A table of the header blocks that the parser has already read, keyed by their bytes.

A client sends the same headers with nearly every call. If the header block of a request is in the table, the request is
read without the parser, which would call a function for each header. This saves a tenth of the processor time of a read
call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from simulator.engine.server.http.messages import Headers, parsed_headers
from simulator.kernel.patterns import compile_late

_LINE = compile_late(
    rb"(GET|POST|PUT|PATCH|DELETE|HEAD) (/(?:[A-Za-z0-9_.~-][A-Za-z0-9_.~/-]*)?)"
    rb"(?:\?([A-Za-z0-9_.~=&:+,%/-]*))? HTTP/1\.1\r\n"
)
"""A request line that needs no decoding and no normalisation. The parser reads any other request line."""
_LINE_END = b"\r\n"
_END = b"\r\n\r\n"
_MOST_BYTES_OF_HEAD = 8_192
"""The maximum size of a request line and headers that are split here. The parser handles larger ones."""
_MOST_BYTES = 2_048
_MOST_BLOCKS = 256
_CHANGE_THE_CONNECTION = frozenset({b"connection", b"expect", b"transfer-encoding", b"upgrade", b"x-forwarded-proto"})
"""Headers that change how the connection or the body is read, or the fast path. The parser reads these requests."""
_CHANGES_NOTHING = (b"connection", b"keep-alive")


class Head(NamedTuple):
    """A header block, and the result of parsing it."""

    raw: list[tuple[bytes, bytes]]
    """The headers of an ASGI scope: lower-case names and values."""
    headers: Headers
    length: int
    """The number of bytes in the body."""


class Whole(NamedTuple):
    """A request that has arrived completely."""

    method: str
    path: str
    query: bytes
    head: Head
    body: bytes


class KnownHeads:
    """The header blocks that occurred at least twice, so that unique headers such as `Idempotency-Key` do not fill the
    table.
    """

    def __init__(self) -> None:
        self._known: dict[bytes, Head] = {}
        self._seen: set[int] = set()

    def split(self, data: bytes) -> Whole | None:
        """Return the request if `data` is exactly one request with a known header block, or None."""
        if not self._known:
            return None
        line = _LINE.match(data)
        if line is None:
            return None
        begin, end = line.end(), data.find(_END)
        head = self._known.get(data[begin:end])
        if head is None or len(data) != end + 4 + head.length or end > _MOST_BYTES_OF_HEAD:
            return None
        method, path, query = line.groups(b"")
        return Whole(method.decode(), path.decode(), query, head, data[end + 4 :])

    def learn(self, data: bytes, raw: Sequence[tuple[bytes, bytes]]) -> None:
        """Store the header block at the beginning of `data`. `raw` contains the headers that the parser found in it."""
        begin, end = data.find(_LINE_END) + len(_LINE_END), data.find(_END)
        if not 0 < end - begin <= _MOST_BYTES:
            return
        block = data[begin:end]
        if (seen := hash(block)) not in self._seen:
            if len(self._seen) >= _MOST_BLOCKS:
                self._seen.clear()
            self._seen.add(seen)
            return
        # The parser may have found another end of the block, for example at a bare line feed. Such a block is ignored.
        if not block.count(b"\n") == block.count(b"\r\n") == len(raw) - 1:
            return
        names = [name for name, value in raw if (name, value.lower()) != _CHANGES_NOTHING]
        lengths = [value for name, value in raw if name == b"content-length"]
        if not _CHANGE_THE_CONNECTION.isdisjoint(names) or len(lengths) > 1 or not all(map(bytes.isdigit, lengths)):
            return
        if len(self._known) >= _MOST_BLOCKS:
            self._known.clear()
        self._known[block] = Head([*raw], parsed_headers(tuple(raw)), int(lengths[0]) if lengths else 0)
