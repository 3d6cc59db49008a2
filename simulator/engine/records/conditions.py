"""Conditions on records. Matching records of a table are found with or without an index."""

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
"""The number of records up to which testing them one by one is cheaper than using an index."""

R = TypeVar("R", default=Any)
SortKey: TypeAlias = int | str | Decimal | tuple[int, ...]


class Condition(Protocol[R]):
    """A condition on a record."""

    def holds(self, record: R) -> bool:
        """Return True if a record matches the condition."""
        ...

    def find(self, rows: indexes.TableIndex[R]) -> BitMap:
        """Return the records in a table that match the condition, using the table's index."""
        ...


@dataclass(frozen=True, slots=True)
class HasValue(Generic[R]):
    """Matches a record if `by` returns at least one of the wanted values."""

    by: Callable[[R], Iterable[str | None]]
    wanted: frozenset[str]

    def holds(self, record: R) -> bool:
        return not self.wanted.isdisjoint(self.by(record))

    def find(self, rows: indexes.TableIndex[R]) -> BitMap:
        return rows.values(self.by).any_of(self.wanted)


@dataclass(frozen=True, slots=True)
class InRange(Generic[R]):
    """Matches a record if `by` returns a value from `least` to `most`. None means unbounded."""

    by: Callable[[R], SortKey]
    least: Any = None
    most: Any = None

    def holds(self, record: R) -> bool:
        found: Any = self.by(record)
        return (self.least is None or found >= self.least) and (self.most is None or found <= self.most)

    def find(self, rows: indexes.TableIndex[R]) -> BitMap:
        return rows.order(self.by).between(self.least, self.most)


@dataclass(frozen=True, slots=True)
class Contains(Generic[R]):
    """Matches a record if one of the strings that `by` returns contains the needle. Case is ignored."""

    by: Callable[[R], Iterable[str | None]]
    needle: str
    """The casefolded search string."""

    def holds(self, record: R) -> bool:
        return any(self.needle in value.casefold() for value in self.by(record) if value)

    def find(self, rows: indexes.TableIndex[R]) -> BitMap:
        found = rows.texts(self.by).holding(self.needle)
        return rows.where(self.holds) if found is None else found


@cache
def field_getter(name: str) -> Callable[[Any], Any]:
    """Return a function that reads a field. It is cached, because indexes are cached by function."""
    return attrgetter(name)


@cache
def field_values(name: str) -> Callable[[Any], tuple[Any]]:
    """Return a cached function that reads a field as a tuple with one value."""
    return lambda record: (getattr(record, name),)


def field_in(name: str, *values: str) -> HasValue:
    """Return a condition that matches records in which the field `name` has one of these values."""
    return HasValue(field_values(name), frozenset(values))


def find_all(rows: indexes.TableIndex[R], conditions: Sequence[Condition[R]]) -> BitMap:
    """Return the records that match the conditions, using indexes. As soon as at most `FEW` are left, the remaining
    conditions are skipped, and the caller must test them.
    """
    found = rows.all
    for condition in conditions:
        if len(found) > FEW:
            found = found & condition.find(rows)
    return found


def newest_of(
    table: Table[R],
    conditions: Sequence[Condition[R]],
    limit: int | None,
    by: Callable[[R], Any] | None = None,
    *,
    defers: bool = False,
) -> list[R]:
    """Return the newest `limit` (None: all) records that match all conditions, oldest first. `by` returns the sort key
    of a record (default: table order). If `defers` is True, raise `Unindexed` instead of building a large index.
    """
    if not conditions and by is None:
        return list(islice(table.newest_first(), limit))[::-1]
    return _first(table, conditions, limit, by, descending=True, defers=defers)[::-1]


def oldest_of(table: Table[R], conditions: Sequence[Condition[R]]) -> R | None:
    """Return the oldest record that matches all conditions, or None."""
    return next(iter(_first(table, conditions, 1) if conditions else table.values()), None)


def _first(
    table: Table[R],
    conditions: Sequence[Condition[R]],
    count: int | None,
    by: Callable[[R], Any] | None = None,
    *,
    descending: bool = False,
    defers: bool = False,
) -> list[R]:
    newest_come_first = descending and by is None
    some: Iterable[R] = reversed(table.values()) if newest_come_first else table.values()
    if len(table) > FEW and (conditions or count is not None):
        rows = table.index(indexes.TableIndex)
        rows.defers = defers
        found = find_all(rows, conditions)
        if len(found) > FEW:
            conditions = ()
            if count is not None:
                page = rows.page(found, by, 0, min(count, len(found)), descending=descending)
                return [rows[number] for number in page]
        numbers = list(found)
        some = map(rows.__getitem__, reversed(numbers) if newest_come_first else numbers)
    for condition in conditions:
        # This iteration is lazy: a caller that wants one row tests no further rows.
        some = filter(condition.holds, some)
    if by is None:
        return list(islice(some, count))
    matching = sorted(some, key=by)
    return (matching[::-1] if descending else matching)[:count]
