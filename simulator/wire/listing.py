"""Lists: the common parameters, filters, sorting and the page envelope, once for every list.

Subsection "Common list parameters" of the specification, decisions L1, L2 and L6.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from decimal import Decimal
from itertools import islice
from typing import Any, Generic, Protocol, TypeAlias

from typing_extensions import TypeVar

from simulator.kernel.clock import DAY_MS, parse_date, parse_timestamp
from simulator.kernel.dataclass import dataclass
from simulator.wire.errors import ApiError, invalid
from simulator.wire.shapes import Choices, Page, Pagination

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
SortKey: TypeAlias = int | str | Decimal
R_co = TypeVar("R_co", bound=Listed, covariant=True)


class Records(Protocol[R_co]):
    """The records of a list, oldest first: the values of a table, or a list that was made for it."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[R_co]: ...

    def __reversed__(self) -> Iterator[R_co]: ...


@dataclass(frozen=True)
class Filter(Generic[R]):
    """A query parameter that narrows a list.

    `choices` are its valid values (None: any text); `many` allows a comma-separated list. `match` gets a record
    and the set of values asked for. For the contract: `description`, and in `assumed` the decision that `choices` rest
    on where the specification does not give them all.
    """

    name: str
    match: Callable[[R, frozenset[str]], bool]
    choices: Choices | None = None
    many: bool = False
    description: str = ""
    assumed: str = ""

    def test(self, text: str) -> Callable[[R], bool]:
        values = text.split(",") if self.many else [text]
        if self.choices is not None:
            for value in values:
                if value not in self.choices:
                    raise invalid(self.name, f"{value!r} is not one of {', '.join(self.choices)}")
        wanted = frozenset(values)
        return lambda record: self.match(record, wanted)


@dataclass(frozen=True)
class Bound(Generic[R]):
    """A query parameter that narrows a list by a number. `match` gets a record and the number asked for."""

    name: str
    match: Callable[[R, Decimal], bool]
    description: str = ""

    def test(self, text: str) -> Callable[[R], bool]:
        if _NUMBER.fullmatch(text) is None:
            raise invalid(self.name, "it must be a number, written as digits with an optional fraction")
        bound = Decimal(text)
        return lambda record: self.match(record, bound)


def by_field(name: str, choices: Choices | None = None, *, many: bool = False, description: str = "") -> Filter:
    """A filter that compares a record's field of the same name."""
    return Filter(name, lambda record, values: getattr(record, name) in values, choices, many, description)


def _created(record: Listed) -> int:
    return record.created_at_ms


def _updated(record: Listed) -> int:
    return record.updated_at_ms


DATES: Mapping[str, Callable[[Listed], SortKey]] = {"created_at": _created, "updated_at": _updated}

CREATION_DATES: Mapping[str, Callable[[Listed], SortKey]] = {"created_at": _created, "updated_at": _created}
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

    def parameters(self) -> tuple[str, ...]:
        """The names of all query parameters this list knows."""
        common = ("search", "start_date", "end_date", "sort_by", "sort_order", "status") if self.common else ()
        own = tuple(filter_.name for filter_ in self.filters)
        return tuple(dict.fromkeys(("page", "size", "limit", *common, *own)))


@dataclass(frozen=True)
class ListRequest(Generic[R]):
    """The validated query of a list."""

    page: int
    size: int
    tests: tuple[Callable[[R], bool], ...]
    sort: Callable[[R], SortKey] | None
    descending: bool

    def where(self, test: Callable[[R], bool]) -> ListRequest[R]:
        """The same request of those records only which pass a test: what belongs to one resource."""
        return replace(self, tests=(test, *self.tests))


def parse_list(listing: Listing[R], query: Mapping[str, str]) -> ListRequest[R]:
    """Validate a query string (empty values already dropped); ApiError invalid_parameter or invalid_date_range."""
    query = {**listing.defaults, **query}
    page = _whole(query, "page", 1, None)
    size = _whole(query, "limit" if "size" not in query and "limit" in query else "size", DEFAULT_SIZE, MAX_SIZE)
    tests: list[Callable[[R], bool]] = []
    sort: Callable[[R], SortKey] | None = None
    descending = listing.newest_first
    if listing.common:
        tests += _search(listing, query)
        tests += _dates(query)
        sort_by = query.get("sort_by", "created_at")
        if sort_by not in listing.sortable:
            raise invalid("sort_by", f"this list sorts by {', '.join(listing.sortable)}")
        sort = None if sort_by == "created_at" else listing.sortable[sort_by]
        sort_order = query.get("sort_order", "desc")
        if sort_order not in ("asc", "desc"):
            raise invalid("sort_order", "it is asc or desc")
        descending = sort_order == "desc"
        if "status" in query and not any(filter_.name == "status" for filter_ in listing.filters):
            tests.append(by_field("status", listing.statuses, many=True).test(query["status"]))
    tests += [filter_.test(query[filter_.name]) for filter_ in listing.filters if filter_.name in query]
    return ListRequest(page, size, tuple(tests), sort, descending)


def _whole(query: Mapping[str, str], name: str, default: int, largest: int | None) -> int:
    text = query.get(name)
    if text is None:
        return default
    if _WHOLE.fullmatch(text) is None or int(text) < 1 or (largest is not None and int(text) > largest):
        limits = "at least 1" if largest is None else f"from 1 to {largest}"
        raise invalid(name, f"it must be a whole number, {limits}")
    return int(text)


def _search(listing: Listing[R], query: Mapping[str, str]) -> list[Callable[[R], bool]]:
    text = query.get("search")
    if text is None:
        return []
    if len(text) < MIN_SEARCH:
        raise invalid("search", f"it needs at least {MIN_SEARCH} characters")
    needle = text.casefold()
    fields = listing.search
    if fields is None:
        return [lambda record: False]
    return [lambda record: any(needle in value.casefold() for value in fields(record) if value)]


def _dates(query: Mapping[str, str]) -> list[Callable[[Listed], bool]]:
    start = _moment(query, "start_date", 0)
    end = _moment(query, "end_date", DAY_MS - 1)
    if start is not None and end is not None and end < start:
        raise ApiError("invalid_date_range", "`end_date` must not lie before `start_date`.", "end_date")
    tests: list[Callable[[Listed], bool]] = []
    if start is not None:
        tests.append(lambda record: record.created_at_ms >= start)
    if end is not None:
        tests.append(lambda record: record.created_at_ms <= end)
    return tests


def _moment(query: Mapping[str, str], name: str, day_offset_ms: int) -> int | None:
    text = query.get(name)
    if text is None:
        return None
    try:
        if len(text) == len("YYYY-MM-DD"):
            return parse_date(text) + day_offset_ms
        return parse_timestamp(text if _ZONE.search(text) else f"{text}Z")
    except ValueError:
        raise invalid(name, "it must be YYYY-MM-DD or an ISO 8601 timestamp") from None


def paginate(request: ListRequest[R], records: Records[R]) -> tuple[Sequence[R], Pagination]:
    """The records of the asked page, and the `pagination` object.

    Without filter and sort the page is cut straight out of the records, from their nearer end.
    """
    start = (request.page - 1) * request.size
    if not request.tests and request.sort is None:
        total = len(records)
        found = _cut(records, min(start, total), min(start + request.size, total), newest_first=request.descending)
    else:
        matching = [row for row in records if all(test(row) for test in request.tests)]
        if request.sort is not None:
            key = request.sort
            matching.sort(key=lambda row: (key(row), row.sequence))
        if request.descending:
            matching.reverse()
        total = len(matching)
        found = matching[start : start + request.size]
    pages = -(-total // request.size)
    page: Any = request.page if request.page <= _LARGEST_WRITTEN else Decimal(request.page)  # only its writing differs
    return found, {"page": page, "size": request.size, "total": total, "total_pages": pages}


def _cut(records: Records[R], start: int, end: int, *, newest_first: bool) -> list[R]:
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
