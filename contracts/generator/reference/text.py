"""What the pages of the reference write alike."""

from __future__ import annotations

from collections.abc import Iterable

from simulator.engine.text.citations import places_of


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> list[str]:
    """A table of Markdown, line by line."""
    names = list(head)
    return [_row(names), "| " + " | ".join("-" for _ in names) + " |", *map(_row, rows)]


def _row(cells: Iterable[object]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def place_of(basis: str) -> str:
    """A clause or a decision as links of a page of the reference."""
    places = places_of(basis)
    names = [part.strip() for part in basis.split(";")]
    return ", ".join(
        f"[{name}]({page.removeprefix('reference/')}.md#{anchor})"
        for name, (page, anchor) in zip(names, places, strict=True)
    )
