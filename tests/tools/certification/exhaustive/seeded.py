"""Five handlers with mistakes that only three deliveries show, designed from the documented moves.

Each stores what it remembers in its database, so that a saved state contains it.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from tests.tools.certification.exhaustive.shortcuts import SettlesOpenOrdersOnly

Document = dict[str, Any]


class Noting(SettlesOpenOrdersOnly):
    """A handler with a table of notes, which can add to the booked amount of an order."""

    def note(self, key: str, value: str) -> None:
        self.notes()
        self.db.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (key, value))

    def noted(self, key: str) -> str:
        self.notes()
        found = self.db.execute("SELECT value FROM notes WHERE key = ?", (key,)).fetchone()
        return str(found[0]) if found else ""

    def notes(self) -> None:
        self.db.execute("CREATE TABLE IF NOT EXISTS notes (key TEXT PRIMARY KEY, value TEXT)")

    def add(self, order: Document, amount: str) -> None:
        total = Decimal(self.column(order, "amount") or 0) + Decimal(amount)
        self.db.execute("UPDATE orders SET amount = ? WHERE id = ?", (str(total), order["id"]))


class RemembersTheLastEventOnly(Noting):
    """Only a copy that follows its original directly is recognised."""

    def take(self, event: Document) -> None:
        about = event["data"]["object"]
        if self.noted(about["id"]) != event["id"]:
            self.note(about["id"], event["id"])
            if event["type"] == "transaction.completed":
                self.credit(self.api.transaction(about["id"]))
            else:
                super().take(event)


class ReopensThenCredits(Noting):
    """A late event reopens a completed order, and a copy of the completion is then no copy."""

    def take(self, event: Document) -> None:
        about = event["data"]["object"]
        if event["type"] == "transaction.completed" and self.column(about, "state") == "completed":
            return
        if about["status"] == "completed":
            self.credit(about)
            return
        amount = self.column(about, "amount") or "0"
        self.overwrite(about)
        self.add(about, amount)


class SubtractsEachRefund(Noting):
    """Each event about a refunded order subtracts the money that the order once had."""

    def take(self, event: Document) -> None:
        self.move(self.api.transaction(event["data"]["object"]["id"]))

    def move(self, order: Document) -> None:
        if order["status"] == "refunded" and (had := self.noted(order["id"])):
            amount = self.column(order, "amount")
            self.overwrite(order)
            self.add(order, str(Decimal(amount) - Decimal(had)))
        else:
            self.book(order)
        if order["status"] == "completed":
            self.note(order["id"], order["destination_amount"])

    def settle(self) -> None:
        for order in self.api.transactions():
            if self.column(order, "state") != order["status"]:
                self.move(order)


class QuarantinesAfterACopy(Noting):
    """A copy of an event looks like an attack, so new events about its order are refused from then on."""

    def take(self, event: Document) -> None:
        about = event["data"]["object"]["id"]
        is_copy = bool(self.noted(event["id"]))
        if not is_copy and self.noted(about):
            raise PermissionError(about)
        if is_copy:
            self.note(about, "quarantine")
        self.note(event["id"], "seen")
        super().take(event)


class DeduplicatesWithinABatch(Noting):
    """Events are stored and processed two at a time, or by the job. A copy is recognised within its batch only."""

    def take(self, event: Document) -> None:
        about = event["data"]["object"]
        key = f"batch {about['id']}"
        batch = [*json.loads(self.noted(key) or "[]"), event["id"] if about["status"] == "completed" else ""]
        if len(batch) == 2:
            self.process(about, batch)
            batch = []
        self.note(key, json.dumps(batch))

    def process(self, about: Document, batch: list[str]) -> None:
        for _ in {one for one in batch if one}:
            self.credit(self.api.transaction(about["id"]))

    def settle(self) -> None:
        for order in self.api.transactions():
            self.process(order, json.loads(self.noted(f"batch {order['id']}") or "[]"))
            self.note(f"batch {order['id']}", "[]")
        super().settle()


SEEDED: dict[str, tuple[type[Noting], str, str]] = {
    "remembers-the-last-event-only": (RemembersTheLastEventOnly, "onramp", "doubled"),
    "reopens-then-credits": (ReopensThenCredits, "onramp", "doubled"),
    "subtracts-each-refund": (SubtractsEachRefund, "completed-refunded", "lost"),
    "quarantines-after-a-copy": (QuarantinesAfterACopy, "onramp", "stuck"),
    "deduplicates-within-a-batch": (DeduplicatesWithinABatch, "onramp", "doubled"),
}
"""Every mistake by its name, with the flow and the verdict that show it."""
