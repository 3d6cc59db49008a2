"""Links from the citation of a clause or decision to the page that explains it, derived from its words.

A clause is written as `Ramp quote`, `Limits: quote validity` or `Errors, retry guidance; decision H14`. The page of the
rules has an anchor for each cited clause, the page of the assumptions one for each decision.
"""

from __future__ import annotations

import re

from simulator.engine.clients.address import CONTROL_BASE

DOCS_BASE = f"{CONTROL_BASE}/docs"
"""The base path of the pages, which are served by their path without `.md`."""

_ASSUMED = re.compile(r"(?:decision )?([A-Z]\d+|[a-z]+(?:-[a-z]+)+)")
_PAGES = {"control interface, ": "reference/control", "scenario files, ": "reference/scenarios"}
_RULES, _ASSUMPTIONS = "reference/rules", "reference/assumptions"


def slug(text: str) -> str:
    """Return the anchor of a heading as code hosts generate it: `Quotes & fees, H14` becomes `quotes--fees-h14`."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def places_of(cited: str) -> list[tuple[str, str]]:
    """Return the targets of a citation, part by part, as (page, anchor): `("reference/rules", "ramp-quote")`."""
    return [_place(part) for part in map(str.strip, cited.split(";")) if part]


def _place(part: str) -> tuple[str, str]:
    if found := _ASSUMED.fullmatch(part):
        return _ASSUMPTIONS, found[1]
    for beginning, page in _PAGES.items():
        if part.startswith(beginning):
            return page, slug(part.removeprefix(beginning))
    return _RULES, slug(part)


def links_of(cited: str) -> list[str]:
    """Return the targets as paths on the server: `/_simulator/docs/reference/rules#ramp-quote`."""
    return [f"{DOCS_BASE}/{page}#{anchor}" for page, anchor in places_of(cited)]


def read_by(cited: str) -> str:
    """Return the commands that show the targets in a terminal: `rampsim docs ramp-quote`, or ""."""
    return ", ".join(f"rampsim docs {anchor}" for _, anchor in places_of(cited))
