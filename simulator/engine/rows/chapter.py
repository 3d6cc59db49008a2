"""The order of a chapter whose rows stand in several rooms, as the published catalogues show it."""

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
    """The rows of all rooms by name, each behind the row that it names, else behind the one before it in its room.

    ValueError for two rows of one name, and for rows that follow each other in a circle. A row that names one of a room
    that is not there stands where it stands in its own.
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
