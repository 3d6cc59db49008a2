"""The shop's database: orders, the money booked for them, recurring payouts, and received events.

It uses SQLite. Every change is a transaction. Amounts are decimal strings, never floats.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

TABLES = """
CREATE TABLE IF NOT EXISTS orders (
    reference TEXT PRIMARY KEY,          -- the customer's number, and the reference that the service is given
    kind TEXT NOT NULL,                  -- onramp, offramp, or run (of a standing payout)
    wanted TEXT NOT NULL,                -- JSON: what was asked for
    attempt INTEGER NOT NULL DEFAULT 1,  -- a new one only when the one before has surely come to nothing
    quote_id TEXT,                       -- of this attempt
    transaction_id TEXT,                 -- of this attempt
    state TEXT NOT NULL DEFAULT 'new'    -- of the transaction; without one `new`, or `not_placed` for good
);
CREATE TABLE IF NOT EXISTS payouts (
    reference TEXT PRIMARY KEY,          -- its runs are the orders REFERENCE-1, REFERENCE-2, ...
    wanted TEXT NOT NULL,
    recurring_id TEXT,
    state TEXT NOT NULL DEFAULT 'new'
);
CREATE TABLE IF NOT EXISTS entries (
    key TEXT PRIMARY KEY,                -- what happens once has one key
    reference TEXT NOT NULL,
    received TEXT NOT NULL,              -- by the customer; negative when it was taken back
    currency TEXT NOT NULL,
    paid TEXT NOT NULL,                  -- by whoever paid for it, fee included
    fee TEXT NOT NULL,
    paid_currency TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS events (id TEXT PRIMARY KEY, raw BLOB NOT NULL, handled INTEGER NOT NULL DEFAULT 0);
"""


@dataclass(frozen=True)
class Order:
    """A payment that a customer asked for, or a run of a standing payout."""

    reference: str
    kind: str
    wanted: dict[str, Any]
    attempt: int
    quote_id: str | None
    transaction_id: str | None
    state: str

    @property
    def currency(self) -> str:
        """The currency that the customer receives."""
        return str(self.wanted["asset" if self.kind == "onramp" else "fiat_currency"])


@dataclass(frozen=True)
class Payout:
    """A standing order to pay somebody every month."""

    reference: str
    wanted: dict[str, Any]
    recurring_id: str | None
    state: str


class Money(NamedTuple):
    """The amount that a customer received, and the amount paid for it, including the fee."""

    received: Decimal
    currency: str
    paid: Decimal
    fee: Decimal
    paid_currency: str

    def taken_back(self) -> Money:
        return self._replace(received=-self.received, paid=-self.paid, fee=-self.fee)


class Books:
    """One SQLite file. Several threads and several processes may use it."""

    def __init__(self, path: str) -> None:
        self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=10)
        self._connection.row_factory = sqlite3.Row
        self._turn = threading.RLock()
        self._connection.executescript(TABLES)

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def change(self) -> Iterator[None]:
        """Run the block in an exclusive transaction, which is rolled back if an exception is raised."""
        with self._turn:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise

    def _do(self, statement: str, **values: object) -> list[sqlite3.Row]:
        with self._turn:
            return self._connection.execute(statement, values).fetchall()

    def _add(self, table: str, **row: object) -> None:
        """Write a row, unless there is one of its key."""
        self._do(
            f"INSERT OR IGNORE INTO {table} ({', '.join(row)}) VALUES ({', '.join(f':{name}' for name in row)})", **row
        )

    # Orders.

    def open_order(self, reference: str, kind: str, wanted: Mapping[str, Any]) -> Order:
        """The order of this reference: a new one, or the one that is there."""
        self._add("orders", reference=reference, kind=kind, wanted=json.dumps(wanted))
        return self.order(reference)

    def order(self, reference: str) -> Order:
        """KeyError when there is none."""
        for order in self._orders("WHERE reference = :reference", reference=reference):
            return order
        raise KeyError(reference)

    def orders(self) -> list[Order]:
        """All orders, the first one first."""
        return self._orders("ORDER BY rowid")

    def _orders(self, which: str, **values: object) -> list[Order]:
        rows = self._do(f"SELECT * FROM orders {which}", **values)
        return [Order(**{**dict(row), "wanted": json.loads(row["wanted"])}) for row in rows]

    def note(self, reference: str, **columns: str) -> None:
        """Lay down `quote_id`, `transaction_id` or `state` of an order."""
        places = ", ".join(f"{column} = :{column}" for column in columns)
        self._do(f"UPDATE orders SET {places} WHERE reference = :reference", reference=reference, **columns)

    def next_attempt(self, order: Order) -> Order:
        """Begin again, with a quote and a transaction of its own; once, although two ask for it at the same time."""
        self._do(
            "UPDATE orders SET attempt = attempt + 1, quote_id = NULL, transaction_id = NULL, state = 'new'"
            " WHERE reference = :reference AND attempt = :attempt",
            reference=order.reference,
            attempt=order.attempt,
        )
        return self.order(order.reference)

    # Money.

    def book(self, key: str, reference: str, money: Money) -> None:
        """Write an entry of an order down; nothing happens when there is one of this key."""
        self._add(
            "entries", key=key, reference=reference, **{name: str(value) for name, value in money._asdict().items()}
        )

    def booked(self, reference: str) -> Money | None:
        """The sum of the entries of an order; None when there is none."""
        rows = self._do("SELECT * FROM entries WHERE reference = :reference", reference=reference)
        if not rows:
            return None
        received, paid, fee = (sum(Decimal(row[column]) for row in rows) for column in ("received", "paid", "fee"))
        return Money(Decimal(received), rows[0]["currency"], Decimal(paid), Decimal(fee), rows[0]["paid_currency"])

    def shown(self, order: Order) -> dict[str, str]:
        """An order as customers and auditors see it: `amount` is what the customer has received."""
        money = self.booked(order.reference)
        amount = f"{money.received:f}" if money and money.received else "0"
        return {"order": order.reference, "state": order.state, "amount": amount, "currency": order.currency}

    # Standing payouts.

    def open_payout(self, reference: str, wanted: Mapping[str, Any]) -> Payout:
        """The standing payout of this reference: a new one, or the one that is there."""
        self._add("payouts", reference=reference, wanted=json.dumps(wanted))
        return next(payout for payout in self.payouts() if payout.reference == reference)

    def payouts(self) -> list[Payout]:
        rows = self._do("SELECT * FROM payouts ORDER BY rowid")
        return [Payout(**{**dict(row), "wanted": json.loads(row["wanted"])}) for row in rows]

    def note_payout(self, reference: str, recurring_id: str, state: str) -> None:
        self._do(
            "UPDATE payouts SET recurring_id = :recurring_id, state = :state WHERE reference = :reference",
            reference=reference,
            recurring_id=recurring_id,
            state=state,
        )

    # Events.

    def keep_event(self, event_id: str, raw: bytes) -> bool:
        """Store an event for good; whether it waits to be dealt with."""
        self._add("events", id=event_id, raw=raw)
        return bool(self._do("SELECT id FROM events WHERE id = :id AND NOT handled", id=event_id))

    def has_event(self, event_id: str) -> bool:
        return bool(self._do("SELECT id FROM events WHERE id = :id", id=event_id))

    def event_handled(self, event_id: str) -> None:
        self._do("UPDATE events SET handled = 1 WHERE id = :id", id=event_id)

    def waiting_events(self) -> list[dict[str, Any]]:
        """Return the stored events that are not processed yet, oldest first."""
        return [json.loads(row["raw"]) for row in self._do("SELECT raw FROM events WHERE NOT handled ORDER BY rowid")]
