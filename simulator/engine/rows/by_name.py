"""Rows of a table of the program, by their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

Row = TypeVar("Row")


def by_name(what: str, rows: Iterable[Row], name_of: Callable[[Row], str]) -> dict[str, Row]:
    """Rows by their names, in their order; ValueError for two of one name, of which one would be ignored in silence."""
    found: dict[str, Row] = {}
    for row in rows:
        name = name_of(row)
        if name in found:
            raise ValueError(f"there are two {what} of the name {name!r}")
        found[name] = row
    return found
