"""Constraints on fields of rows beyond their Python type, checked when rows come from outside.

mypy sees plain numbers and strings. `engine/records/codec` reads the annotations when it checks a document.
"""

from __future__ import annotations

import re
from typing import Annotated, TypeAlias

from simulator.kernel.dataclass import dataclass

LAST_TIMESTAMP_MS = 253_402_300_799_999
"""The end of the year 9999, the last moment that can be formatted."""


@dataclass(frozen=True, slots=True)
class Between:
    """A number between two bounds, both included."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class OneLine:
    """A string without control characters, or strings without any, as headers need.

    Input from outside reaches such a field only through `one_line`, so everything saved can be read back.
    """


_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def is_one_line(text: str) -> bool:
    """Return True if a string has no control characters."""
    return text.isprintable() or _CONTROL.search(text) is None


def one_line(text: str) -> str:
    r"""Return a string with its control characters escaped as `\t` or `\x01`.

    HTTP allows tabs in header values, and handwritten receivers send the rest. Backslashes are not doubled: that would
    change ordinary values for the sake of rare ones.
    """
    return text if text.isprintable() else _CONTROL.sub(_escaped, text)


def _escaped(control: re.Match[str]) -> str:
    return "\\t" if control[0] == "\t" else f"\\x{ord(control[0]):02x}"


Milliseconds: TypeAlias = Annotated[int, Between(0, LAST_TIMESTAMP_MS)]
"""A moment (since 1970) or a span of simulated time."""

WallMilliseconds: TypeAlias = Annotated[float, Between(0, LAST_TIMESTAMP_MS)]
"""A span measured by a clock of the machine."""

Id: TypeAlias = Annotated[str, OneLine()]

Headers: TypeAlias = Annotated[tuple[tuple[str, str], ...], OneLine()]
"""Names and values, in their order."""
