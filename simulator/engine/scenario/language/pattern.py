"""Regular expressions of `matches`: compiled by RE2, whose search takes time linear in the value, whatever the pattern.

Its syntax is https://github.com/google/re2/wiki/Syntax: named groups are `(?P<name>…)`; what needs backtracking
(looking ahead or behind, references to earlier groups) does not exist.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import re2

MAX_REPETITION = 1_000
_MOST_STEPS = 20_000_000
"""A search makes at most the pattern's size times the value's length of steps; of more than these it is not begun."""

_BACKTRACKING = re.compile(r"\(\?(?:<?[=!]|P=|>)|\\[1-9]|[*+?}]\+")
_REPETITION = re.compile(r"(?<!\\)\{([0-9]*)(?:,([0-9]*))?\}")
_MAX_MEMORY = 1 << 20
_BEGINNING = re.compile(r"\^([A-Za-z0-9 _:/-]+)(?:(?=[A-Za-z0-9 _:/-])|\Z)")
"""Plain text that more of it follows: what repeats the last letter of all may stand behind it, or behind a `(?i)`."""


class Pattern:
    """A compiled pattern; ValueError, with the reason in words, for what is none."""

    __slots__ = ("_beginning", "_compiled", "_longest", "groups")

    def __init__(self, text: str) -> None:
        for counts in _REPETITION.findall(text):
            if any(len(count) > 4 or int(count or 0) > MAX_REPETITION for count in counts):
                raise ValueError(f"not a regular expression: a repetition is at most {MAX_REPETITION}")
        options = re2.Options()
        options.log_errors = False
        options.max_mem = _MAX_MEMORY
        try:
            self._compiled: Any = re2.compile(text, options)
        except (re2.error, UnicodeEncodeError) as error:
            raise ValueError(f"not a regular expression: {_why(text, error)}") from None
        self.groups = frozenset(self._compiled.groupindex)
        # Most values are refused by the plain text that a pattern begins with, for which RE2 takes ten times as long.
        begins = None if "|" in text else _BEGINNING.match(text)
        self._beginning = "" if begins is None else begins[1]
        self._longest = _MOST_STEPS // max(1, self._compiled.programsize)

    def search(self, value: str) -> dict[str, str] | None:
        """The named groups that took part when the pattern is found in a value, else None."""
        if not value.startswith(self._beginning):
            return None
        found = self._compiled.search(value) if len(value) <= self._longest else None
        if found is None:
            return None
        return {name: text for name, text in found.groupdict().items() if text is not None}


def _why(text: str, error: Exception) -> str:
    if isinstance(error, UnicodeEncodeError):
        return "it has characters that are none"
    if _BACKTRACKING.search(text):
        return "looking ahead or behind, possessive repetition and references to earlier groups are not possible here"
    reason = error.args[0] if error.args else error
    return reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)


@lru_cache(maxsize=1_000)
def compiled(text: str) -> Pattern:
    """The pattern, compiled once."""
    return Pattern(text)
