"""The order of a published catalogue whose rows are declared in several packages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

from simulator.engine.rows.by_name import by_name


class Placed(Protocol):
    """A row that can name the row that it follows."""

    @property
    def name(self) -> str: ...

    @property
    def after(self) -> str: ...


RowT = TypeVar("RowT", bound=Placed)


def chapter(what: str, rooms: Iterable[Iterable[RowT]]) -> dict[str, RowT]:
    """Return the rows of all packages by name.

    Each row comes after the row that it names, or otherwise after the previous row in its package. Raise `ValueError`
    for duplicate names and for circular orders. If the named row is in a missing package, the row keeps its position in
    its own package.
    """
    groups = [list(rows) for rows in rooms]
    known = by_name(what, (row for rows in groups for row in rows), lambda row: row.name)
    chosen, usual = defaultdict[str, list[RowT]](list), defaultdict[str, list[RowT]](list)
    for rows in groups:
        before = ""
        for row in rows:
            (chosen[row.after] if row.after in known else usual[before]).append(row)
            before = row.name

    def behind(name: str) -> Iterator[RowT]:
        for row in (*chosen[name], *usual[name]):
            yield row
            yield from behind(row.name)

    found = {row.name: row for row in behind("")}
    if len(found) != len(known):
        raise ValueError(f"these {what} depend on each other in a circle: {', '.join(known.keys() - found.keys())}")
    return found
