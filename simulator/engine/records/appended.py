"""A reader that returns each row of an append-only table once, so that totals can be updated."""

from __future__ import annotations

from itertools import islice
from typing import Generic, TypeVar

from simulator.kernel.table import Table

Row = TypeVar("Row")


class AppendedRows(Generic[Row]):
    """Reads an append-only table and saves its position. `take` returns the rows after this position."""

    def __init__(self, table: Table[Row]) -> None:
        self._table = table
        self._read = 0
        self._last = ""

    def starts_over(self) -> bool:
        """If rows that were read are gone (undone, or not in a restored world), go back to the first row and return
        True.
        """
        # The row count does not show whether rows were removed, because other rows may have been added since. In that
        # case, the newest row that was read is no longer at its position. The lookup starts at the end of the table,
        # so its cost depends on the number of unread rows, not on the length of the table.
        rows = self._table.rows
        added = len(rows) - self._read
        is_void = added < 0 or (self._read > 0 and next(islice(reversed(rows), added, None)) != self._last)
        if is_void:
            self._read = 0
        return is_void

    def take(self, most: int | None = None) -> list[tuple[str, Row]]:
        """Return up to `most` unread rows with their keys, oldest first. None means all. Call `starts_over` first."""
        rows = self._table.rows
        added = len(rows) - self._read
        skipped = 0 if most is None else max(added - most, 0)
        keys = list(islice(reversed(rows), skipped, added))[::-1]
        if keys:
            self._read, self._last = self._read + len(keys), keys[-1]
        return [(key, rows[key]) for key in keys]
