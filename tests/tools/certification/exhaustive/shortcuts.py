"""Handlers that each take one popular shortcut, and the recommended handler.

The docstring of each shortcut is the text of its section in the documentation.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from tests.tools.certification.exhaustive.handler import Handler, is_genuine

Document = dict[str, Any]
UNFINISHED = ("", "awaiting_payment", "awaiting_deposit", "processing")
KNOWN = ("created", "awaiting_payment", "awaiting_deposit", "processing", "completed", "failed", "refunded")


class HasNoSettleJob(Handler):
    """The service retries for days, so the handler has no settle job. But an endpoint can be down longer."""

    def settle(self) -> None: ...


class SettlesOpenOrdersOnly(Handler):
    """The settle job skips orders that are finished in the books. But a completed order can be refunded later."""

    def settle(self) -> None:
        for order in self.api.transactions():
            if self.column(order, "state") in UNFINISHED:
                self.settled(order)

    def settled(self, order: Document) -> None:
        self.book(order)

    def column(self, order: Document, name: str) -> str:
        """Return a value of an order in the books, or "" if the order is not there."""
        found = self.db.execute(f"SELECT {name} FROM orders WHERE id = ?", (order["id"],)).fetchone()
        return str(found[0]) if found else ""

    def overwrite(self, order: Document) -> None:
        self.db.execute("DELETE FROM orders WHERE id = ?", (order["id"],))
        self.book(order)

    def is_new(self, event: Document) -> bool:
        """Return True for the first copy of an event."""
        self.db.execute("CREATE TABLE IF NOT EXISTS events (id TEXT PRIMARY KEY)")
        return self.db.execute("INSERT OR IGNORE INTO events VALUES (?)", (event["id"],)).rowcount == 1

    def credit(self, order: Document) -> None:
        """Book a completed order on top of the amount that is booked already."""
        had = Decimal(self.column(order, "amount") or 0)
        self.overwrite(order)
        amount = had + Decimal(self.column(order, "amount"))
        self.db.execute("UPDATE orders SET amount = ? WHERE id = ?", (str(amount), order["id"]))


class DeduplicatesByEventIdOnly(SettlesOpenOrdersOnly):
    """The handler books an order once per event id. But if two events find the order completed, it is booked twice."""

    def take(self, event: Document) -> None:
        if self.is_new(event):
            self.credit(self.api.transaction(event["data"]["object"]["id"]))


class AcknowledgesBeforeStoring(SettlesOpenOrdersOnly):
    """The first event creates the order, later ones update it. If there is no order to update, the event is
    acknowledged but not stored.
    """

    def take(self, event: Document) -> None:
        about = event["data"]["object"]
        if event["type"] == "transaction.created":
            self.book(about)
        elif self.column(about, "state"):
            super().take(event)

    def settle(self) -> None: ...


class TrustsThePayload(SettlesOpenOrdersOnly):
    """Each payload is booked once for each event id, without asking the API. A late payload is out of date, but it is
    booked as if it were new.
    """

    def take(self, event: Document) -> None:
        about = event["data"]["object"]
        if self.is_new(event) and about["status"] not in UNFINISHED:
            self.overwrite(about)


class DowngradesAFinalState(SettlesOpenOrdersOnly):
    """Each event sets the order's state, and the money is booked when the order becomes completed. A late event reopens
    the order, and the settle job completes it again.
    """

    def take(self, event: Document) -> None:
        self.credit(event["data"]["object"])

    def settled(self, order: Document) -> None:
        self.credit(order)


class LastWriteWins(SettlesOpenOrdersOnly):
    """The last event replaces the order, and no settle job corrects it."""

    def take(self, event: Document) -> None:
        self.overwrite(event["data"]["object"])

    def settle(self) -> None: ...


class ExpectsTheOrderOfEvents(SettlesOpenOrdersOnly):
    """An event about an unknown order raises an error until the first event has arrived. If the first event is
    lost, every later event fails.
    """

    def take(self, event: Document) -> None:
        if event["type"] != "transaction.created" and not self.column(event["data"]["object"], "state"):
            raise LookupError(event["data"]["object"]["id"])
        super().take(event)


class AnswersUnknownTypesWith500(Handler):
    """The handler responds to an unknown event type with an error. But the service adds types without notice."""

    def take(self, event: Document) -> None:
        if event["type"].rpartition(".")[2] not in KNOWN:
            raise NotImplementedError(event["type"])
        super().take(event)


class RefusesCopies(SettlesOpenOrdersOnly):
    """The handler responds to a copy with an error, so the service keeps sending the event."""

    def take(self, event: Document) -> None:
        if not self.is_new(event):
            raise ValueError(event["id"])
        super().take(event)


class IgnoresTheAge(Handler):
    """The handler checks the signature but not the timestamp, so it accepts a recorded request forever."""

    def receive(self, headers: Mapping[str, str], body: bytes) -> int:
        if not is_genuine(self.key, headers, body, now_ms=int(headers["X-Timestamp"])):
            return 401
        self.take(json.loads(body))
        return 200


SHORTCUTS: dict[str, type[Handler]] = {
    "has-no-settle-job": HasNoSettleJob,
    "settles-open-orders-only": SettlesOpenOrdersOnly,
    "deduplicates-by-event-id-only": DeduplicatesByEventIdOnly,
    "acknowledges-before-storing": AcknowledgesBeforeStoring,
    "trusts-the-payload": TrustsThePayload,
    "downgrades-a-final-state": DowngradesAFinalState,
    "last-write-wins": LastWriteWins,
    "expects-the-order-of-events": ExpectsTheOrderOfEvents,
    "answers-unknown-types-with-500": AnswersUnknownTypesWith500,
    "refuses-copies": RefusesCopies,
    "ignores-the-age": IgnoresTheAge,
}
HANDLERS: dict[str, type[Handler]] = {"recommended": Handler, **SHORTCUTS}
