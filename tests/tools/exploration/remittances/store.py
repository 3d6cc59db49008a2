"""Transfers, their legs, and the queue of tasks, in one SQLite database."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

TABLES = """
CREATE TABLE IF NOT EXISTS transfers (
    reference TEXT PRIMARY KEY,
    wanted TEXT NOT NULL                  -- JSON: the customer's request
);
CREATE TABLE IF NOT EXISTS legs (
    reference TEXT PRIMARY KEY,           -- the reference sent to the API
    transfer TEXT NOT NULL,
    kind TEXT NOT NULL,                   -- onramp or offramp
    amount TEXT NOT NULL,                 -- what the leg pays in
    currency TEXT NOT NULL,               -- what the leg pays out
    quote_id TEXT,
    expires_at TEXT,                      -- of the quote
    promised TEXT,                        -- destination amount of the quote
    transaction_id TEXT,
    state TEXT NOT NULL DEFAULT 'new',    -- status of the transaction, or new, or refused
    received TEXT NOT NULL DEFAULT '0'
);
CREATE TABLE IF NOT EXISTS tasks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,                   -- place (a leg) or look (at a transaction)
    subject TEXT NOT NULL,
    due REAL NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0,
    worker TEXT,
    leased_until REAL NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS events (id TEXT PRIMARY KEY);
"""


@dataclass(frozen=True)
class Leg:
    """One ramp transaction of a transfer."""

    reference: str
    transfer: str
    kind: str
    amount: str
    currency: str
    quote_id: str | None
    expires_at: str | None
    promised: str | None
    transaction_id: str | None
    state: str
    received: str


@dataclass(frozen=True)
class Task:
    """A row of the queue. `subject` is a leg's reference or a transaction's id."""

    id: int
    kind: str
    subject: str
    tries: int


class Store:
    """The database. Web handlers, workers and the nightly job share it."""

    def __init__(self, path: str) -> None:
        self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._connection.row_factory = sqlite3.Row
        self._lock = threading.RLock()
        self._connection.executescript(TABLES)

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit everything at the end, or nothing if the block raises. Blocks may be nested."""
        with self._lock:
            if self._connection.in_transaction:
                yield
                return
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise

    def do(self, statement: str, *values: object) -> list[sqlite3.Row]:
        with self._lock:
            return self._connection.execute(statement, values).fetchall()

    def changed(self, statement: str, *values: object) -> bool:
        """Run a statement. Return True if it changed a row."""
        with self._lock:
            return self._connection.execute(statement, values).rowcount > 0

    # Transfers and legs

    def add_transfer(self, reference: str, wanted: Mapping[str, Any]) -> bool:
        """Return False if there is such a transfer already."""
        return self.changed("INSERT OR IGNORE INTO transfers VALUES (?, ?)", reference, json.dumps(wanted))

    def wanted(self, reference: str) -> dict[str, Any]:
        rows = self.do("SELECT wanted FROM transfers WHERE reference = ?", reference)
        return dict(json.loads(rows[0]["wanted"]))

    def add_leg(self, reference: str, transfer: str, kind: str, amount: str, currency: str) -> None:
        self.do(
            "INSERT OR IGNORE INTO legs (reference, transfer, kind, amount, currency) VALUES (?, ?, ?, ?, ?)",
            reference, transfer, kind, amount, currency,
        )  # fmt: skip

    def leg(self, reference: str) -> Leg | None:
        return next(iter(self.legs("WHERE reference = ?", reference)), None)

    def legs(self, where: str = "", *values: object) -> list[Leg]:
        return [Leg(**dict(row)) for row in self.do(f"SELECT * FROM legs {where} ORDER BY rowid", *values)]

    def note(self, reference: str, **columns: str | None) -> None:
        places = ", ".join(f"{name} = ?" for name in columns)
        self.do(f"UPDATE legs SET {places} WHERE reference = ?", *columns.values(), reference)

    # Queue

    def add_task(self, kind: str, subject: str, due: float = 0.0) -> None:
        self.do("INSERT INTO tasks (kind, subject, due) VALUES (?, ?, ?)", kind, subject, due)

    def due_task(self, now: float) -> Task | None:
        rows = self.do(
            "SELECT id, kind, subject, tries FROM tasks WHERE due <= ? AND leased_until <= ? ORDER BY due, id LIMIT 1",
            now, now,
        )  # fmt: skip
        return Task(**dict(rows[0])) if rows else None
