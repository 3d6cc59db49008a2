"""Texts that are kept for as long as a world lives, in little room: the older ones lie packed with their neighbours.

What is written one after another is much alike. Thirty-two envelopes of 850 bytes, compressed together, take 73 bytes
each and 1.7 µs of work; compressed one by one even with a dictionary of examples they take 157 bytes and 15 µs. The
newest texts stay as they are, because they are still to be sent and shown.
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Self

NEWEST = 256
"""How many of the newest texts stay unpacked."""
TOGETHER = 32
"""How many texts are packed together."""
_BYTES_TOGETHER = 64 * 1024
"""So large are the texts of a pack together, but for a single one that is larger: reading one unpacks all of them."""
_IN_NO_PACKING = -1
_IN_NONE_EVER = -2
_LEVEL = 1
"""Higher levels save 10 bytes a text and take twice the time."""


class Text:
    """Bytes that never change. Whether they lie packed shows nowhere."""

    __slots__ = ("_kept", "_number")

    def __init__(self, raw: bytes) -> None:
        self._kept: bytes | _Pack = raw
        self._number = _IN_NO_PACKING

    def read(self) -> bytes:
        """The bytes."""
        kept = self._kept  # looked at once: another thread may read while this one packs
        return kept if isinstance(kept, bytes) else kept.read(self._number)

    def __len__(self) -> int:
        kept = self._kept
        return len(kept) if isinstance(kept, bytes) else kept.length(self._number)

    def claim(self) -> bool:
        """Whether it was in no packing; from now on it counts as being in one."""
        is_first = self._number == _IN_NO_PACKING
        if is_first:
            self._number = 0
        return is_first

    def stay_whole(self) -> Self:
        """Never lie in a pack: what all worlds share would keep the pack of one of them."""
        self._number = _IN_NONE_EVER
        return self

    @property
    def may_be_packed(self) -> bool:
        return isinstance(self._kept, bytes) and self._number != _IN_NONE_EVER

    def put_into(self, pack: _Pack, number: int) -> None:
        """Lie in a pack from now on."""
        self._number = number  # first: it means nothing as long as the text is not packed
        self._kept = pack

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
    """The text of a JSON object, for whoever reads JSON; in documents it is that object."""

    __slots__ = ()


class HeadersText(Text):
    """The text of names and values as a JSON list of pairs; in documents it is a tuple of such."""

    __slots__ = ()


NOTHING = Text(b"").stay_whole()
NO_MEMBERS = JsonText(b"{}").stay_whole()
NO_HEADERS = HeadersText(b"[]").stay_whole()


class _Pack:
    """Texts compressed together: the bytes of all, and where each of them ends."""

    __slots__ = ("_compressed", "_ends")

    def __init__(self, texts: Sequence[bytes]) -> None:
        self._ends = array("Q", accumulate(map(len, texts)))
        self._compressed = zlib.compress(b"".join(texts), _LEVEL)

    def read(self, number: int) -> bytes:
        return self.unpacked()[self._start(number) : self._ends[number]]

    def length(self, number: int) -> int:
        return self._ends[number] - self._start(number)

    def _start(self, number: int) -> int:
        return self._ends[number - 1] if number else 0

    # Lists read texts in their order: all of a pack cost what one costs.
    @lru_cache(maxsize=16)  # noqa: B019  (a pack that stays alive for it is a few kilobytes)
    def unpacked(self) -> bytes:
        return zlib.decompress(self._compressed)


class Packing:
    """The texts of one sort in a world, packed as newer ones come."""

    __slots__ = ("_newest",)

    def __init__(self) -> None:
        self._newest: list[Text] = []

    def add(self, text: Text) -> None:
        """Keep a text, once; the oldest of those that are not packed may be packed for it."""
        if not text.claim():
            return
        self._newest.append(text)
        if len(self._newest) >= NEWEST + TOGETHER:
            pack(self._newest[:TOGETHER])
            del self._newest[:TOGETHER]


def pack(texts: Iterable[Text]) -> None:
    """Pack texts, oldest first, but for those that are packed."""
    together: list[Text] = []
    raws: list[bytes] = []
    size = 0
    for text in texts:
        if not text.may_be_packed:
            continue
        raw = text.read()
        if together and (len(together) == TOGETHER or size + len(raw) > _BYTES_TOGETHER):
            _pack_together(together, raws)
            together, raws, size = [], [], 0
        together.append(text)
        raws.append(raw)
        size += len(raw)
    if together:
        _pack_together(together, raws)


def _pack_together(texts: list[Text], raws: list[bytes]) -> None:
    packed = _Pack(raws)
    for number, text in enumerate(texts):
        text.put_into(packed, number)
