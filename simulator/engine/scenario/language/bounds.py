"""The limits for scenario documents: size, number of values, depth."""

from __future__ import annotations

from simulator.kernel.dataclass import dataclass

MAX_DEPTH = 64


@dataclass(frozen=True)
class Bounds:
    """The size limits for a document."""

    size: int
    """The maximum size in bytes."""
    values: int
    """The maximum number of values. The values of an alias count each time the alias is used."""


UPLOAD = Bounds(256 * 1024, 20_000)
"""The bounds for a document that a client sends."""
FILE = Bounds(16 * 1024 * 1024, 1_000_000)
"""The bounds for a file on the user's own disk."""
