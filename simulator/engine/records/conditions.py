"""What a record must be to be found, and finding the records of a table that are: one by one, or by its indexes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from functools import cache
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias

from typing_extensions import TypeVar

from simulator.engine.records import indexes
from simulator.kernel.dataclass import dataclass
from simulator.kernel.table import Table

if TYPE_CHECKING:
    from pyroaring import BitMap

FEW = 256
"""So many records are looked at one by one sooner than an index is made for them."""

R = TypeVar("R", default=Any)
SortKey: TypeAlias = int | str | Decimal | tuple[int, ...]


class Condition(Protocol[R]):
    """What a record must be."""

    def holds(self, record: R) -> bool:
        """Whether it holds for a record."""
        ...

    def within(self, rows: indexes.Numbered[R]) -> BitMap:
        """The records of a table for which it holds, by its indexes."""
        ...


@dataclass(frozen=True, slots=True)
class Having(Generic[R]):
    """One of the values that `by` finds in a record is wanted."""

    by: Callable[[R], Iterable[str | None]]
    wanted: frozenset[str]

    def holds(self, record: R) -> bool:
        return not self.wanted.isdisjoint(self.by(record))

    def within(self, rows: indexes.Numbered[R]) -> BitMap:
        return rows.having(self.by).any_of(self.wanted)


@dataclass(frozen=True, slots=True)
class InRange(Generic[R]):
    """What `by` finds in a record lies from `least` to `most`; None: without end."""

    by: Callable[[R], SortKey]
    least: Any = None
    most: Any = None

    def holds(self, record: R) -> bool:
        found: Any = self.by(record)
        return (self.least is None or found >= self.least) and (self.most is None or found <= self.most)

    def within(self, rows: indexes.Numbered[R]) -> BitMap:
        return rows.order(self.by).between(self.least, self.most)


@dataclass(frozen=True, slots=True)
class Holding(Generic[R]):
    """One of the texts that `by` finds in a record has the needle in it, upper and lower case alike."""

    by: Callable[[R], Iterable[str | None]]
    needle: str
    """Without upper case."""

    def holds(self, record: R) -> bool:
        return any(self.needle in value.casefold() for value in self.by(record) if value)

    def within(self, rows: indexes.Numbered[R]) -> BitMap:
        found = rows.texts(self.by).holding(self.needle)
        return rows.where(self.holds) if found is None else found


@cache
def the(name: str) -> Callable[[Any], Any]:
    """The function that reads a field of a record: one for all, so that lists which use a field share its index."""
    return attrgetter(name)


@cache
def only(name: str) -> Callable[[Any], tuple[Any]]:
    """The same, as the only value."""
    return lambda record: (getattr(record, name),)


def having(name: str, *values: str) -> Having:
    """The condition that a field of a record has one of these values."""
    return Having(only(name), frozenset(values))


def within(rows: indexes.Numbered[R], conditions: Sequence[Condition[R]]) -> BitMap:
    """The records of a table for which all conditions hold, and some for which not all do where that leaves few."""
    found = rows.all
    for condition in conditions:
        if len(found) > FEW:
            found = found & condition.within(rows)
    return found


def newest_of(
    table: Table[R], conditions: Sequence[Condition[R]], limit: int | None, by: Callable[[R], Any] | None = None
) -> list[R]:
    """The newest `limit` records (None: all) for which all conditions hold, oldest first.

    `by` gives their order, where it is not that of the table.
    """
    if not conditions and by is None:
        return list(islice(table.newest_first(), limit))[::-1]
    return _first(table, conditions, limit, by, descending=True)[::-1]


def oldest_of(table: Table[R], conditions: Sequence[Condition[R]]) -> R | None:
    """The oldest record for which all conditions hold, None when there is none."""
    return next(iter(_first(table, conditions, 1) if conditions else table.values()), None)


def _first(
    table: Table[R],
    conditions: Sequence[Condition[R]],
    count: int | None,
    by: Callable[[R], Any] | None = None,
    *,
    descending: bool = False,
) -> list[R]:
    newest_come_first = descending and by is None
    some: Iterable[R] = reversed(table.values()) if newest_come_first else table.values()
    if len(table) > FEW and (conditions or count is not None):
        rows = table.index(indexes.Numbered)
        found = within(rows, conditions)
        if len(found) > FEW:
            conditions = ()
            if count is not None:
                page = rows.page(found, by, 0, min(count, len(found)), descending=descending)
                return [rows[number] for number in page]
        numbers = list(found)
        some = map(rows.__getitem__, reversed(numbers) if newest_come_first else numbers)
    for condition in conditions:
        some = filter(condition.holds, some)  # one after another: whoever wants a single row looks no further
    if by is None:
        return list(islice(some, count))
    matching = sorted(some, key=by)
    return (matching[::-1] if descending else matching)[:count]
