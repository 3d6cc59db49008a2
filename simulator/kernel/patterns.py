"""Regular expressions that are compiled at first use. Compiling all of them would take 3 % of the startup time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from re import compile as compile_late
else:

    def compile_late(text: str | bytes, flags: int = 0) -> _LatePattern:
        """Return a pattern like `re.compile`. An invalid pattern raises `re.error` when it is first used."""
        return _LatePattern(text, flags)


class _LatePattern:
    """A pattern that is compiled when one of its attributes is first used. Each attribute is then cached."""

    def __init__(self, text: Any, flags: int) -> None:
        self._given = text, flags

    def __getattr__(self, name: str) -> Any:
        if name == "_given":  # `copy` and `pickle` ask before it is set
            raise AttributeError(name)
        found = getattr(re.compile(*self._given), name)
        setattr(self, name, found)
        return found


__all__ = ["compile_late"]
