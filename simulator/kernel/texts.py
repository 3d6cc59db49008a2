"""Memory-efficient storage for strings that exist as long as a world. Older strings are compressed in packs.

Consecutive strings are similar. If 32 envelopes of 850 bytes are compressed together, each takes 73 bytes and 1.7 µs.
If they are compressed one by one, each takes 157 bytes and 15 µs, even with a dictionary of examples. The newest
strings are not compressed, because they are likely to be sent and read soon.
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Self

NEWEST = 256
"""The number of newest strings that stay uncompressed."""
TOGETHER = 32
"""The number of strings in a pack."""
_BYTES_TOGETHER = 64 * 1024
"""The maximum number of bytes in a pack, unless one string is larger. Reading a string decompresses the whole pack."""
_IN_NO_PACKING = -1
_IN_NONE_EVER = -2
_LEVEL = 1
"""The compression level. Higher levels save 10 bytes per string and take twice the time."""


class Text:
    """Immutable bytes. `read` returns the same bytes whether or not they are compressed in a pack."""

    __slots__ = ("_kept", "_number")

    def __init__(self, raw: bytes) -> None:
        self._kept: bytes | _Pack = raw
        self._number = _IN_NO_PACKING

    def read(self) -> bytes:
        """Return the string as bytes, decompressed if it is packed."""
        kept = self._kept  # read the field only once, because another thread may pack the string meanwhile
        return kept if isinstance(kept, bytes) else kept.read(self._number)

    def __len__(self) -> int:
        kept = self._kept
        return len(kept) if isinstance(kept, bytes) else kept.length(self._number)

    def claim(self) -> bool:
        """Return True on the first call only, so that a string is added to only one `Packing`."""
        is_first = self._number == _IN_NO_PACKING
        if is_first:
            self._number = 0
        return is_first

    def stay_whole(self) -> Self:
        """Never pack this string, because all worlds share it. A pack would keep strings of one world in memory."""
        self._number = _IN_NONE_EVER
        return self

    @property
    def may_be_packed(self) -> bool:
        return not self.is_packed and self._number != _IN_NONE_EVER

    @property
    def is_packed(self) -> bool:
        return not isinstance(self._kept, bytes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Text) and self.read() == other.read()

    def __hash__(self) -> int:
        return hash(self.read())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.read()!r})"


class JsonText(Text):
    """A JSON object as a string. Exported worlds contain the object."""

    __slots__ = ()


class HeadersText(Text):
    """Header names and values as a JSON list of pairs. Exported worlds contain a tuple of pairs."""

    __slots__ = ()


NOTHING = Text(b"").stay_whole()
NO_MEMBERS = JsonText(b"{}").stay_whole()
NO_HEADERS = HeadersText(b"[]").stay_whole()


class _Pack:
    """Strings compressed together: the bytes of all strings, and the end position of each."""

    __slots__ = ("_compressed", "_ends")

    def __init__(self, texts: Sequence[bytes]) -> None:
        self._ends = array("I", accumulate(map(len, texts)))
        self._compressed = zlib.compress(b"".join(texts), _LEVEL)

    def read(self, number: int) -> bytes:
        return self.unpacked()[self._start(number) : self._ends[number]]

    def length(self, number: int) -> int:
        return self._ends[number] - self._start(number)

    def _start(self, number: int) -> int:
        return self._ends[number - 1] if number else 0

    # Lists read strings in order, so a whole pack is decompressed only once.
    @lru_cache(maxsize=16)  # noqa: B019  (a pack that stays alive for it is a few kilobytes)
    def unpacked(self) -> bytes:
        return zlib.decompress(self._compressed)


class Packing:
    """Compresses the oldest strings added to it whenever enough newer strings have been added."""

    __slots__ = ("_newest",)

    def __init__(self) -> None:
        self._newest: list[Text] = []

    def add(self, text: Text) -> None:
        """Add a string unless it was added before. This may pack the oldest unpacked strings."""
        if not text.claim():
            return
        self._newest.append(text)
        if len(self._newest) >= NEWEST + TOGETHER:
            pack(self._newest[:TOGETHER])
            del self._newest[:TOGETHER]


def pack(texts: Iterable[Text]) -> None:
    """Pack strings, oldest first. Strings that are already packed are skipped."""
    together: list[Text] = []
    size = 0
    for text in texts:
        if not text.may_be_packed:
            continue
        if together and (len(together) == TOGETHER or size + len(text) > _BYTES_TOGETHER):
            _pack_together(together)
            together, size = [], 0
        together.append(text)
        size += len(text)
    _pack_together(together)


def _pack_together(texts: list[Text]) -> None:
    packed = _Pack([text.read() for text in texts])
    for number, text in enumerate(texts):
        text._number = number  # The number is set first, because readers ignore it until the string is packed.
        text._kept = packed
