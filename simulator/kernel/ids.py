"""Named streams of chance, all derived from the seed of a world.

A draw is a hash of seed, stream name and the number of draws made from that stream so far. A draw in
one room therefore never shifts another's, and the whole state of chance is one counter per name.
"""

from __future__ import annotations

import hashlib

from simulator.kernel.store import Store, TableKey

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS = tuple(_ALPHABET[pair % 32] + _ALPHABET[pair // 32] for pair in range(1024))
"""Two letters for ten bits: an id is made of ten look-ups instead of twenty divisions, in half the time."""
ID_LENGTH = 20

STREAMS = TableKey("streams", int)
"""How many draws were made from each stream of chance."""


def text_of(raw: bytes, length: int = ID_LENGTH) -> str:
    """`length` characters of Crockford's base 32 (lower case) made from bytes."""
    number = int.from_bytes(raw, "big")
    if length == ID_LENGTH:  # nearly always, and in half the time
        return _ten(number) + _ten(number >> 50)
    return "".join([_ten(number >> shift) for shift in range(0, 5 * length, 50)])[:length]


def _ten(number: int) -> str:
    """Ten characters for the last fifty bits."""
    bits = number & (1 << 50) - 1  # of a number this small the pairs are cut off in a third of the time
    return (
        f"{_PAIRS[bits & 1023]}{_PAIRS[bits >> 10 & 1023]}{_PAIRS[bits >> 20 & 1023]}"
        f"{_PAIRS[bits >> 30 & 1023]}{_PAIRS[bits >> 40]}"
    )


class Streams:
    """The seeded streams of one world; the counters live in its store, so a rolled back change draws again."""

    __slots__ = ("_counts", "_keyed", "seed")

    def __init__(self, store: Store, seed: int) -> None:
        self.seed = seed
        # A hash that has taken in its key is copied for each draw: half the time of a new one.
        self._keyed = hashlib.blake2b(digest_size=32, key=hashlib.sha256(str(seed).encode()).digest())
        self._counts = store[STREAMS]

    def draw(self, stream: str) -> bytes:
        """The next 32 bytes of a stream."""
        count = self._counts.get(stream) or 0
        self._counts.put(stream, count + 1)
        drawn = self._keyed.copy()
        drawn.update(f"{stream}/{count}".encode())
        return drawn.digest()

    def identifier(self, prefix: str, stream: str) -> str:
        """A fresh id: the prefix and 20 characters, for example `txn_0k3…`."""
        return prefix + text_of(self.draw(stream))

    def uuid(self, stream: str) -> str:
        """A fresh UUID of version 4, seeded."""
        raw = bytearray(self.draw(stream)[:16])
        raw[6] = raw[6] & 0x0F | 0x40
        raw[8] = raw[8] & 0x3F | 0x80
        digits = raw.hex()
        return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"

    def below(self, limit: int, stream: str) -> int:
        """A whole number from 0 to limit - 1."""
        return int.from_bytes(self.draw(stream)[:16], "big") % limit

    def fraction(self, stream: str) -> float:
        """A number at least 0 and below 1, in steps of 2^-53."""
        return (int.from_bytes(self.draw(stream)[:8], "big") >> 11) / (1 << 53)


def derive(*parts: object) -> bytes:
    """32 bytes fixed by the given parts alone: keys and tokens of a world, ids made of other ids."""
    return hashlib.sha256("\x00".join(map(str, parts)).encode()).digest()
