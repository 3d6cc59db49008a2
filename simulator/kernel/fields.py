"""Constraints on row fields that `engine/records/codec` checks when it reads rows from an exported world. For mypy, the
fields are plain numbers and strings.
"""

from __future__ import annotations

import re
from typing import Annotated, TypeAlias

from simulator.kernel.dataclass import dataclass
from simulator.kernel.patterns import compile_late

LAST_TIMESTAMP_MS = 253_402_300_799_999
"""The end of the year 9999, the latest time that can be formatted."""


@dataclass(frozen=True, slots=True)
class Between:
    """A number between two bounds, inclusive."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class OneLine:
    """A string without control characters, or a collection of such strings, as HTTP headers require. External input is
    passed through `one_line` before it is stored in such a field, so that all saved values can be read again.
    """


_CONTROL = compile_late(r"[\x00-\x1f\x7f]")


def is_one_line(text: str) -> bool:
    """Return True if a string contains no control characters."""
    return text.isprintable() or _CONTROL.search(text) is None


def one_line(text: str) -> str:
    r"""Return a string with its control characters escaped as `\t` or `\x01`. Receivers send them in headers.
    Backslashes are not doubled, because that would change ordinary values.
    """
    return text if text.isprintable() else _CONTROL.sub(_escaped, text)


def _escaped(control: re.Match[str]) -> str:
    return "\\t" if control[0] == "\t" else f"\\x{ord(control[0]):02x}"


Milliseconds: TypeAlias = Annotated[int, Between(0, LAST_TIMESTAMP_MS)]
"""A simulated time in milliseconds since 1970, or a duration in milliseconds."""

WallMilliseconds: TypeAlias = Annotated[float, Between(0, LAST_TIMESTAMP_MS)]
"""A duration in milliseconds of real time."""

Id: TypeAlias = Annotated[str, OneLine()]

Headers: TypeAlias = Annotated[tuple[tuple[str, str], ...], OneLine()]
"""Header names and values, in order."""
