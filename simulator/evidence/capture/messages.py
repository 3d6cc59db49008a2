"""Reads and forwards HTTP/1.1 messages: parses heads, determines the lengths of bodies, and copies bodies. Bodies are
copied with their framing, including chunk extensions and trailers, because a recording must not change the traffic.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from simulator.kernel.dataclass import dataclass

MOST_HEAD_BYTES = 64 * 1024
BUFFER_BYTES = 512 * 1024
"""The buffer size for each connection. A smaller buffer halves the throughput for long bodies."""
MOST_RECORDED_BYTES = 1024 * 1024
"""The maximum length of a recorded body. Longer bodies are forwarded but not recorded."""
_PIECE_BYTES = 256 * 1024
_TOO_LONG = f"the headers exceed {MOST_HEAD_BYTES // 1024} KB"
UNTIL_CLOSED = -1
CHUNKED = -2
_HOP_BY_HOP = frozenset(
    b"connection keep-alive proxy-connection proxy-authenticate proxy-authorization te upgrade".split()
)
_FRAMING = frozenset((b"transfer-encoding", b"content-length"))
_WITHOUT_BODY = (204, 304)


class NotHttp(ValueError):
    """Raised if the received bytes are not an HTTP message."""


class Cut(ConnectionError):
    """Raised if a connection ends in the middle of a message."""


class Header(NamedTuple):
    """One header line."""

    name: bytes
    """The name in its original spelling."""
    value: bytes
    key: bytes
    """The name in lower case."""
    line: bytes
    """The line for the next hop."""
    text: tuple[str, str]
    """The name and the value as strings."""


@lru_cache(maxsize=4096)
def header_of(line: bytes) -> Header:
    """Return the parsed header line. Raise `NotHttp` if it is malformed. Results are cached, because most lines repeat
    from message to message.
    """
    name, colon, value = line.partition(b":")
    if not colon or not name or name != name.strip():
        raise NotHttp("a header has no valid name")
    value = value.strip()
    return Header(name, value, name.lower(), name + b": " + value, (name.decode("latin-1"), value.decode("latin-1")))


@dataclass
class Head:
    """The first line and the headers of a message."""

    first: bytes
    headers: Sequence[Header]

    def values(self, key: bytes) -> list[bytes]:
        """Return the values of a header. `key` is its name in lower case."""
        return [one.value for one in self.headers if one.key == key]

    def tokens(self, key: bytes) -> set[bytes]:
        """Return the comma-separated values of a header, in lower case."""
        return {one.strip().lower() for value in self.values(key) for one in value.split(b",")}

    @cached_property
    def options(self) -> set[bytes]:
        """The options in the message's `Connection` header."""
        return self.tokens(b"connection")

    @property
    def is_last(self) -> bool:
        """Return True if the sender closes the connection after this message."""
        return b"close" in self.options or (b"HTTP/1.0" in self.first and b"keep-alive" not in self.options)

    def texts(self) -> list[tuple[str, str]]:
        return [one.text for one in self.headers]

    def forwarded(self, first: bytes, *, host: bytes | None = None, closes: bool) -> bytes:
        """Return the head to forward to the next server: without hop-by-hop headers, and with new `Host` and
        `Connection` headers.
        """
        dropped = _HOP_BY_HOP | (self.options - _FRAMING) if self.options else _HOP_BY_HOP
        lines = [first, *[one.line for one in self.headers if one.key not in dropped]]
        if host is not None:
            at = [number for number, one in enumerate(lines[1:], 1) if one[:5].lower() == b"host:"]
            for number in at:
                lines[number] = lines[number][:6] + host
            if not at:
                lines.insert(1, b"Host: " + host)
        if closes:
            lines.append(b"Connection: close")
        return b"\r\n".join(lines) + b"\r\n\r\n"


async def read_head(reader: asyncio.StreamReader) -> Head | None:
    """Return the next head, or None if the connection ends before it starts. Raise `NotHttp` if the head is malformed,
    and `Cut` if the connection ends within the head.
    """
    try:
        raw = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as error:
        if error.partial.strip():
            raise (Cut if b"HTTP/1." in error.partial else NotHttp)("the head is incomplete") from None
        return None
    except asyncio.LimitOverrunError:
        raise NotHttp(_TOO_LONG) from None
    if len(raw) > MOST_HEAD_BYTES:
        raise NotHttp(_TOO_LONG)
    first, *lines = raw.lstrip(b"\r\n")[:-4].split(b"\r\n")
    if b"HTTP/1." not in first:
        raise NotHttp("the first line is not HTTP/1.1")
    return Head(first, [header_of(line) for line in lines])


def body_length(head: Head, method: str = "", status: int | None = None) -> int:
    """Return the number of bytes in a body, CHUNKED, or for a response UNTIL_CLOSED. Raise `NotHttp` for wrong headers.

    `method`, `status`: those of a response, which decide whether it has a body.
    """
    if status is not None and (method == "HEAD" or status in _WITHOUT_BODY or 100 <= status <= 199):
        return 0
    codings, lengths = head.tokens(b"transfer-encoding"), set(head.values(b"content-length"))
    if codings:
        if lengths or codings != {b"chunked"}:
            raise NotHttp("Transfer-Encoding must be chunked, without Content-Length")
        return CHUNKED
    if not lengths:
        return 0 if status is None else UNTIL_CLOSED
    length = lengths.pop()
    if lengths or not length.isdigit():
        raise NotHttp("Content-Length must be one number")
    return int(length)


def status_of(head: Head) -> int:
    """Return the status of a response. Raise `NotHttp` if the first line has none."""
    parts = head.first.split(b" ", 2)
    if len(parts) < 2 or not (parts[1].isdigit() and len(parts[1]) == 3):
        raise NotHttp("the response has no status")
    return int(parts[1])


class Tee:
    """Saves a copy of a body, unless the body is too long."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._room = MOST_RECORDED_BYTES

    def add(self, piece: bytes) -> None:
        self._room -= len(piece)
        if self._room < 0:
            self._pieces.clear()
        else:
            self._pieces.append(piece)

    @property
    def content(self) -> bytes | None:
        """The body, or None if it is too long."""
        return None if self._room < 0 else b"".join(self._pieces)


class Inlet(asyncio.StreamReader):
    """The reading side of a connection, which knows how many bytes can be read without waiting."""

    held = 0

    def feed_data(self, data: Any) -> None:
        self.held += len(data)
        super().feed_data(data)

    async def readuntil(self, separator: Any = b"\n") -> bytes:
        return self._taken(await super().readuntil(separator))

    async def read(self, n: int = -1) -> bytes:
        return self._taken(await super().read(n))

    async def readexactly(self, n: int) -> bytes:
        return self._taken(await super().readexactly(n))

    def _taken(self, piece: bytes) -> bytes:
        self.held -= len(piece)
        return piece


class Outlet:
    """The writing side of a connection. It sends a head and a short body together. If they were two packets, the sender
    and the receiver would need twice the time.
    """

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._head = b""

    def begin(self, head: bytes) -> None:
        """Store a message head. The next call of `write`, `flush` or `close` sends it."""
        self._head += head

    def write(self, piece: bytes) -> None:
        if not self._writer.is_closing():
            self._writer.write(self._head + piece if self._head else piece)
        self._head = b""

    def flush(self) -> None:
        if self._head:
            self.write(b"")

    async def drain(self) -> None:
        await self._writer.drain()

    @property
    def is_closing(self) -> bool:
        return self._writer.is_closing()

    def close(self) -> None:
        self.flush()
        self._writer.close()

    def abort(self) -> None:
        """Reset the connection."""
        self.flush()
        self._writer.transport.abort()


async def copy_body(length: int, reader: asyncio.StreamReader, writer: Outlet | None, tee: Tee) -> None:
    """Copy a body to its end. If `writer` is None, the body is only read. Raise `Cut` if the sender closes the
    connection too early.
    """
    if writer is not None and not (isinstance(reader, Inlet) and 0 < length <= reader.held):
        writer.flush()
    if length == CHUNKED:
        await _copy_chunks(reader, writer, tee)
        return
    left = length
    while left:
        piece = await reader.read(_PIECE_BYTES if left < 0 else min(left, _PIECE_BYTES))
        if not piece:
            if left < 0:
                return
            raise Cut(f"{left} bytes of the body are missing")
        left -= len(piece) if left > 0 else 0
        tee.add(piece)
        await _write(writer, piece)


async def _copy_chunks(reader: asyncio.StreamReader, writer: Outlet | None, tee: Tee) -> None:
    try:
        while True:
            line = await reader.readuntil(b"\n")
            try:
                left = int(line.partition(b";")[0], 16)
            except ValueError:
                raise NotHttp("a chunk has no length") from None
            await _write(writer, line)
            if left == 0:
                break
            while left:
                piece = await reader.readexactly(min(left, _PIECE_BYTES))
                left -= len(piece)
                tee.add(piece)
                await _write(writer, piece)
            await _write(writer, await reader.readuntil(b"\n"))
        while True:  # trailers, and the empty line
            line = await reader.readuntil(b"\n")
            await _write(writer, line)
            if not line.strip():
                return
    except asyncio.IncompleteReadError as error:
        await _write(writer, error.partial)
        raise Cut("the last chunk is missing") from None
    except asyncio.LimitOverrunError:
        raise NotHttp("a chunk has no length") from None


async def _write(writer: Outlet | None, piece: bytes) -> None:
    if writer is not None and piece:
        writer.write(piece)
        await writer.drain()
