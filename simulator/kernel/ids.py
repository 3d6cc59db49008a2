"""Named streams of random values, all derived from a world's seed.

Each value is a hash of the seed, the stream name and the number of earlier values in that stream, so drawing from one
stream never changes another. The whole random state is one counter per name.
"""

from __future__ import annotations

import hashlib

from simulator.kernel.store import Store, TableKey

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS = tuple(_ALPHABET[pair % 32] + _ALPHABET[pair // 32] for pair in range(1024))
"""The two characters for each ten-bit value. Ten lookups instead of twenty divisions halve the time of an id."""
_THIRTY = (1 << 30) - 1
"""A mask for the lowest thirty bits. Python computes with integers of thirty bits in half the time of larger ones."""
ID_LENGTH = 20

STREAMS = TableKey("streams", int)
"""The number of values drawn from each stream."""


def text_of(raw: bytes, length: int = ID_LENGTH) -> str:
    """Return the given bytes as `length` characters in lower-case Crockford base 32."""
    number = int.from_bytes(raw, "big")
    if length == ID_LENGTH:  # a fast path for the usual case takes a third of the time
        a, b, c = number & _THIRTY, number >> 30 & _THIRTY, number >> 60 & _THIRTY
        return (
            f"{_PAIRS[a & 1023]}{_PAIRS[a >> 10 & 1023]}{_PAIRS[a >> 20]}"
            f"{_PAIRS[b & 1023]}{_PAIRS[b >> 10 & 1023]}{_PAIRS[b >> 20]}"
            f"{_PAIRS[c & 1023]}{_PAIRS[c >> 10 & 1023]}{_PAIRS[c >> 20]}{_PAIRS[number >> 90 & 1023]}"
        )
    return "".join([_ten(number >> shift) for shift in range(0, 5 * length, 50)])[:length]


def _ten(number: int) -> str:
    """Return the lowest fifty bits of a number as ten base-32 characters."""
    bits = number & (1 << 50) - 1  # shifting a number with at most fifty bits takes a third of the time
    return (
        f"{_PAIRS[bits & 1023]}{_PAIRS[bits >> 10 & 1023]}{_PAIRS[bits >> 20 & 1023]}"
        f"{_PAIRS[bits >> 30 & 1023]}{_PAIRS[bits >> 40]}"
    )


class Streams:
    """The seeded streams of one world. Undoing a transaction also resets their counters in the world's store."""

    __slots__ = ("_counts", "_keyed", "seed")

    def __init__(self, store: Store, seed: int) -> None:
        self.seed = seed
        # Each draw copies a keyed hash. This takes half the time of creating one.
        self._keyed = hashlib.blake2b(digest_size=32, key=hashlib.sha256(str(seed).encode()).digest())
        self._counts = store[STREAMS]

    def draw(self, stream: str) -> bytes:
        """Return the next 32 bytes of a stream."""
        count = self._counts.get(stream) or 0
        self._counts.put(stream, count + 1)
        drawn = self._keyed.copy()
        drawn.update(f"{stream}/{count}".encode())
        return drawn.digest()

    def identifier(self, prefix: str, stream: str) -> str:
        """Return a new id: the prefix and 20 characters, such as `txn_0k3…`."""
        return prefix + text_of(self.draw(stream))

    def uuid(self, stream: str) -> str:
        """Return a new seeded UUID of version 4."""
        raw = bytearray(self.draw(stream)[:16])
        raw[6] = raw[6] & 0x0F | 0x40
        raw[8] = raw[8] & 0x3F | 0x80
        digits = raw.hex()
        return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"

    def below(self, limit: int, stream: str) -> int:
        """Return a random integer from 0 to limit - 1."""
        return int.from_bytes(self.draw(stream)[:16], "big") % limit

    def fraction(self, stream: str) -> float:
        """Return a random number from 0 (inclusive) to 1 (exclusive), in steps of 2^-53."""
        return (int.from_bytes(self.draw(stream)[:8], "big") >> 11) / (1 << 53)


def derive(*parts: object) -> bytes:
    """Return 32 bytes that depend on the given parts only. They are used for keys, tokens and derived ids."""
    return hashlib.sha256("\x00".join(map(str, parts)).encode()).digest()
