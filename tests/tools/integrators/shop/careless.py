"""The same shop with mistakes that are common in integrations. Each mistake has a name and can be enabled separately.

    careless("float-money", "refund-ignored")   # the parts of a shop with these two
    SHOP_MISTAKES=float-money,refund-ignored     # the same for `python -m tests.tools.integrators.shop`

A mistake replaces one step of the careful shop. Everything else is unchanged, including reconciliation, so every
finding is a mistake that reconciliation does not repair.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import partial
from typing import Any

from tests.tools.integrators.shop.app import Parts, Till, is_genuine
from tests.tools.integrators.shop.books import Books, Money, Order, Payout
from tests.tools.integrators.shop.seeded import SEEDED
from tests.tools.integrators.shop.service import Document, Refused, Service, Unknown
from tests.tools.integrators.shop.shop import FORWARD, NETWORK, Shop


class PaysTwiceAfterRejection(Shop):
    """A payout that bounced is paid again under the key of the first: the books take it for the first, and free."""

    def entry(self, transaction: Document, what: str) -> str:
        return f"{transaction['reference']} {what}"


class FreshQuoteWhenRefused(Shop):
    """A retry that is refused is tried with a fresh quote; nobody asks whether the first try went through."""

    def place(self, order: Order) -> None:
        try:
            self.follow(order, self.confirm(order := self.quote(order)))
        except Refused:
            order = self.quote(self.books.next_attempt(order))
            self.follow(order, self.confirm(order))


class TriesOnce(Service):
    """A call without an answer is given up at once; what is made of that is the mistake."""

    def post(self, path: str, body: Mapping[str, Any], key: str) -> Document:
        return self._call("POST", path, 1, json=body, headers={"Idempotency-Key": key})


class TimeoutIsFailure(Shop):
    """No answer came, so it is booked as failed, and the customer pays elsewhere."""

    def place(self, order: Order) -> None:
        try:
            super().place(order)
        except Unknown:
            self.books.note(order.reference, state="failed")
            raise


class EarlyEventIsGone(Shop):
    """The order is written down when the answer is there; what is told of it before is acknowledged and gone."""

    def order(self, reference: str, kind: str, wanted: Mapping[str, Any]) -> Order:
        aside = Shop(Books(":memory:"), self.service)
        placed = aside.order(reference, kind, wanted)
        self.books.open_order(reference, kind, wanted)
        self.books.note(reference, quote_id=placed.quote_id or "", state=placed.state)
        if placed.transaction_id is not None:
            self.books.note(reference, transaction_id=placed.transaction_id)
        return self.books.order(reference)

    def deal_with(self, event: Document) -> None:
        super().deal_with(event)
        self.books.event_handled(event["id"])


class LateEventDowngrades(Shop):
    """Whatever an event tells is taken for the latest news."""

    def latest(self, about: Document) -> Document:
        return about

    def goes_forward(self, state: str, status: str) -> bool:
        return status in FORWARD and status != state


class DedupsByEventIdOnly(Shop):
    """No event counts twice, but two events that find the same thing done book it twice."""

    event_id: str | None = None

    def deal_with(self, event: Document) -> None:
        self.event_id = event["id"]
        try:
            super().deal_with(event)
        finally:
            self.event_id = None

    def goes_forward(self, state: str, status: str) -> bool:
        return super().goes_forward(state, status) or (self.event_id is not None and status == state)

    def entry(self, transaction: Document, what: str) -> str:
        return super().entry(transaction, what if self.event_id is None else self.event_id)


class AcknowledgesBeforeStoring(Shop):
    """The event is dealt with as it comes and stored when that went well; acknowledged it is in any case."""

    def told(self, raw: bytes) -> None:
        event = json.loads(raw)
        if self.attempt(partial(self.deal_with, event)) is None:
            self.books.keep_event(event["id"], raw)
            self.books.event_handled(event["id"])

    def runs(self, payout: Payout, made: Document | None) -> Iterator[Document]:
        return iter(()) if made is None else super().runs(payout, made)


class SeenBeforeDone(Shop):
    """The event is noted as seen, then dealt with. Where that breaks it comes again as a copy, and no job looks."""

    def told(self, raw: bytes) -> None:
        event = json.loads(raw)
        if not self.books.has_event(event["id"]):
            self.books.keep_event(event["id"], raw)
            self.books.event_handled(event["id"])
            self.deal_with(event)

    def check(self, order: Order) -> None:
        if order.transaction_id is None:
            super().check(order)


class TrustsThePayload(Shop):
    """What an event carries is believed; the service is not asked."""

    def latest(self, about: Document) -> Document:
        return about


class FloatMoney(Shop):
    """Amounts are floats, turned into cents by cutting off what is behind them: 2048.18 becomes 204817."""

    def money(self, transaction: Document) -> Money:
        money = super().money(transaction)
        _, _, decimals = transaction["destination_amount"].partition(".")
        units = int(float(money.received) * 10 ** len(decimals))
        return money._replace(received=Decimal(units).scaleb(-len(decimals)))


class WrongNetworkSpelling(Shop):
    """A transaction on CELO is none on celo, so it is somebody else's."""

    def order_of(self, transaction: Document) -> Order | None:
        return super().order_of(transaction) if transaction["network"] == NETWORK else None


class StaleTokenLoop(Service):
    """Who is told that a token has lapsed tries again with the same."""

    def _renewed(self, lapsed: str | None, tries: int) -> str:
        return lapsed or super()._renewed(lapsed, tries)


class VerifierWithoutClock(Till):
    """The signature is checked and the time is not: what was recorded last week is welcome."""

    def is_genuine(self, headers: Mapping[str, str], raw: bytes) -> bool:
        timestamp = headers.get("x-timestamp", "0")
        return is_genuine(self.settings.webhook_key, headers, raw, float(timestamp))


class SignatureNotChecked(Till):
    """Whoever knows the address is believed."""

    def is_genuine(self, headers: Mapping[str, str], raw: bytes) -> bool:
        return True


class AmountBeforeFees(Shop):
    """The customer is said to have received all that was paid, at the rate: the fee is forgotten."""

    def money(self, transaction: Document) -> Money:
        money = super().money(transaction)
        return money._replace(received=round(money.received * money.paid / (money.paid - money.fee), 2))


class RefundIgnored(Shop):
    """Completed is the end: that money can be taken back was in no example."""

    def goes_forward(self, state: str, status: str) -> bool:
        return status != "refunded" and super().goes_forward(state, status)


class RetriesWithNewKey(Shop):
    """No answer came, so the whole order is placed once more, from the quote on and under new keys."""

    def place(self, order: Order) -> None:
        try:
            super().place(order)
        except Unknown:
            super().place(self.books.next_attempt(order))


class StopsPollingEarly(Shop):
    """What is not finished when it is asked about is given up."""

    def check(self, order: Order) -> None:
        super().check(order)
        if FORWARD[self.books.order(order.reference).state] < FORWARD["completed"]:
            self.books.note(order.reference, state="failed")


class UnknownStatusIsFailure(Shop):
    """What is none of the statuses one knows can only be bad."""

    def follow(self, order: Order, transaction: Document) -> None:
        known = transaction["status"] in FORWARD
        super().follow(order, transaction if known else {**transaction, "status": "failed"})


class ProcessingIsDone(Shop):
    """The payment has arrived, so the order is done: what can go wrong after that?"""

    def follow(self, order: Order, transaction: Document) -> None:
        done = transaction["status"] == "processing"
        super().follow(order, {**transaction, "status": "completed"} if done else transaction)


class FirstSearchHit(Shop):
    """The first transaction that the search finds is taken for the one that was meant."""

    def is_of(self, order: Order, transaction: Document) -> bool:
        return True


class UnknownEventBreaks(Shop):
    """An event that nobody knew when this was written is an error, and its delivery fails."""

    def told(self, raw: bytes) -> None:
        kind, _, what = json.loads(raw)["type"].partition(".")
        if kind == "transaction" and what not in ("created", *FORWARD):
            raise NotImplementedError(what)
        super().told(raw)


MISTAKES: Mapping[str, tuple[type, ...]] = {
    "pays-twice-after-rejection": (PaysTwiceAfterRejection,),
    "fresh-quote-when-refused": (FreshQuoteWhenRefused,),
    "timeout-is-failure": (TriesOnce, TimeoutIsFailure),
    "early-event-is-gone": (TriesOnce, EarlyEventIsGone),
    "late-event-downgrades": (LateEventDowngrades,),
    "dedups-by-event-id-only": (DedupsByEventIdOnly,),
    "acknowledges-before-storing": (AcknowledgesBeforeStoring,),
    "seen-before-done": (SeenBeforeDone,),
    "trusts-the-payload": (TrustsThePayload,),
    "float-money": (FloatMoney,),
    "wrong-network-spelling": (WrongNetworkSpelling,),
    "stale-token-loop": (StaleTokenLoop,),
    "verifier-without-clock": (VerifierWithoutClock,),
    "signature-not-checked": (SignatureNotChecked,),
    "amount-before-fees": (AmountBeforeFees,),
    "refund-ignored": (RefundIgnored,),
    "retries-with-new-key": (TriesOnce, RetriesWithNewKey),
    "stops-polling-early": (StopsPollingEarly,),
    "unknown-status-is-failure": (UnknownStatusIsFailure,),
    "processing-is-done": (ProcessingIsDone,),
    "first-search-hit": (FirstSearchHit,),
    "unknown-event-breaks": (UnknownEventBreaks,),
}
"""Every mistake by its name, and the steps that make it."""


def named(environment: Mapping[str, str]) -> list[str]:
    """The mistakes that the variable SHOP_MISTAKES names."""
    return [name for name in environment.get("SHOP_MISTAKES", "").split(",") if name]


def careless(*names: str) -> Parts:
    """The parts of a shop with these mistakes, none for the careful one. SystemExit for a name that is none of them.

    The names in `seeded` are accepted, too.
    """
    known = {**MISTAKES, **SEEDED}
    wrong = [name for name in names if name not in known]
    if wrong:
        raise SystemExit(f"No mistake is called {', '.join(wrong)}; there are {', '.join(MISTAKES)}.")
    steps = [step for name in names for step in known[name]]

    def made_of(whole: type) -> type:
        return type(whole.__name__, (*(step for step in steps if issubclass(step, whole)), whole), {})

    return Parts(made_of(Service), made_of(Shop), made_of(Till))
