"""Links from citations such as `Limits: quote validity; decision H14` to pages with the clauses and decisions."""

from __future__ import annotations

import re

from simulator.engine.clients.address import CONTROL_BASE
from simulator.kernel.patterns import compile_late

DOCS_BASE = f"{CONTROL_BASE}/docs"
"""The base path of the documentation pages. Their paths have no `.md` suffix."""

_ASSUMED = compile_late(r"(?:decision )?([A-Z]\d+|[a-z]+(?:-[a-z]+)+)")
_PAGES = {"control interface, ": "reference/control", "scenario files, ": "reference/scenarios"}
_RULES, _ASSUMPTIONS = "reference/rules", "reference/assumptions"


def slug(text: str) -> str:
    """Return the anchor that code hosts generate for a heading: `Quotes & fees, H14` becomes `quotes--fees-h14`."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def places_of(cited: str) -> list[tuple[str, str]]:
    """Return the link targets of the parts of a citation, such as `("reference/rules", "ramp-quote")`."""
    return [_place(part) for part in map(str.strip, cited.split(";")) if part]


def _place(part: str) -> tuple[str, str]:
    if found := _ASSUMED.fullmatch(part):
        return _ASSUMPTIONS, found[1]
    for beginning, page in _PAGES.items():
        if part.startswith(beginning):
            return page, slug(part.removeprefix(beginning))
    return _RULES, slug(part)


def links_of(cited: str) -> list[str]:
    """Return the link targets as paths on the server: `/_simulator/docs/reference/rules#ramp-quote`."""
    return [f"{DOCS_BASE}/{page}#{anchor}" for page, anchor in places_of(cited)]


def assumptions_in(cited: str) -> list[str]:
    """Return the ids of the assumptions in a citation."""
    return [anchor for page, anchor in places_of(cited) if page == _ASSUMPTIONS]


def read_by(cited: str) -> str:
    """Return the commands that print the cited pages, such as `rampsim docs ramp-quote`, or ""."""
    return ", ".join(f"rampsim docs {anchor}" for _, anchor in places_of(cited))
