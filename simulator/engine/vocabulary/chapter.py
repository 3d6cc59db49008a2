"""The order of a published catalogue whose rows are declared in several packages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

from simulator.engine.rows.by_name import by_name


class Placed(Protocol):
    """A row that may name the row before it."""

    @property
    def name(self) -> str: ...

    @property
    def after(self) -> str: ...


RowT = TypeVar("RowT", bound=Placed)


def chapter(what: str, rooms: Iterable[Iterable[RowT]]) -> dict[str, RowT]:
    """Return the rows of all rooms by name. Each row follows the row that it names, or else the previous row in its
    room.

    Raise `ValueError` for duplicate names and for circular orders. A row whose named predecessor is in a missing room
    keeps its position in its own room.
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
        raise ValueError(f"these {what} follow each other in a circle: {', '.join(known.keys() - found.keys())}")
    return found
