"""The regular expressions in `matches` conditions, compiled with RE2. A search takes linear time for any pattern.
Syntax: https://github.com/google/re2/wiki/Syntax. RE2 does not support lookaround and backreferences.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import re2

MAX_REPETITION = 1_000
_MOST_STEPS = 20_000_000
"""The maximum of pattern size times value length, which limits the steps of a search. Beyond it, nothing is found."""

_BACKTRACKING = re.compile(r"\(\?(?:<?[=!]|P=|>)|\\[1-9]|[*+?}]\+")
_REPETITION = re.compile(r"(?<!\\)\{([0-9]*)(?:,([0-9]*))?\}")
_MAX_MEMORY = 1 << 20
_PREFIX = re.compile(r"\^([A-Za-z0-9 _:/-]+)(?:(?=[A-Za-z0-9 _:/-])|\Z)")
"""The literal start of a pattern, without the last character if more follows, such as `?` or `*`."""


class Pattern:
    """A compiled pattern. Raises `ValueError` with the reason if the pattern is invalid."""

    __slots__ = ("_compiled", "_longest", "groups", "prefix")

    def __init__(self, text: str) -> None:
        for counts in _REPETITION.findall(text):
            if any(len(count) > 4 or int(count or 0) > MAX_REPETITION for count in counts):
                raise ValueError(f"not a regular expression: a repetition count must be at most {MAX_REPETITION}")
        options = re2.Options()
        options.log_errors = False
        options.max_mem = _MAX_MEMORY
        try:
            self._compiled: Any = re2.compile(text, options)
        except (re2.error, UnicodeEncodeError) as error:
            raise ValueError(f"not a regular expression: {_why(text, error)}") from None
        self.groups = frozenset(self._compiled.groupindex)
        # Most values do not contain the pattern's literal prefix. Comparing the prefix first takes a tenth of the
        # time of a search.
        begins = None if "|" in text else _PREFIX.match(text)
        self.prefix: str = "" if begins is None else begins[1]
        self._longest = _MOST_STEPS // max(1, self._compiled.programsize)

    def search(self, value: str) -> dict[str, str] | None:
        """Search a string for the pattern. Return the named groups of the first match, or None if there is no match."""
        if not value.startswith(self.prefix):
            return None
        found = self._compiled.search(value) if len(value) <= self._longest else None
        if found is None:
            return None
        return {name: text for name, text in found.groupdict().items() if text is not None}


def _why(text: str, error: Exception) -> str:
    if isinstance(error, UnicodeEncodeError):
        return "it has invalid characters (surrogates)"
    if _BACKTRACKING.search(text):
        return "lookaround, possessive repetition and backreferences are not supported"
    reason = error.args[0] if error.args else error
    return reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)


compiled = lru_cache(maxsize=1_000)(Pattern)
