"""Ten more mistakes in the shop: five that only a crash shows, and five that the reconcile job corrects.

They were designed from the documented classes of explore. `careless` accepts their names, too.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any
from uuid import uuid4

from tests.tools.integrators.shop.books import Books, Order, Payout
from tests.tools.integrators.shop.service import Document
from tests.tools.integrators.shop.shop import FORWARD, Shop


class MoneyAfterState(Shop):
    """The new state is committed first and the money second. After a crash in between, the event is no news."""

    turn = threading.RLock()

    def follow(self, order: Order, transaction: Document) -> None:
        with self.turn:
            order = self.books.order(order.reference)
            if self.is_of(order, transaction) and self.goes_forward(order.state, transaction["status"]):
                self.books.note(order.reference, state=transaction["status"], transaction_id=transaction["id"])
                self.book(order, transaction)


class MoneyUnderAFreshKey(Shop):
    """The money is committed first, under a random key, and the state second. After a crash it is booked again."""

    turn = threading.RLock()

    def follow(self, order: Order, transaction: Document) -> None:
        with self.turn:
            order = self.books.order(order.reference)
            if self.is_of(order, transaction) and self.goes_forward(order.state, transaction["status"]):
                self.book(order, transaction)
                self.books.note(order.reference, state=transaction["status"], transaction_id=transaction["id"])

    def entry(self, transaction: Document, what: str) -> str:
        return str(uuid4())


class OrderStoredLast(Shop):
    """An order is stored at the end of the request, even after an error. A crash before that leaves no order."""

    def order(self, reference: str, kind: str, wanted: Mapping[str, Any]) -> Order:
        with suppress(KeyError):
            self.books.order(reference)
            return super().order(reference, kind, wanted)
        aside = Shop(Books(":memory:"), self.service)
        try:
            aside.order(reference, kind, wanted)
        except Exception:
            self.store(aside.books.order(reference))
            raise
        self.store(aside.books.order(reference))
        return self.books.order(reference)

    def store(self, order: Order) -> None:
        columns = {"quote_id": order.quote_id, "transaction_id": order.transaction_id, "state": order.state}
        self.books.open_order(order.reference, order.kind, order.wanted)
        self.books.note(order.reference, **{name: value for name, value in columns.items() if value is not None})


class PayoutStoredLast(Shop):
    """A standing payout is stored after its activation, even after an error. After a crash, its runs are unknown."""

    def standing_payout(self, reference: str, wanted: Mapping[str, Any]) -> Payout:
        if not any(known.reference == reference for known in self.books.payouts()):
            try:
                Shop(Books(":memory:"), self.service).standing_payout(reference, wanted)
            except Exception:
                self.books.open_payout(reference, wanted)
                raise
        return super().standing_payout(reference, wanted)


class LockLeftBehind(Shop):
    """A row locks a transaction while it is read. A killed process leaves the row, and everybody waits for it."""

    @contextmanager
    def locked(self, transaction_id: str) -> Iterator[bool]:
        """Yield False if somebody else has the lock."""
        self.books._do("CREATE TABLE IF NOT EXISTS locks (id TEXT PRIMARY KEY)")
        locking = "INSERT OR IGNORE INTO locks VALUES (:id) RETURNING id"
        is_mine = bool(self.books._do(locking, id=transaction_id))
        try:
            yield is_mine
        finally:
            if is_mine:
                self.books._do("DELETE FROM locks WHERE id = :id", id=transaction_id)

    def look_at(self, about: Document) -> bool:
        with self.locked(about["id"]) as is_mine:
            return is_mine and super().look_at(about)

    def check(self, order: Order) -> None:
        with self.locked(order.transaction_id or order.reference) as is_mine:
            if is_mine:
                super().check(order)


class EventDoneFirst(Shop):
    """An event counts as handled before the transaction is read, so its second delivery after a crash is a copy."""

    def deal_with(self, event: Document) -> None:
        self.books.event_handled(event["id"])
        super().deal_with(event)


class LatePayloadReopens(Shop):
    """The state comes from the last payload. The money is only booked or taken back for the states that say so."""

    def latest(self, about: Document) -> Document:
        return about

    def goes_forward(self, state: str, status: str) -> bool:
        return status in FORWARD and status != state

    def book(self, order: Order, transaction: Document) -> None:
        if transaction["status"] in ("completed", "refunded"):
            super().book(order, transaction)


class FailureLeftToTheJob(Shop):
    """A failure moves no money, so its event is ignored."""

    def deal_with(self, event: Document) -> None:
        if event["type"] == "transaction.failed":
            self.books.event_handled(event["id"])
        else:
            super().deal_with(event)


class UnknownPayloadIsIgnored(Shop):
    """An event whose payload has an unknown status is ignored, although the transaction can be read."""

    def look_at(self, about: Document) -> bool:
        return about["status"] not in FORWARD or super().look_at(about)


class RefundLeftToTheJob(Shop):
    """Events of a completed order are ignored."""

    def look_at(self, about: Document) -> bool:
        with suppress(KeyError):
            if self.books.order(about.get("reference") or "").state == "completed":
                return True
        return super().look_at(about)


SEEDED: Mapping[str, tuple[type, ...]] = {
    "money-after-state": (MoneyAfterState,),
    "money-under-a-fresh-key": (MoneyUnderAFreshKey,),
    "order-stored-last": (OrderStoredLast,),
    "payout-stored-last": (PayoutStoredLast,),
    "lock-left-behind": (LockLeftBehind,),
    "event-done-first": (EventDoneFirst,),
    "late-payload-reopens": (LatePayloadReopens,),
    "failure-left-to-the-job": (FailureLeftToTheJob,),
    "unknown-payload-is-ignored": (UnknownPayloadIsIgnored,),
    "refund-left-to-the-job": (RefundLeftToTheJob,),
}
"""Every mistake by its name, and the steps that make it."""
