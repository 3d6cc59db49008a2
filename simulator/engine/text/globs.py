"""Matches globs against path templates. A glob matches a template if it matches any path of the template."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import lru_cache

from simulator.engine.text.strict import nearest

_BASE = re.compile(r"(https?://[^/]*)?(/[a-z]+)?/v1(?=/|$)")
_TOKENS = re.compile(r"\[[!]?\]?[^\]]*\]|.", re.DOTALL)
_OTHERS = tuple(chr(code) for code in range(0x21, 0x7F) if chr(code) != "/")
"""Sample characters for a path variable. They are sufficient to test whether a character class can match."""


@lru_cache(maxsize=4096)
def can_match(glob: str, template: str) -> bool:
    """Return True if the glob matches any path of this template (`/quotes/{id}/confirm`). `*` also matches slashes."""
    pattern: list[str] = _TOKENS.findall(glob)
    parts = re.split(r"(\{[^}]*\})", template)
    # A variable consists of one character other than a slash ("{") and any number of further ones ("{*").
    path = [token for part in parts for token in (("{", "{*") if part.startswith("{") else part)]

    seen: set[tuple[int, int]] = set()
    waiting = [(0, 0)]
    while waiting:
        at, here = place = waiting.pop()
        if place in seen:
            continue
        seen.add(place)
        wanted = pattern[at] if at < len(pattern) else ""
        given = path[here] if here < len(path) else ""
        if not wanted and not given:
            return True
        if wanted == "*":
            waiting.append((at + 1, here))
        if given == "{*":
            waiting.append((at, here + 1))
        if wanted and given and _fits(wanted, given):
            waiting.append((at + (wanted != "*"), here + (given != "{*")))
    return False


def _fits(wanted: str, given: str) -> bool:
    if wanted in ("*", "?"):
        return True
    candidates: Iterable[str] = _OTHERS if given in ("{", "{*") else given
    if len(wanted) == 1:
        return given == wanted or (given in ("{", "{*") and wanted != "/")
    return any(fnmatchcase(one, wanted) for one in candidates)


def meant_path(glob: str, templates: Iterable[str]) -> str:
    """Return a glob that matches a template and is similar to `glob`, which matches none, or "" if there is none."""
    templates = list(templates)
    below = "/" + _BASE.sub("", glob, count=1).lstrip("/")
    if any(can_match(below, template) for template in templates):
        return below
    return nearest(below, map(glob_of, templates))


def glob_of(template: str) -> str:
    """Return the glob for a path template: `/quotes/*/confirm` for `/quotes/{id}/confirm`."""
    return re.sub(r"\{[^}]*\}", "*", template)
