"""A mapping of rows by name, with a check for duplicates."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

Row = TypeVar("Row")


def by_name(what: str, rows: Iterable[Row], name_of: Callable[[Row], str]) -> dict[str, Row]:
    """Return a dictionary of rows by name, in the order of `rows`. `what` describes the rows in the error message.
    Raise `ValueError` if a name occurs twice, because a dictionary would silently drop one of the two rows.
    """
    found: dict[str, Row] = {}
    for row in rows:
        name = name_of(row)
        if name in found:
            raise ValueError(f"two {what} have the name {name!r}")
        found[name] = row
    return found
