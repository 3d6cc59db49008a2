"""The logic of the shop: it places orders, follows them until they end, and books the results.

It follows three rules. An order is stored before the service receives it. The state of an order is what the service
returns for it, never what an event or a lost response suggests. A state only moves forward, together with its money.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from functools import partial
from typing import Any

from tests.tools.integrators.shop.books import Books, Money, Order, Payout
from tests.tools.integrators.shop.service import Document, Refused, Service, Unknown

FORWARD = {
    "new": 0, "not_placed": 0,
    "awaiting_payment": 1, "awaiting_deposit": 1,
    "processing": 2,
    "completed": 3, "failed": 3, "expired": 3,
    "refunded": 4,
}  # fmt: skip
"""How far each state is. Of those at the end only `refunded` may follow another."""

OVER = ("not_placed", "expired", "refunded")
"""Nothing more comes of it, and nobody holds money for it: the only states from which it may be tried anew."""

UNDER_WAY = ("active", "paused", "completed", "deleted")
"""How a standing payout stands that has been activated."""

NETWORK, WALLET_NETWORK = "celo", "CELO"
"""One network, spelt as ramps spell it and as the balance does."""
QUOTES_PER_VISIT = 3


class Shop:
    """The rules of the business. Several threads may use it: customers and the service call at the same time."""

    def __init__(self, books: Books, service: Service) -> None:
        self.books = books
        self.service = service

    # Orders of customers.

    def order(self, reference: str, kind: str, wanted: Mapping[str, Any]) -> Order:
        """Take an order and place it. One that is sent twice is one order. Refused, Unknown."""
        order = self.books.open_order(reference, kind, wanted)
        if order.state == "new":
            self.place(order)
        return self.books.order(reference)

    def try_again(self, reference: str) -> Order:
        """A deliberate new attempt; nothing happens unless the last one is over. KeyError, Refused, Unknown."""
        order = self.books.order(reference)
        if order.state in OVER:
            self.place(self.books.next_attempt(order))
        return self.books.order(reference)

    def place(self, order: Order) -> None:
        """Bring an order to the service, or find it there: who is not sure whether it went through does this again."""
        for visit in range(1, QUOTES_PER_VISIT + 1):
            try:
                if self.found(order):
                    return
                if order.quote_id is None:
                    order = self.quote(order)
                self.follow(order, self.confirm(order))
                return
            except Refused as refusal:
                if self.found(order):
                    return
                if refusal.code != "quote_expired" or visit == QUOTES_PER_VISIT:
                    self.books.note(order.reference, state="not_placed")
                    raise
                order = self.books.next_attempt(order)

    def quote(self, order: Order) -> Order:
        """Lock rate and fee for this attempt."""
        wanted = order.wanted
        body = {
            "type": order.kind,
            "network": NETWORK,
            "asset": wanted["asset"],
            "fiat_currency": wanted["fiat_currency"],
            "amount": wanted["amount"],
            "amount_currency": wanted["amount_currency"],
            "method": "mobile_money",
        }
        quote = self.service.post("/quotes", body, key=f"{order.reference}/quote/{order.attempt}")
        self.books.note(order.reference, quote_id=quote["id"])
        return self.books.order(order.reference)

    def confirm(self, order: Order) -> Document:
        """Have the transaction of this attempt made, once."""
        wanted = order.wanted
        if order.kind == "onramp":
            parties = {"wallet_address": wanted["wallet_address"], "payer": {"phone_number": wanted["phone_number"]}}
        else:
            beneficiary = self.beneficiary(order.reference, wanted)
            parties = {"beneficiary_id": beneficiary["id"], "refund_address": wanted["wallet_address"]}
        body = {**parties, "reference": order.reference}
        return self.service.post(f"/quotes/{order.quote_id}/confirm", body, key=f"{order.reference}/{order.quote_id}")

    def beneficiary(self, reference: str, wanted: Mapping[str, Any]) -> Document:
        """Return the beneficiary for a mobile money payout."""
        body = {
            "type": "phone_number",
            "name": wanted["name"],
            "country": "KE",
            "fiat_currency": wanted["fiat_currency"],
            "phone_number": {"phone_number": wanted["phone_number"], "provider": "mpesa"},
        }
        return self.service.post("/beneficiaries", body, key=f"{reference}/beneficiary")

    # What becomes of them.

    def found(self, order: Order) -> bool:
        """Whether the service has the transaction of this attempt, which is followed then."""
        if order.quote_id is None:
            return False
        for transaction in self.search(order.reference):
            if self.is_of(order, transaction):
                self.follow(order, transaction)
                return True
        return False

    def search(self, reference: str) -> Iterator[Document]:
        return self.service.every("/transactions", search=reference)

    def is_of(self, order: Order, transaction: Document) -> bool:
        """The search finds what is alike, and earlier attempts: neither is this one."""
        return (transaction.get("reference"), transaction.get("quote_id")) == (order.reference, order.quote_id)

    def follow(self, order: Order, transaction: Document) -> None:
        """Move an order to where its transaction is, and book the money with it, unless it is there or further."""
        with self.books.change():
            order = self.books.order(order.reference)
            if self.is_of(order, transaction) and self.goes_forward(order.state, transaction["status"]):
                self.book(order, transaction)
                self.books.note(order.reference, state=transaction["status"], transaction_id=transaction["id"])

    def goes_forward(self, state: str, status: str) -> bool:
        """A status that nobody knew when this was written is no news: it is asked for again later."""
        return FORWARD.get(status, -1) > FORWARD[state]

    def book(self, order: Order, transaction: Document) -> None:
        """The customer has the money when it is completed, and has not when anything follows that."""
        if transaction["status"] == "completed":
            self.books.book(self.entry(transaction, "received"), order.reference, self.money(transaction))
        elif (had := self.books.booked(order.reference)) and had.received:
            self.books.book(self.entry(transaction, "taken back"), order.reference, had.taken_back())

    def entry(self, transaction: Document, what: str) -> str:
        """The key of an entry: what happens once to a transaction is booked once."""
        return f"{transaction['id']} {what}"

    def money(self, transaction: Document) -> Money:
        """What the recipient gets after fees, and what was paid for it; the fee is part of that, in its currency."""
        onramp, fee = transaction["type"] == "onramp", transaction["fee"]
        return Money(
            received=Decimal(transaction["destination_amount"]),
            currency=transaction["asset" if onramp else "fiat_currency"],
            paid=Decimal(transaction["amount" if transaction["type"] == "withdraw" else "source_amount"]),
            fee=Decimal(fee["total"]),
            paid_currency=fee["currency"],
        )

    # What the service tells.

    def told(self, raw: bytes) -> None:
        """A genuine event: stored first, so that it may be acknowledged whatever happens next."""
        event = json.loads(raw)
        if self.books.keep_event(event["id"], raw):
            self.attempt(partial(self.deal_with, event))

    def deal_with(self, event: Document) -> None:
        """Look at the transaction that an event is about. Where it says nothing to the books yet, the event waits.

        Other events tell of nothing that moves money: the runs of a standing payout are transactions like any other.
        """
        if not event["type"].startswith("transaction.") or self.look_at(event["data"]["object"]):
            self.books.event_handled(event["id"])

    def look_at(self, about: Document) -> bool:
        """Follow the transaction that an event names; False when it is nobody's, or nobody knows how it stands."""
        try:
            transaction = self.latest(about)
        except Refused as refusal:
            if refusal.code == "not_found":
                return True
            raise
        order = self.order_of(transaction)
        if order is not None:
            self.follow(order, transaction)
        return order is not None and transaction["status"] in FORWARD

    def latest(self, about: Document) -> Document:
        """The transaction as it is now. One try only: whoever told of it waits for the acknowledgement."""
        return self.service.get(f"/transactions/{about['id']}", tries=1)

    def order_of(self, transaction: Document) -> Order | None:
        """Whose transaction it is; a run of a standing payout gets its order here."""
        reference = transaction.get("reference") or ""
        payout, _, _ = reference.rpartition("-")
        if transaction["type"] == "withdraw" and any(payout == known.reference for known in self.books.payouts()):
            return self.books.open_order(reference, "run", {"fiat_currency": transaction["fiat_currency"]})
        with suppress(KeyError):
            return self.books.order(reference)
        return None

    # Standing payouts: the balance pays somebody every month.

    def standing_payout(self, reference: str, wanted: Mapping[str, Any]) -> Payout:
        """Set a standing payout up; asking twice sets up one. Refused, Unknown."""
        payout = self.books.open_payout(reference, wanted)
        made = self.recurring(reference) or self.draft(payout)
        self.books.note_payout(reference, made["id"], made["status"])
        if made["status"] not in UNDER_WAY:  # a status that nobody knew is none: to set it up twice does no harm
            self.activate(payout, made)
        return self.books.open_payout(reference, wanted)

    def activate(self, payout: Payout, made: Document) -> None:
        """Activate a draft. Delete a draft that is refused, such as one with a start date in the past.

        Raise Refused or Unknown. After Unknown the draft remains, and the job continues.
        """
        wanted, path = payout.wanted, f"/recurring-payments/{made['id']}"
        schedule = {
            "frequency": "monthly",
            "day_of_month": wanted["day_of_month"],
            "start_date": wanted["start_date"],
            "end": {"type": "after_occurrences", "occurrences": wanted["times"]},
        }
        try:
            self.service.put(f"{path}/schedule", schedule)
            self.service.get(f"{path}/review")
            active = self.service.post(f"{path}/activate", {}, key=f"{payout.reference}/activate")
        except Refused:
            if made["status"] == "draft":
                self.service.delete(path)
                self.books.note_payout(payout.reference, made["id"], "deleted")
            raise
        self.books.note_payout(payout.reference, made["id"], active["status"])

    def draft(self, payout: Payout) -> Document:
        """The recurring payment, not active yet."""
        wanted = payout.wanted
        body = {
            "name": wanted["name"],
            "type": "withdraw",
            "source": {"symbol": wanted["asset"], "network": WALLET_NETWORK},
            "amount": wanted["amount"],
            "amount_currency": wanted["amount_currency"],
            "recipient": {"beneficiary_id": self.beneficiary(payout.reference, wanted)["id"]},
            "reference": payout.reference,
        }
        return self.service.post("/recurring-payments", body, key=f"{payout.reference}/recurring")

    def recurring(self, reference: str) -> Document | None:
        """What the service has under the reference of a standing payout."""
        found = self.service.every("/recurring-payments", search=reference)
        return next((one for one in found if one["reference"] == reference), None)

    def follow_payout(self, payout: Payout) -> None:
        """Learn the status of a standing payout and of every run. Finish setting up a draft."""
        made = self.recurring(payout.reference)
        if made is not None:
            self.books.note_payout(payout.reference, made["id"], made["status"])
            if made["status"] == "draft":
                self.activate(payout, made)
        for transaction in self.runs(payout, made):
            order = self.order_of(transaction)
            if order is not None:
                self.follow(order, transaction)

    def runs(self, payout: Payout, made: Document | None) -> Iterator[Document]:
        """Return the runs of a standing payout. If it is deleted, no list has them, so they are searched for."""
        if made is None:
            return self.search(payout.reference)
        return self.service.every(f"/recurring-payments/{made['id']}/transactions")

    # The job that runs every hour.

    def reconcile(self) -> list[str]:
        """Ask about everything that may have been missed; what could not be done now, a sentence each."""
        jobs: list[Callable[[], None]] = [partial(self.follow_payout, payout) for payout in self.books.payouts()]
        jobs += [partial(self.check, order) for order in self.books.orders() if order.state not in OVER]
        jobs += [partial(self.deal_with, event) for event in self.books.waiting_events()]
        return [trouble for job in jobs if (trouble := self.attempt(job))]

    def check(self, order: Order) -> None:
        """Ask how an order stands. Completed ones too: money can be taken back days later."""
        if order.transaction_id is not None:
            self.follow(order, self.service.get(f"/transactions/{order.transaction_id}"))
        elif order.quote_id is not None and not self.found(order) and self.has_expired(order.quote_id):
            self.books.note(order.reference, state="not_placed")

    def has_expired(self, quote_id: str) -> bool:
        """Until then a try whose answer was lost may still make a transaction."""
        status: str = self.service.get(f"/quotes/{quote_id}")["status"]
        return status == "expired"

    def attempt(self, job: Callable[[], None]) -> str | None:
        """Do what can wait; why it could not be done now."""
        try:
            job()
        except (Refused, Unknown) as trouble:
            return str(trouble)
        return None
