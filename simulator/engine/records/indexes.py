"""Table indexes for list requests. They find rows by value, range or substring, and sort rows.

Each row has a number, which is its position in the table, and a set of rows is a bitmap of these numbers. The result of
several filters is the intersection of their bitmaps, which takes microseconds for any number of rows. A part of the
index is built when a list request first needs it, and every later write updates it. A table whose lists are never
filtered or sorted therefore has no index.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from pyroaring import BitMap

from simulator.kernel.table import ABSENT, Table

if TYPE_CHECKING:
    from _typeshed import SupportsRichComparison

R = TypeVar("R")
PartT = TypeVar("PartT", bound="Part[Any]")

Entry: TypeAlias = "tuple[Any, Any, int]"
"""A row in a sorted part of an index (`Order`): its sort key, its sequence and its number."""

MANY = 10_000
"""The number of rows above which building a part takes 5 ms or more. Other requests can then run in between."""

_SLICE = 4096
"""The number of rows that one slice of a build reads, in about a millisecond."""

_BLOCK = 512
"""The number of rows in a block of a sorted part (`Order`). A block has at most twice as many rows."""

_TEXTS = 64
"""The number of rows whose strings are joined for searching."""

_FIELD, _ROW = "\x1f", "\x1e"
"""Separators between the values in a row, and between rows: control characters, which strings rarely contain."""

_RESULTS = 8
"""The number of search results that are cached."""


class Unindexed(Exception):  # This is not an error: the caller builds the part, then repeats the lookup.
    """A lookup needs a part of an index that takes long to build. Exhaust `build`, then repeat the lookup."""

    def __init__(self, build: Iterator[None]) -> None:
        super().__init__("a part of an index is not built")
        self.build = build
        """Builds the part in slices of a few milliseconds. The table may be written between slices."""


class TableIndex(Generic[R]):
    """The numbered rows of a table, and an index for each condition or sort key. An index is built on first use."""

    def __init__(self, table: Table[R]) -> None:
        self._table = table
        self._keys = list(table.rows)
        # The number of each row takes 90 bytes. Tables whose rows are added and never changed have no numbers,
        # because an undone write always concerns their newest row.
        self._numbers: dict[str, int] | None = None
        self._parts: dict[tuple[type[Part[R]], Callable[[R], Any]], Part[R]] = {}
        self._missed: list[list[tuple[int, R, R]]] = []
        """The writes since the start of each unfinished build."""
        self.all = BitMap(range(len(self._keys)))
        self.defers = False
        """True if lookups raise `Unindexed` instead of building a part for many rows."""

    def __len__(self) -> int:
        """Return the number of rows, including deleted rows."""
        return len(self._keys)

    def __getitem__(self, number: int) -> R:
        return self._table.rows[self._keys[number]]

    def items(self) -> Iterator[tuple[int, R]]:
        """Return every row with its number."""
        return zip(self.all, self._table.rows.values(), strict=True)  # Both are in creation order.

    def keys_newest_first(self, among: BitMap) -> Iterator[str]:
        """Yield the keys of the rows in `among`, newest first. Do not write to the table during the iteration."""
        for end in range(len(among), 0, -_BLOCK):
            yield from (self._keys[number] for number in list(among[max(end - _BLOCK, 0) : end])[::-1])

    def written(self, key: str, old: R, new: R) -> None:
        """Update the indexes for all properties after a row was written or a write was undone. `old` is ABSENT for an
        added row, `new` for a deleted row.
        """
        if old is ABSENT:
            number = len(self._keys)
            self._keys.append(key)
            if self._numbers is not None:
                self._numbers[key] = number
            self.all.add(number)
        else:
            number = self.number(key)
            if new is ABSENT:
                self.all.discard(number)
                if number == len(self._keys) - 1:
                    self._keys.pop()
                if self._numbers is not None:
                    del self._numbers[key]
        for part in self._parts.values():
            part.written(number, old, new)
        for missed in self._missed:
            missed.append((number, old, new))

    def number(self, key: str) -> int:
        """Return the number of the row with this key."""
        if self._keys[-1] == key:
            return len(self._keys) - 1
        if self._numbers is None:
            self._numbers = {self._keys[number]: number for number in self.all}
        return self._numbers[key]

    def values(self, by: Callable[[R], Iterable[str | None]]) -> Values[R]:
        """Return the index by the property that `by(row)` returns, such as the status of a row."""
        return self._part(Values, by)

    def order(self, by: Callable[[R], Any]) -> Order[R]:
        """Return the sorted rows of the table. `by` returns the sort key of a row."""
        return self._part(Order, by)

    def texts(self, by: Callable[[R], Iterable[str | None]]) -> Texts[R]:
        """Return the index for text search. `by` returns the strings of a row."""
        return self._part(Texts, by)

    def where(self, holds: Callable[[R], bool]) -> BitMap:
        """Return the rows that match a predicate. All rows are tested."""
        return BitMap(number for number, row in self.items() if holds(row))

    def page(
        self, among: BitMap, sort: Callable[[R], Any] | None, start: int, end: int, *, descending: bool
    ) -> list[int]:
        """Sort the rows in `among` by the key that `sort` returns (None: table order). Return the numbers from `start`
        to `end` - 1.
        """
        if start >= end:  # The page is after the last one.
            return []
        if sort is not None:
            return self.order(sort).cut(among, start, end, descending=descending)
        if descending:
            return list(among[max(len(among) - end, 0) : len(among) - start])[::-1]
        return list(among[start:end])

    def _part(self, kind: type[PartT], by: Callable[[R], Any]) -> PartT:
        part = self._parts.get((kind, by))
        if part is None:
            build = self._build(kind, by)
            if self.defers and len(self._keys) > MANY:
                raise Unindexed(build)
            for _ in build:
                pass
            part = self._parts[kind, by]
        assert isinstance(part, kind)
        return part

    def _build(self, kind: type[Part[R]], by: Callable[[R], Any]) -> Iterator[None]:
        """Build the index by the property that `by` returns. Apply writes made between two steps at the end."""
        part, missed = kind(self, by), list[tuple[int, R, R]]()
        self._missed.append(missed)
        try:
            yield from part.fill()
        finally:
            self._missed = [other for other in self._missed if other is not missed]
        for number, old, new in missed:
            part.written(number, old, new)
        self._parts[kind, by] = part


class Part(ABC, Generic[R]):
    """One part of a table index: the rows by one property. `by` returns this property of a row."""

    def __init__(self, rows: TableIndex[R], by: Callable[[R], Any]) -> None:
        self.rows = rows
        self.by = by

    @abstractmethod
    def fill(self) -> Iterator[None]:
        """Add the existing rows in chunks, and yield after each chunk. `_build` passes later writes to `written`."""

    @abstractmethod
    def written(self, number: int, old: R, new: R) -> None:
        """Apply the write of a row. `old` is ABSENT for an added row, and `new` is ABSENT for a deleted row."""

    def _slices(self) -> Iterator[list[tuple[int, R]]]:
        items = list(self.rows.items())
        for start in range(0, len(items), _SLICE):
            yield items[start : start + _SLICE]


class Values(Part[R]):
    """Maps each value to the rows that have it. A row may have several values, or none."""

    def __init__(self, rows: TableIndex[R], by: Callable[[R], Iterable[str | None]]) -> None:
        super().__init__(rows, by)
        self._having: dict[str | None, BitMap] = {}

    def fill(self) -> Iterator[None]:
        found: dict[str | None, list[int]] = {}
        for items in self._slices():
            for number, row in items:
                for value in self.by(row):
                    found.setdefault(value, []).append(number)
            yield
        self._having = {value: BitMap(numbers) for value, numbers in found.items()}

    def written(self, number: int, old: R, new: R) -> None:
        before = () if old is ABSENT else tuple(self.by(old))
        after = () if new is ABSENT else tuple(self.by(new))
        if before == after:
            return
        for value in before:
            having = self._having.get(value)
            if having is not None:  # The set is None if a row had the value twice and no other row had it.
                having.discard(number)
                if not having:
                    del self._having[value]
        for value in after:
            having = self._having.get(value)
            if having is None:
                having = self._having[value] = BitMap()
            having.add(number)

    def any_of(self, wanted: Iterable[str]) -> BitMap:
        """Return the rows that have one of these values."""
        found = [self._having[value] for value in wanted if value in self._having]
        return found[0] if len(found) == 1 else BitMap().union(*found)


class _Block:
    """Consecutive entries in a sorted index (`Order`), and a bitmap of their row numbers for membership tests."""

    __slots__ = ("entries", "numbers")

    def __init__(self, entries: list[Entry]) -> None:
        self.entries = entries
        self.numbers = BitMap([number for _, _, number in entries])


class Order(Part[R]):
    """The rows by sort key, `sequence` and table order, in blocks with bitmaps, so that lookups skip whole blocks."""

    def __init__(self, rows: TableIndex[R], by: Callable[[R], SupportsRichComparison]) -> None:
        super().__init__(rows, by)
        self._blocks: list[_Block] = []
        self._lasts: list[Entry] = []

    def fill(self) -> Iterator[None]:
        entries: list[Entry] = []
        for items in self._slices():
            entries += [self._entry(number, row) for number, row in items]
            yield
        # Most rows are already in this order, so sorting twice takes half the time of sorting once by both keys.
        entries.sort(key=_sequence)
        yield
        entries.sort(key=_sort_key)
        yield
        self._blocks = [_Block(entries[start : start + _BLOCK]) for start in range(0, len(entries), _BLOCK)]
        self._lasts = [block.entries[-1] for block in self._blocks]

    def _entry(self, number: int, row: Any) -> Entry:
        return self.by(row), row.sequence, number

    def written(self, number: int, old: R, new: R) -> None:
        before = None if old is ABSENT else self._entry(number, old)
        after = None if new is ABSENT else self._entry(number, new)
        if before == after:
            return
        if before is not None:
            self._remove(before)
        if after is not None:
            self._insert(after)

    def _insert(self, entry: Entry) -> None:
        if not self._blocks:
            self._blocks, self._lasts = [_Block([])], [entry]
        at = min(bisect_left(self._lasts, entry), len(self._lasts) - 1)
        block = self._blocks[at]
        insort(block.entries, entry)
        block.numbers.add(entry[2])
        if len(block.entries) > 2 * _BLOCK:
            halves = [_Block(block.entries[:_BLOCK]), _Block(block.entries[_BLOCK:])]
            self._blocks[at : at + 1] = halves
            self._lasts[at : at + 1] = [half.entries[-1] for half in halves]
        else:
            self._lasts[at] = block.entries[-1]

    def _remove(self, entry: Entry) -> None:
        at = bisect_left(self._lasts, entry)
        block = self._blocks[at]
        del block.entries[bisect_left(block.entries, entry)]
        block.numbers.discard(entry[2])
        if block.entries:
            self._lasts[at] = block.entries[-1]
        else:
            del self._blocks[at], self._lasts[at]

    def between(self, least: Any, most: Any) -> BitMap:
        """Return the rows whose sort key is between `least` and `most`, inclusive. None means unbounded."""
        first, last = 0, len(self._blocks) - 1
        if least is not None:
            first = bisect_left(self._lasts, least, key=_sort_key)
        if most is not None:
            last = min(bisect_right(self._lasts, most, key=_sort_key), last)
        if first > last:
            return BitMap()
        # Only the first and the last block can contain rows outside the range.
        ends = [_between(self._blocks[at], least, most) for at in {first, last}]
        return BitMap().union(*ends, *(block.numbers for block in self._blocks[first + 1 : last]))

    def cut(self, among: BitMap, start: int, end: int, *, descending: bool) -> list[int]:
        """Sort the rows whose numbers are in `among`. Return the numbers at positions `start` to `end` - 1."""
        found: list[int] = []
        step = -1 if descending else 1
        for block in self._blocks[::step]:
            here = block.numbers.intersection_cardinality(among)
            if start < here:
                numbers = (number for _, _, number in block.entries[::step] if number in among)
                found += islice(numbers, start, end)
            start, end = max(start - here, 0), end - here
            if end <= 0:
                break
        return found


def _between(block: _Block, least: Any, most: Any) -> BitMap:
    entries = block.entries
    start = 0 if least is None else bisect_left(entries, least, key=_sort_key)
    end = len(entries) if most is None else bisect_right(entries, most, key=_sort_key)
    return block.numbers if end - start == len(entries) else BitMap([number for _, _, number in entries[start:end]])


_sort_key, _sequence = itemgetter(0), itemgetter(1)


class Texts(Part[R]):
    """The casefolded strings in the rows. The strings of 64 consecutive rows are joined into one string.

    Searching a hundred thousand transfers (5 MB) takes 2 to 4 ms. With addresses and hashes (20 MB), it takes 8 to 30
    ms. An index of all trigrams was tried: it is not faster, takes 100 µs for each written row, and needs twice the
    memory.
    """

    def __init__(self, rows: TableIndex[R], by: Callable[[R], Iterable[str | None]]) -> None:
        super().__init__(rows, by)
        self._blocks: list[str] = []
        self._stale = set[int]()
        """The blocks to rebuild in the next search, because most writes are not followed by a search."""
        self._results: dict[str, BitMap] = {}
        """The latest results, until the next write. A client that reads several pages repeats its search."""

    def fill(self) -> Iterator[None]:
        for at in range(-(-len(self.rows) // _TEXTS)):
            self._refresh(at)
            if at * _TEXTS % _SLICE == 0:
                yield

    def written(self, number: int, old: R, new: R) -> None:
        self._stale.add(number // _TEXTS)

    def holding(self, needle: str) -> BitMap | None:
        """Return the rows with a string that contains the casefolded `needle`, or None if it contains a separator."""
        if _FIELD in needle or _ROW in needle:
            return None
        if self._stale:
            for at in sorted(self._stale):
                self._refresh(at)
            self._stale.clear()
            self._results.clear()
        result = self._results.pop(needle, None)
        if result is None:
            result = BitMap(
                [
                    number
                    for at, block in enumerate(self._blocks)
                    if needle in block
                    for number, text in enumerate(block.split(_ROW), at * _TEXTS)
                    if needle in text
                ]
            )
            if len(self._results) == _RESULTS:
                del self._results[next(iter(self._results))]
        self._results[needle] = result
        return result

    def _refresh(self, at: int) -> None:
        numbers = range(at * _TEXTS, min((at + 1) * _TEXTS, len(self.rows)))
        texts = (self._text(number) if number in self.rows.all else "" for number in numbers)
        self._blocks[at : at + 1] = [_ROW.join(texts).casefold()]

    def _text(self, number: int) -> str:
        return _FIELD.join(filter(None, self.by(self.rows[number]))).replace(_ROW, _FIELD)
