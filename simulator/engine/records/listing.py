"""List requests: parameters, filters, sorting and the page envelope. Source: "Common list parameters" of the
specification, decisions L1, L2 and L6.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from decimal import Decimal
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeAlias

from typing_extensions import TypeVar

from simulator.engine.records import indexes
from simulator.engine.records.conditions import (
    FEW,
    Condition,
    Contains,
    HasValue,
    InRange,
    SortKey,
    field_getter,
    field_values,
    find_all,
)
from simulator.engine.rows.error import ApiError, invalid
from simulator.engine.text.shapes import Choices, Page, Pagination
from simulator.kernel.clock import DAY_MS, MS_NS, parse_date, parse_nanoseconds
from simulator.kernel.dataclass import dataclass
from simulator.kernel.patterns import compile_late
from simulator.kernel.table import Table

if TYPE_CHECKING:
    from _collections_abc import dict_values

ShownT = TypeVar("ShownT")

DEFAULT_SIZE = 20
MAX_SIZE = 100
MIN_SEARCH = 2

_WHOLE = compile_late(r"[0-9]{1,4000}", re.ASCII)
_LARGEST_WRITTEN = 2**63 - 1
"""The largest page number that is returned as an integer."""
_ZONE = compile_late(r"(?:[Zz]|[+-][0-9]{2}:?[0-9]{2})$", re.ASCII)
_NUMBER = compile_late(r"[0-9]{1,18}(\.[0-9]{1,18})?", re.ASCII)


class Listed(Protocol):
    """The fields of every record that can be in a list. Records with equal sort keys are ordered by `sequence`."""

    @property
    def sequence(self) -> int | tuple[int, ...]: ...

    @property
    def created_at_ms(self) -> int: ...

    @property
    def updated_at_ms(self) -> int: ...


R = TypeVar("R", bound=Listed, default=Any)

Records: TypeAlias = Table[R] | Sequence[R]
"""The records of a list, oldest first."""


@dataclass(frozen=True)
class Filter(Generic[R]):
    """A query parameter that limits a list to records with one of the given values."""

    name: str
    by: Callable[[R], Iterable[str | None]]
    """Returns the values in a record that are compared."""
    choices: Choices | None = None
    """The valid values, or None if any string is valid."""
    many: bool = False
    """True if the parameter accepts a comma-separated list."""
    description: str = ""
    assumed: str = ""
    """The decision behind `choices`, if the specification does not list all of them."""

    def condition(self, text: str) -> Condition[R]:
        """Return the condition for a value in the request. Raise `ApiError` invalid_parameter if it is invalid."""
        values = text.split(",") if self.many else [text]
        if self.choices is not None:
            for value in values:
                if value not in self.choices:
                    raise invalid(self.name, f"{value!r} is not one of {', '.join(self.choices)}")
        return HasValue(self.by, frozenset(values))


@dataclass(frozen=True)
class Bound(Generic[R]):
    """A query parameter with the lower or upper bound for a number in the records of a list."""

    name: str
    by: Callable[[R], Decimal]
    """Returns the number in a record."""
    at: Literal["least", "most"]
    description: str = ""

    def condition(self, text: str) -> Condition[R]:
        """Return the condition for a value in the request. Raise `ApiError` invalid_parameter if it is invalid."""
        if _NUMBER.fullmatch(text) is None:
            raise invalid(self.name, "it must be a number, written as digits with an optional fraction")
        return InRange(self.by, **{self.at: Decimal(text)})


def by_field(name: str, choices: Choices | None = None, *, many: bool = False, description: str = "") -> Filter:
    """Return a filter whose query parameter has the same name as the field."""
    return Filter(name, field_values(name), choices, many, description)


DATES: Mapping[str, Callable[[Listed], SortKey]] = {
    "created_at": field_getter("created_at_ms"),
    "updated_at": field_getter("updated_at_ms"),
}

CREATION_DATES: Mapping[str, Callable[[Listed], SortKey]] = dict.fromkeys(DATES, field_getter("created_at_ms"))
"""The sort keys for resources without `updated_at`. Sorting by it is the same as by `created_at` (decision L1)."""


@dataclass(frozen=True)
class Listing(Generic[R]):
    """The query parameters of one list, other than page and size."""

    filters: tuple[Filter[R] | Bound[R], ...] = ()
    search: Callable[[R], Iterable[str | None]] | None = None
    """Returns the strings in a record that are searched."""
    searched: str = ""
    """The names of the searched fields, as text for documentation."""
    sorts: Mapping[str, Callable[[R], SortKey]] = field(default_factory=lambda: DATES)
    """The sortable fields."""
    statuses: Choices = ()
    """The valid values for `status`."""
    assumed_statuses: str = ""
    """The decision behind `statuses`, if the specification does not list all of them."""
    common: bool = True
    """False if the list has only page, size, limit and its own filters, such as the list of fees."""
    newest_first: bool = True
    """True if the newest record is first. Used only if `common` is False."""
    defaults: Mapping[str, str] = field(default_factory=dict)
    """The values of omitted parameters."""
    basis: str = "specified"
    """The decision behind all parameters, if the specification lists none of them."""

    @cached_property
    def narrowing(self) -> tuple[Filter[R] | Bound[R], ...]:
        """Return the filters, including the common status filter unless the list defines its own."""
        if not self.common or any(filter_.name == "status" for filter_ in self.filters):
            return self.filters
        return (by_field("status", self.statuses, many=True), *self.filters)

    def parameters(self) -> tuple[str, ...]:
        """Return the names of all query parameters for this list."""
        common = ("search", "start_date", "end_date", "sort_by", "sort_order", "status") if self.common else ()
        own = tuple(filter_.name for filter_ in self.filters)
        return tuple(dict.fromkeys(("page", "size", "limit", *common, *own)))


@dataclass(frozen=True)
class ListRequest(Generic[R]):
    """The validated query of a list."""

    page: int
    size: int
    conditions: tuple[Condition[R], ...]
    sort: Callable[[R], SortKey] | None
    """The sort key, or None for the order of the records."""
    descending: bool
    defers: bool = False
    """True if the caller can wait for an index. `paginate` then raises `Unindexed` instead of building it."""

    def where(self, by: Callable[[R], Iterable[str | None]], value: str) -> ListRequest[R]:
        """Return a copy of this request, limited to records for which `by` returns `value`, such as a parent's id."""
        return replace(self, conditions=(HasValue(by, frozenset((value,))), *self.conditions))

    def ordered(self, by: Callable[[R], SortKey]) -> ListRequest[R]:
        """Return a copy of this request with the sort key `by`, unless the query already selects one."""
        return self if self.sort is not None else replace(self, sort=by)


def parse_list(listing: Listing[R], query: Mapping[str, str]) -> ListRequest[R]:
    """Validate a query. Raise `ApiError` invalid_parameter or invalid_date_range. An empty value is invalid."""
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
        if sort_by not in listing.sorts:
            raise invalid("sort_by", f"this list can be sorted by {', '.join(listing.sorts)}")
        sort = None if sort_by == "created_at" else listing.sorts[sort_by]
        sort_order = query.get("sort_order", "desc")
        if sort_order not in ("asc", "desc"):
            raise invalid("sort_order", "it must be asc or desc")
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
    return [HasValue(_nothing, frozenset()) if listing.search is None else Contains(listing.search, text.casefold())]


def _nothing(record: Listed) -> tuple[str, ...]:
    return ()


def _dates(query: Mapping[str, str]) -> list[Condition[Any]]:
    """Return the conditions on the creation time, in whole milliseconds, as in records. The start date is rounded up
    and the end date down, so that the range is exact (decision L2).
    """
    start = _nanoseconds(query, "start_date", 0)
    end = _nanoseconds(query, "end_date", DAY_MS * MS_NS - 1)
    if start is not None and end is not None and end < start:
        raise ApiError("invalid_date_range", "`end_date` is before `start_date`.", "end_date")
    if start is None and end is None:
        return []
    least = None if start is None else -(-start // MS_NS)
    return [InRange(field_getter("created_at_ms"), least, None if end is None else end // MS_NS)]


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
    """Return the records on the requested page, and the `pagination` object."""
    start = (request.page - 1) * request.size
    if isinstance(records, Table) and _is_indexed(request, len(records), start):
        found, total = _look_up(request, records, start)
    else:
        found, total = _look_through(request, records.values() if isinstance(records, Table) else records, start)
    pages = -(-total // request.size)
    # A larger integer is converted to an equal decimal, because orjson refuses the integer but writes the decimal.
    page: Any = request.page if request.page <= _LARGEST_WRITTEN else Decimal(request.page)
    return found, {"page": page, "size": request.size, "total": total, "total_pages": pages}


def _is_indexed(request: ListRequest[R], total: int, start: int) -> bool:
    """Return True if an index is cheaper than reading records from the end of the list that is nearer to the page."""
    if request.conditions or request.sort is not None:
        return total > FEW
    return FEW < start < total - FEW


def _look_through(
    request: ListRequest[R], records: Sequence[R] | dict_values[str, R], start: int
) -> tuple[list[R], int]:
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
    rows = table.index(indexes.TableIndex)
    rows.defers = request.defers
    matching = find_all(rows, request.conditions)
    total = len(matching)
    if total <= FEW:
        return _look_through(request, [rows[number] for number in matching], start)
    page = rows.page(matching, request.sort, start, min(start + request.size, total), descending=request.descending)
    return [rows[number] for number in page], total


def _cut(records: Sequence[R] | dict_values[str, R], start: int, end: int, *, newest_first: bool) -> list[R]:
    total = len(records)
    backwards = start > total - end
    if backwards:
        start, end = total - end, total - start
    rows = reversed(records) if newest_first != backwards else iter(records)
    found = list(islice(rows, start, end))
    return found[::-1] if backwards else found


def page_of(request: ListRequest[R], records: Records[R], show: Callable[[R], ShownT]) -> Page[ShownT]:
    """Return the list envelope {data, pagination}."""
    found, pagination = paginate(request, records)
    return {"data": [show(row) for row in found], "pagination": pagination}
