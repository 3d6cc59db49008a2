"""What a field of a row holds beyond its Python type; rows that come from outside are held against it.

mypy sees plain numbers and texts. `wire/codec` reads the annotations when it checks a document.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from simulator.kernel.dataclass import dataclass

LAST_TIMESTAMP_MS = 253_402_300_799_999
"""The end of the year 9999, the last moment that can be written."""


@dataclass(frozen=True, slots=True)
class Between:
    """A number from the first to the last of these."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class OneLine:
    """Text without control characters, or texts of which none has any: they go into headers."""


Milliseconds: TypeAlias = Annotated[int, Between(0, LAST_TIMESTAMP_MS)]
"""A moment (since 1970) or a span of simulated time."""

WallMilliseconds: TypeAlias = Annotated[float, Between(0, LAST_TIMESTAMP_MS)]
"""A span as a clock of the machine measured it."""

Id: TypeAlias = Annotated[str, OneLine()]

Headers: TypeAlias = Annotated[tuple[tuple[str, str], ...], OneLine()]
"""Names and values, in their order."""
