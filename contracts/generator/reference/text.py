"""Markdown helpers of the reference pages."""

from __future__ import annotations

from collections.abc import Iterable

from simulator.engine.text.citations import places_of


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> list[str]:
    """Return a Markdown table, line by line."""
    names = list(head)
    return [_row(names), "| " + " | ".join("-" for _ in names) + " |", *map(_row, rows)]


def _row(cells: Iterable[object]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def place_of(basis: str) -> str:
    """Return a clause or decision as links for a reference page."""
    places = places_of(basis)
    names = [part.strip() for part in basis.split(";")]
    return ", ".join(
        f"[{name}]({page.removeprefix('reference/')}.md#{anchor})"
        for name, (page, anchor) in zip(names, places, strict=True)
    )
