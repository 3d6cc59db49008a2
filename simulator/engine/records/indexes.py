"""Indexes of a table for its lists: which rows have a value, which lie in a range or hold a text, and in what order.

A row is known by a number, its place in the table, and a set of rows is a bitmap of numbers: what filters leave is the
intersection of a few of them, however many rows there are. A part of the index is made when a list first asks for it
and kept by every write from then on, so a table that nobody filters, sorts or searches so pays nothing for it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from pyroaring import BitMap
from stringzilla import count, find

from simulator.kernel.table import ABSENT, Table

if TYPE_CHECKING:
    from _typeshed import SupportsRichComparison

R = TypeVar("R")
PartT = TypeVar("PartT", bound="Part[Any]")

Entry: TypeAlias = "tuple[Any, Any, int]"
"""A row in an order: by what it is sorted, its sequence, its number."""

_BLOCK = 512
"""So many rows a block of an order has, up to twice as many: small enough to insert in, few enough to walk over."""

_TEXTS = 256
"""So many rows' texts are looked through as one."""

_FIELD, _ROW = "\x1f", "\x1e"
"""What separates the texts of a row, and those of rows: control characters that hardly a text has."""
_ROW_BYTES = _ROW.encode()

_ANSWERS = 8
"""So many answers to searches are kept."""


class Numbered(Generic[R]):
    """The rows of a table by number, and all that is indexed of them."""

    def __init__(self, table: Table[R]) -> None:
        self._table = table
        self._keys = list(table.rows)
        # The number of each row takes 90 bytes, so it is not kept of tables whose rows are added and never changed:
        # what is undone there is the newest.
        self._numbers: dict[str, int] | None = None
        self._parts: dict[tuple[type[Part[R]], Callable[[R], Any]], Part[R]] = {}
        self.all = BitMap(range(len(self._keys)))

    def __len__(self) -> int:
        """How many numbers there are, those of rows that are gone included."""
        return len(self._keys)

    def __getitem__(self, number: int) -> R:
        return self._table.rows[self._keys[number]]

    def items(self) -> Iterator[tuple[int, R]]:
        """Every row with its number."""
        return zip(self.all, self._table.rows.values(), strict=True)  # both are in the order of creation

    def keys_newest_first(self, among: BitMap) -> Iterator[str]:
        """The keys of these rows, those that were added last first; nothing is written meanwhile."""
        for end in range(len(among), 0, -_BLOCK):
            yield from (self._keys[number] for number in list(among[max(end - _BLOCK, 0) : end])[::-1])

    def written(self, key: str, old: R, new: R) -> None:
        """A row was written; the table says it, also when the write is undone. ABSENT stands for no row."""
        if old is ABSENT:
            number = len(self._keys)
            self._keys.append(key)
            if self._numbers is not None:
                self._numbers[key] = number
            self.all.add(number)
            for part in self._parts.values():
                part.add(number, new)
        elif new is ABSENT:
            number = self.number(key)
            self.all.discard(number)
            for part in self._parts.values():
                part.discard(number, old)
            if number == len(self._keys) - 1:
                self._keys.pop()
            if self._numbers is not None:
                del self._numbers[key]
        else:
            number = self.number(key)
            for part in self._parts.values():
                part.change(number, old, new)

    def number(self, key: str) -> int:
        """The number of the row with this key."""
        if self._keys[-1] == key:
            return len(self._keys) - 1
        if self._numbers is None:
            self._numbers = {self._keys[number]: number for number in self.all}
        return self._numbers[key]

    def having(self, by: Callable[[R], Iterable[str | None]]) -> Values[R]:
        """The index of the values that a function finds in a row."""
        return self._part(Values, by)

    def order(self, by: Callable[[R], Any]) -> Order[R]:
        """The index of the order that a function gives the rows."""
        return self._part(Order, by)

    def texts(self, by: Callable[[R], Iterable[str | None]]) -> Texts[R]:
        """The index of the texts that a function finds in a row."""
        return self._part(Texts, by)

    def where(self, holds: Callable[[R], bool]) -> BitMap:
        """The rows for which something holds: all are looked at."""
        return BitMap(number for number, row in self.items() if holds(row))

    def page(
        self, among: BitMap, sort: Callable[[R], Any] | None, start: int, end: int, *, descending: bool
    ) -> list[int]:
        """The numbers that stand from `start` to before `end` among these, in the order of the table or of a sort."""
        if start >= end:  # a page behind the last
            return []
        if sort is not None:
            return self.order(sort).cut(among, start, end, descending=descending)
        if descending:
            return list(among[max(len(among) - end, 0) : len(among) - start])[::-1]
        return list(among[start:end])

    def _part(self, kind: type[PartT], by: Callable[[R], Any]) -> PartT:
        part = self._parts.get((kind, by))
        if not isinstance(part, kind):
            part = self._parts[kind, by] = kind(self, by)
        return part


class Part(ABC, Generic[R]):
    """One thing that is indexed of the rows, which `by` finds in a row."""

    def __init__(self, rows: Numbered[R], by: Callable[[R], Any]) -> None:
        self.rows = rows
        self.by = by

    @abstractmethod
    def add(self, number: int, row: R) -> None:
        """A row is new."""

    @abstractmethod
    def discard(self, number: int, row: R) -> None:
        """A row is gone."""

    @abstractmethod
    def change(self, number: int, old: R, new: R) -> None:
        """A row is another now."""


class Values(Part[R]):
    """The rows by their values; a row may have several, or none."""

    def __init__(self, rows: Numbered[R], by: Callable[[R], Iterable[str | None]]) -> None:
        super().__init__(rows, by)
        found: dict[str | None, list[int]] = {}
        for number, row in rows.items():
            for value in by(row):
                found.setdefault(value, []).append(number)
        self._having = {value: BitMap(numbers) for value, numbers in found.items()}

    def add(self, number: int, row: R) -> None:
        for value in self.by(row):
            having = self._having.get(value)
            if having is None:
                having = self._having[value] = BitMap()
            having.add(number)

    def discard(self, number: int, row: R) -> None:
        for value in self.by(row):
            having = self._having.get(value)
            if having is not None:  # None: a row may have a value twice, and it was the only one that had it
                having.discard(number)
                if not having:
                    del self._having[value]

    def change(self, number: int, old: R, new: R) -> None:
        if tuple(self.by(old)) != tuple(self.by(new)):
            self.discard(number, old)
            self.add(number, new)

    def any_of(self, wanted: Iterable[str]) -> BitMap:
        """The rows that have one of these values."""
        found = [self._having[value] for value in wanted if value in self._having]
        return found[0] if len(found) == 1 else BitMap().union(*found)


class _Block:
    """A stretch of an order, and which rows are in it."""

    __slots__ = ("entries", "numbers")

    def __init__(self, entries: list[Entry]) -> None:
        self.entries = entries
        self.numbers = BitMap([number for _, _, number in entries])


class Order(Part[R]):
    """The rows sorted, in blocks that know which rows they have: whole blocks are passed over, whatever is looked for.

    Rows that are sorted alike stand in the order of their sequence, then of the table.
    """

    def __init__(self, rows: Numbered[R], by: Callable[[R], SupportsRichComparison]) -> None:
        super().__init__(rows, by)
        entries = [self._entry(number, row) for number, row in rows.items()]
        entries.sort(key=_sequence)  # the rows mostly come in this order: sorting twice takes half the time of once
        entries.sort(key=_sorted_by)
        self._blocks = [_Block(entries[start : start + _BLOCK]) for start in range(0, len(entries), _BLOCK)]
        self._lasts = [block.entries[-1] for block in self._blocks]

    def _entry(self, number: int, row: Any) -> Entry:
        return self.by(row), row.sequence, number

    def add(self, number: int, row: R) -> None:
        self._insert(self._entry(number, row))

    def discard(self, number: int, row: R) -> None:
        self._remove(self._entry(number, row))

    def change(self, number: int, old: R, new: R) -> None:
        before, after = self._entry(number, old), self._entry(number, new)
        if before != after:
            self._remove(before)
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
        """The rows that are sorted by something from `least` to `most`; None: without end."""
        first, last = 0, len(self._blocks) - 1
        if least is not None:
            first = bisect_left(self._lasts, least, key=_sorted_by)
        if most is not None:
            last = min(bisect_right(self._lasts, most, key=_sorted_by), last)
        if first > last:
            return BitMap()
        # Only the blocks at the ends have rows of both sides.
        ends = [_between(self._blocks[at], least, most) for at in {first, last}]
        return BitMap().union(*ends, *(block.numbers for block in self._blocks[first + 1 : last]))

    def cut(self, among: BitMap, start: int, end: int, *, descending: bool) -> list[int]:
        """The numbers that stand from `start` to before `end` when only these rows are counted."""
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
    start = 0 if least is None else bisect_left(entries, least, key=_sorted_by)
    end = len(entries) if most is None else bisect_right(entries, most, key=_sorted_by)
    return block.numbers if end - start == len(entries) else BitMap([number for _, _, number in entries[start:end]])


_sorted_by, _sequence = itemgetter(0), itemgetter(1)


class Texts(Part[R]):
    """What the rows can be found by, without regard to case: the texts of rows with following numbers as one.

    Looking through the 20 MB of a hundred thousand rows takes two milliseconds. An index of all parts of three letters
    was tried: it finds no sooner, takes 100 µs to enter a row where this takes 2, and twice the memory.
    """

    def __init__(self, rows: Numbered[R], by: Callable[[R], Iterable[str | None]]) -> None:
        super().__init__(rows, by)
        self._blocks: list[bytes] = []
        self._ends: list[array[int]] = []
        """Where the text of each row ends in its block."""
        self._answers: dict[str, BitMap] = {}
        """What was found last, kept true: whoever turns pages asks for the same again."""
        self._stale = set(range(len(rows)))
        """The rows whose texts are read anew before the next search: most writes are followed by none."""

    def add(self, number: int, row: R) -> None:
        self._stale.add(number)

    def discard(self, number: int, row: R) -> None:
        self._stale.add(number)

    def change(self, number: int, old: R, new: R) -> None:
        self._stale.add(number)

    def holding(self, needle: str) -> BitMap | None:
        """The rows with a text that the needle, without upper case, is part of; None for one that cannot be told."""
        if _FIELD in needle or _ROW in needle:
            return None
        self._refresh()
        answer = self._answers.pop(needle, None)
        if answer is None:
            answer = BitMap()
            for at in range(len(self._blocks)):
                answer.update(self._holding(at, needle))
            if len(self._answers) == _ANSWERS:
                del self._answers[next(iter(self._answers))]
        self._answers[needle] = answer
        return answer

    def _refresh(self) -> None:
        blocks: dict[int, list[int]] = {}
        for number in sorted(self._stale):
            blocks.setdefault(number // _TEXTS, []).append(number)
        self._stale.clear()
        for at, numbers in blocks.items():
            texts = _texts(self._blocks[at]) if at < len(self._blocks) else []
            for number in numbers:
                place = number % _TEXTS
                texts[place : place + 1] = [self._text(number) if number in self.rows.all else b""]
            self._blocks[at : at + 1] = [_ROW_BYTES.join(texts)]
            self._ends[at : at + 1] = [array("I", accumulate(len(text) + 1 for text in texts))]
            for needle, answer in self._answers.items():
                answer.remove_range(at * _TEXTS, (at + 1) * _TEXTS)
                answer.update(self._holding(at, needle))

    def _text(self, number: int) -> bytes:
        texts = filter(None, self.by(self.rows[number]))
        return _bytes(_FIELD.join(texts).casefold().replace(_ROW, _FIELD))

    def _holding(self, at: int, needle: str) -> list[int]:
        """The numbers of the rows of a block that hold the needle."""
        block, sought, first = self._blocks[at], _bytes(needle), at * _TEXTS
        hits = count(block, sought)
        if hits > _TEXTS // 4:  # row by row is then quicker than hit by hit
            texts = block.decode("utf-8", "surrogatepass").split(_ROW)
            return [number for number, text in enumerate(texts, first) if needle in text]
        ends, found, hit = self._ends[at], list[int](), 0
        while hits and (hit := find(block, sought, hit)) >= 0:
            row = bisect_right(ends, hit)
            found.append(first + row)
            hit = ends[row]
        return found


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _texts(block: bytes) -> list[bytes]:
    return block.split(_ROW_BYTES)
