"""Lists: the common parameters, filters, sorting and the page envelope, once for every list.

Subsection "Common list parameters" of the specification, decisions L1, L2 and L6.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from decimal import Decimal
from functools import cached_property
from itertools import islice
from typing import Any, Generic, Literal, Protocol, TypeAlias

from typing_extensions import TypeVar

from simulator.engine.records import indexes
from simulator.engine.records.conditions import FEW, Condition, Having, Holding, InRange, SortKey, only, the, within
from simulator.engine.rows.error import ApiError, invalid
from simulator.engine.text.shapes import Choices, Page, Pagination
from simulator.kernel.clock import DAY_MS, MS_NS, parse_date, parse_nanoseconds
from simulator.kernel.dataclass import dataclass
from simulator.kernel.table import Table

ShownT = TypeVar("ShownT")

DEFAULT_SIZE = 20
MAX_SIZE = 100
MIN_SEARCH = 2

_WHOLE = re.compile(r"[0-9]{1,4000}", re.ASCII)
_LARGEST_WRITTEN = 2**63 - 1
"""Larger whole numbers are written as decimals, exactly all the same."""
_ZONE = re.compile(r"(?:[Zz]|[+-][0-9]{2}:?[0-9]{2})$", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,18}(\.[0-9]{1,18})?", re.ASCII)


class Listed(Protocol):
    """What every listed record has: `sequence` decides between those that are sorted alike."""

    @property
    def sequence(self) -> int | tuple[int, ...]: ...

    @property
    def created_at_ms(self) -> int: ...

    @property
    def updated_at_ms(self) -> int: ...


R = TypeVar("R", bound=Listed, default=Any)
R_co = TypeVar("R_co", bound=Listed, covariant=True)

Records: TypeAlias = Table[R] | Sequence[R]
"""The records of a list, oldest first: a table, or a list that was made for it."""


class Ordered(Protocol[R_co]):
    """Records in an order, to be read from either end."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[R_co]: ...

    def __reversed__(self) -> Iterator[R_co]: ...


@dataclass(frozen=True)
class Filter(Generic[R]):
    """A query parameter that narrows a list to the records of which `by` finds a value that is asked for.

    `choices` are its valid values (None: any text); `many` allows a comma-separated list. For the contract:
    `description`, and in `assumed` the decision that `choices` rest on where the specification does not give them all.
    """

    name: str
    by: Callable[[R], Iterable[str | None]]
    choices: Choices | None = None
    many: bool = False
    description: str = ""
    assumed: str = ""

    def condition(self, text: str) -> Condition[R]:
        """What a record must be, the parameter being sent so; ApiError invalid_parameter."""
        values = text.split(",") if self.many else [text]
        if self.choices is not None:
            for value in values:
                if value not in self.choices:
                    raise invalid(self.name, f"{value!r} is not one of {', '.join(self.choices)}")
        return Having(self.by, frozenset(values))


@dataclass(frozen=True)
class Bound(Generic[R]):
    """A query parameter that narrows a list by a number: what `by` finds in a record is `at` "least" or "most" that."""

    name: str
    by: Callable[[R], Decimal]
    at: Literal["least", "most"]
    description: str = ""

    def condition(self, text: str) -> Condition[R]:
        """What a record must be, the parameter being sent so; ApiError invalid_parameter."""
        if _NUMBER.fullmatch(text) is None:
            raise invalid(self.name, "it must be a number, written as digits with an optional fraction")
        return InRange(self.by, **{self.at: Decimal(text)})


def by_field(name: str, choices: Choices | None = None, *, many: bool = False, description: str = "") -> Filter:
    """A filter that compares a record's field of the same name."""
    return Filter(name, only(name), choices, many, description)


DATES: Mapping[str, Callable[[Listed], SortKey]] = {
    "created_at": the("created_at_ms"),
    "updated_at": the("updated_at_ms"),
}

CREATION_DATES: Mapping[str, Callable[[Listed], SortKey]] = dict.fromkeys(DATES, the("created_at_ms"))
"""Of resources that show no `updated_at`: sorting by it is allowed, and means what can be seen (decision L1)."""


@dataclass(frozen=True)
class Listing(Generic[R]):
    """What one list offers beyond page and size.

    `search` returns the texts of a record that are searched, and `searched` says in words which; `sorts` the sortable
    fields; `statuses` the valid values of `status`, which rest on the decision `assumed_statuses` where the
    specification does not give them all. `common` is False where a list has only page, size, limit and its own filters
    (fees); its order is then `newest_first` or that of the table. `defaults` are the parameters' values where none is
    sent. `basis` is the decision that all parameters rest on, where the specification shows none of the list's.
    """

    filters: tuple[Filter[R] | Bound[R], ...] = ()
    search: Callable[[R], Iterable[str | None]] | None = None
    searched: str = ""
    sorts: Mapping[str, Callable[[R], SortKey]] | None = None
    statuses: Choices = ()
    assumed_statuses: str = ""
    common: bool = True
    newest_first: bool = True
    defaults: Mapping[str, str] = field(default_factory=dict)
    basis: str = "specified"

    @property
    def sortable(self) -> Mapping[str, Callable[[R], SortKey]]:
        return DATES if self.sorts is None else self.sorts

    @cached_property
    def narrowing(self) -> tuple[Filter[R] | Bound[R], ...]:
        """The filters, with that by status where the list has no own one."""
        if not self.common or any(filter_.name == "status" for filter_ in self.filters):
            return self.filters
        return (by_field("status", self.statuses, many=True), *self.filters)

    def parameters(self) -> tuple[str, ...]:
        """The names of all query parameters this list knows."""
        common = ("search", "start_date", "end_date", "sort_by", "sort_order", "status") if self.common else ()
        own = tuple(filter_.name for filter_ in self.filters)
        return tuple(dict.fromkeys(("page", "size", "limit", *common, *own)))


@dataclass(frozen=True)
class ListRequest(Generic[R]):
    """The validated query of a list. `sort` None: in the order of the records."""

    page: int
    size: int
    conditions: tuple[Condition[R], ...]
    sort: Callable[[R], SortKey] | None
    descending: bool

    def where(self, by: Callable[[R], Iterable[str | None]], value: str) -> ListRequest[R]:
        """The same request of those records only of which `by` finds a value: what belongs to one resource."""
        return replace(self, conditions=(Having(by, frozenset((value,))), *self.conditions))

    def ordered(self, by: Callable[[R], SortKey]) -> ListRequest[R]:
        """The same request of records that are kept in another order than lists show them in, which `by` gives."""
        return self if self.sort is not None else replace(self, sort=by)


def parse_list(listing: Listing[R], query: Mapping[str, str]) -> ListRequest[R]:
    """Validate a query string (empty values already dropped); ApiError invalid_parameter or invalid_date_range."""
    query = {**listing.defaults, **query}
    page = _whole(query, "page", 1, None)
    size = _whole(query, "limit" if "size" not in query and "limit" in query else "size", DEFAULT_SIZE, MAX_SIZE)
    search: list[Condition[R]] = []
    conditions: list[Condition[R]] = []
    sort: Callable[[R], SortKey] | None = None
    descending = listing.newest_first
    if listing.common:
        search += _search(listing, query)
        conditions += _dates(query)
        sort_by = query.get("sort_by", "created_at")
        if sort_by not in listing.sortable:
            raise invalid("sort_by", f"this list sorts by {', '.join(listing.sortable)}")
        sort = None if sort_by == "created_at" else listing.sortable[sort_by]
        sort_order = query.get("sort_order", "desc")
        if sort_order not in ("asc", "desc"):
            raise invalid("sort_order", "it is asc or desc")
        descending = sort_order == "desc"
    conditions += [one.condition(query[one.name]) for one in listing.narrowing if one.name in query]
    return ListRequest(page, size, (*conditions, *search), sort, descending)


def _whole(query: Mapping[str, str], name: str, default: int, largest: int | None) -> int:
    text = query.get(name)
    if text is None:
        return default
    if _WHOLE.fullmatch(text) is None or int(text) < 1 or (largest is not None and int(text) > largest):
        limits = "at least 1" if largest is None else f"from 1 to {largest}"
        raise invalid(name, f"it must be a whole number, {limits}")
    return int(text)


def _search(listing: Listing[R], query: Mapping[str, str]) -> list[Condition[R]]:
    text = query.get("search")
    if text is None:
        return []
    if len(text) < MIN_SEARCH:
        raise invalid("search", f"it needs at least {MIN_SEARCH} characters")
    return [Having(_nothing, frozenset()) if listing.search is None else Holding(listing.search, text.casefold())]


def _nothing(record: Listed) -> tuple[str, ...]:
    return ()


def _dates(query: Mapping[str, str]) -> list[Condition[Any]]:
    """The condition on the time of creation, in whole milliseconds: records are made at no other moments.

    Bounds are compared exactly (decision L2), so a start between two milliseconds counts from the later one.
    """
    start = _nanoseconds(query, "start_date", 0)
    end = _nanoseconds(query, "end_date", DAY_MS * MS_NS - 1)
    if start is not None and end is not None and end < start:
        raise ApiError("invalid_date_range", "`end_date` must not lie before `start_date`.", "end_date")
    if start is None and end is None:
        return []
    least = None if start is None else -(-start // MS_NS)
    return [InRange(the("created_at_ms"), least, None if end is None else end // MS_NS)]


def _nanoseconds(query: Mapping[str, str], name: str, day_offset: int) -> int | None:
    text = query.get(name)
    if text is None:
        return None
    try:
        if len(text) == len("YYYY-MM-DD"):
            return parse_date(text) * MS_NS + day_offset
        return parse_nanoseconds(text if _ZONE.search(text) else f"{text}Z")
    except ValueError:
        raise invalid(name, "it must be YYYY-MM-DD or an ISO 8601 timestamp") from None


def paginate(request: ListRequest[R], records: Records[R]) -> tuple[Sequence[R], Pagination]:
    """The records of the asked page, and the `pagination` object."""
    start = (request.page - 1) * request.size
    if isinstance(records, Table) and _far(request, len(records), start):
        found, total = _look_up(request, records, start)
    else:
        found, total = _look_through(request, records.values() if isinstance(records, Table) else records, start)
    pages = -(-total // request.size)
    page: Any = request.page if request.page <= _LARGEST_WRITTEN else Decimal(request.page)  # only its writing differs
    return found, {"page": page, "size": request.size, "total": total, "total_pages": pages}


def _far(request: ListRequest[R], total: int, start: int) -> bool:
    """Whether looking a page up costs less than looking through the records, from their nearer end."""
    if request.conditions or request.sort is not None:
        return total > FEW
    return FEW < start < total - FEW


def _look_through(request: ListRequest[R], records: Ordered[R], start: int) -> tuple[list[R], int]:
    if not request.conditions and request.sort is None:
        total = len(records)
        end = min(start + request.size, total)
        return _cut(records, min(start, total), end, newest_first=request.descending), total
    matching = list(records)
    for condition in request.conditions:
        matching = [row for row in matching if condition.holds(row)]
    if request.sort is not None:
        key = request.sort
        matching.sort(key=lambda row: (key(row), row.sequence))
    if request.descending:
        matching.reverse()
    return matching[start : start + request.size], len(matching)


def _look_up(request: ListRequest[R], table: Table[R], start: int) -> tuple[list[R], int]:
    rows = table.index(indexes.Numbered)
    matching = within(rows, request.conditions)
    total = len(matching)
    if total <= FEW:
        return _look_through(request, [rows[number] for number in matching], start)
    page = rows.page(matching, request.sort, start, min(start + request.size, total), descending=request.descending)
    return [rows[number] for number in page], total


def _cut(records: Ordered[R], start: int, end: int, *, newest_first: bool) -> list[R]:
    total = len(records)
    backwards = start > total - end
    if backwards:
        start, end = total - end, total - start
    rows = reversed(records) if newest_first != backwards else iter(records)
    found = list(islice(rows, start, end))
    return found[::-1] if backwards else found


def page_of(request: ListRequest[R], records: Records[R], show: Callable[[R], ShownT]) -> Page[ShownT]:
    """The list envelope {data, pagination}."""
    found, pagination = paginate(request, records)
    return {"data": [show(row) for row in found], "pagination": pagination}
