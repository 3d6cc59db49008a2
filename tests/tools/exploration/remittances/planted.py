"""Twenty subtle bugs, chosen from what integrators get wrong before anybody had read how explore looks for them.

    REMITTANCE_BUGS=claim-never-lapses,first-page-only   # in a suite: an application with these two

Each replaces a few methods of the correct application. Everything else stays correct, the nightly job included.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import httpx

from tests.tools.exploration.remittances.desk import NEVER, Desk
from tests.tools.exploration.remittances.ramp import Document, Ramp, Refused
from tests.tools.exploration.remittances.store import Leg, Task
from tests.tools.exploration.remittances.web import MAXIMUM_AGE_MS, Web


class ClaimNeverLapses(Desk):
    """A task is claimed for good, so it is never done if the worker dies."""

    def claim(self, worker: str) -> Task | None:
        with self.store.transaction():
            task = self.store.due_task(self.now())
            if task is not None:
                self.store.do("UPDATE tasks SET worker = ?, leased_until = ? WHERE id = ?", worker, NEVER, task.id)
            return task


class RemovedWhenClaimed(Desk):
    """A task leaves the queue when it is claimed, and comes back only after an exception."""

    def claim(self, worker: str) -> Task | None:
        with self.store.transaction():
            task = self.store.due_task(self.now())
            if task is not None:
                self.store.do("DELETE FROM tasks WHERE id = ?", task.id)
            return task

    def try_later(self, task: Task) -> None:
        values = (task.id, task.kind, task.subject, 0.0, task.tries)
        self.store.do("INSERT INTO tasks (id, kind, subject, due, tries) VALUES (?, ?, ?, ?, ?)", *values)
        super().try_later(task)


class EventNotedApart(Desk):
    """An event counts as seen before its task is in the queue: two commits."""

    def notified(self, event: Document) -> None:
        if event["type"].startswith("transaction.") and self.is_new(event):
            self.store.add_task("look", event["data"]["object"]["id"])


class PayoutQueuedApart(Desk):
    """The first leg is booked in one commit, and the second leg is created in another."""

    def apply(self, reference: str, transaction: Document) -> None:
        before = self.store.leg(reference)
        super().apply(reference, transaction)
        after = self.store.leg(reference)
        if before is not None and after is not None and before.state != after.state:
            with self.store.transaction():
                super().go_on(after, transaction)

    def go_on(self, leg: Leg, transaction: Document) -> None:
        pass


class DroppedAfterThreeTries(Desk):
    """A task that has failed three times is deleted, and the job does not know about it."""

    def try_later(self, task: Task) -> None:
        if task.tries < 2:
            super().try_later(task)
        else:
            self.store.do("DELETE FROM tasks WHERE id = ?", task.id)


class FreshQuotePerTry(Desk):
    """Each try starts with a quote of its own, so a key never repeats."""

    def place(self, task: Task) -> None:
        leg = self.store.leg(task.subject)
        if leg is not None and leg.state == "new":
            self.store.note(leg.reference, quote_id=None)
        super().place(task)


class JobPlacesAnew(Desk):
    """The job places legs again that have no transaction in the books, with a new quote, before it reads the list."""

    def reconcile(self) -> None:
        for leg in self.store.legs("WHERE state = 'new'"):
            self.store.note(leg.reference, quote_id=None)
            self.place(Task(0, "place", leg.reference, 0))
        super().reconcile()


class AlreadyUsedIsFailure(Desk):
    """Any refusal is final: nobody asks whether an earlier try made the transaction."""

    def refused(self, leg: Leg, refusal: Refused) -> None:
        if refusal.code == "quote_expired":
            super().refused(leg, refusal)
        else:
            self.store.note(leg.reference, state="refused")


class GarbageIsPoison(Ramp):
    """A body that is not JSON raises an error that the workers do not expect."""

    def decoded(self, answer: httpx.Response) -> Document:
        return dict(answer.json())


class DropsPoison(Desk):
    """A worker deletes a task that raised an unexpected error, so that it cannot block the queue."""

    def place(self, task: Task) -> None:
        self._poisoned(super().place, task)

    def look(self, task: Task) -> None:
        self._poisoned(super().look, task)

    def _poisoned(self, work: Any, task: Task) -> None:
        try:
            work(task)
        except (ValueError, TypeError):
            self.store.do("DELETE FROM tasks WHERE id = ?", task.id)


KNOWN_FIELDS = {
    "id", "type", "status", "quote_id", "network", "asset", "fiat_currency", "rate", "source_amount",
    "destination_amount", "fee", "wallet_address", "beneficiary_id", "tx_hash", "reference", "payment_instructions",
    "deposit", "order_id", "created_at", "updated_at", "failure_code",
}  # fmt: skip


class StrictFields(Desk):
    """Transactions are decoded into a class that refuses unknown fields."""

    def apply(self, reference: str, transaction: Document) -> None:
        if unknown := {*transaction} - KNOWN_FIELDS:
            raise TypeError(f"unknown fields {unknown}")
        super().apply(reference, transaction)


class WindowInMilliseconds(Web):
    """The age is computed in seconds and compared with a limit in milliseconds."""

    def is_recent(self, stamp_ms: int) -> bool:
        return super().is_recent(stamp_ms) or abs(self.now_ms() - stamp_ms) / 1000 <= MAXIMUM_AGE_MS


class StaleCopy(Desk):
    """A worker loads the leg when it claims a task, and decides by that copy; amounts are added to what is there."""

    copies: dict[int, Leg | None]
    copy: Leg | None = None

    def claim(self, worker: str) -> Task | None:
        task = super().claim(worker)
        if task is not None and task.kind == "look":
            legs = self.store.legs("WHERE transaction_id = ?", task.subject)
            self.__dict__.setdefault("copies", {})[task.id] = next(iter(legs), None)
        return task

    def look(self, task: Task) -> None:
        self.copy = self.__dict__.setdefault("copies", {}).pop(task.id, None)
        try:
            super().look(task)
        finally:
            self.copy = None

    def is_news(self, leg: Leg, transaction: Document) -> bool:
        return super().is_news(self.copy or leg, transaction)

    def received(self, leg: Leg, transaction: Document) -> str:
        return str(Decimal(leg.received) + Decimal(transaction["destination_amount"]))


class JobSkipsCompleted(Desk):
    """The job looks at open legs only: what is completed is done."""

    def reconcile(self) -> None:
        self._reconciling = True
        try:
            super().reconcile()
        finally:
            self._reconciling = False

    def is_news(self, leg: Leg, transaction: Document) -> bool:
        done = getattr(self, "_reconciling", False) and leg.state == "completed"
        return not done and super().is_news(leg, transaction)


class OnlyToday(Desk):
    """The job reads today's transactions."""

    def first_day(self) -> str:
        return f"{datetime.fromtimestamp(self.now(), UTC):%Y-%m-%d}"


class OwnClockExpires(Desk):
    """The job marks unpaid legs as expired by its own clock, before it reads the list."""

    def reconcile(self) -> None:
        for leg in self.store.legs("WHERE state = 'awaiting_payment'"):
            if datetime.fromisoformat(str(leg.expires_at)).timestamp() <= self.now():
                self.store.note(leg.reference, state="expired")
        super().reconcile()


class SecondPayoutWhenSlow(Desk):
    """The job makes a payout again that has been under way for an hour."""

    def reconcile(self) -> None:
        super().reconcile()
        for leg in self.store.legs("WHERE kind = 'offramp' AND state = 'processing' AND reference LIKE '%-out'"):
            quoted_until = datetime.fromisoformat(str(leg.expires_at)) + timedelta(minutes=30)
            if quoted_until.timestamp() <= self.now():
                with self.store.transaction():
                    self.add_leg(f"{leg.reference}-2", leg.transfer, "offramp", leg.amount)


class AmountOfFirstQuote(Desk):
    """The amount that the customer was shown is booked, even if that quote has expired and another was confirmed."""

    def quote(self, leg: Leg) -> Leg:
        made = super().quote(leg)
        self.store.note(leg.reference, promised=leg.promised or made.promised)
        return made

    def received(self, leg: Leg, transaction: Document) -> str:
        return str(leg.promised)


class PayoutOnProcessing(Desk):
    """The recipient is paid when the customer's payment has arrived, before the stablecoins have."""

    def go_on(self, leg: Leg, transaction: Document) -> None:
        early = leg.kind == "onramp" and transaction["status"] == "processing"
        super().go_on(leg, {**transaction, "status": "completed"} if early else transaction)


class KeyByOrder(Desk):
    """The key is the leg's reference, so the confirmation of a second quote conflicts with the first."""

    def key(self, leg: Leg, task: Task) -> str:
        return leg.reference


class FirstPageOnly(Ramp):
    """The list is read without its other pages."""

    def transactions(self, **query: str | int) -> Iterator[Document]:
        yield from self.get("/transactions", **{**query, "size": 20}, sort_order="asc")["data"]


BUGS: Mapping[str, tuple[type, ...]] = {
    "claim-never-lapses": (ClaimNeverLapses,),
    "removed-when-claimed": (RemovedWhenClaimed,),
    "event-noted-apart": (EventNotedApart,),
    "payout-queued-apart": (PayoutQueuedApart,),
    "dropped-after-three-tries": (DroppedAfterThreeTries,),
    "fresh-quote-per-try": (FreshQuotePerTry,),
    "job-places-anew": (JobPlacesAnew,),
    "already-used-is-failure": (AlreadyUsedIsFailure,),
    "garbage-is-poison": (GarbageIsPoison, DropsPoison),
    "strict-fields": (StrictFields, DropsPoison),
    "window-in-milliseconds": (WindowInMilliseconds,),
    "stale-copy": (StaleCopy,),
    "job-skips-completed": (JobSkipsCompleted,),
    "only-today": (OnlyToday,),
    "own-clock-expires": (OwnClockExpires,),
    "second-payout-when-slow": (SecondPayoutWhenSlow,),
    "amount-of-first-quote": (AmountOfFirstQuote,),
    "payout-on-processing": (PayoutOnProcessing,),
    "key-by-order": (KeyByOrder,),
    "first-page-only": (FirstPageOnly,),
}
"""Every bug by its name, and the classes that make it."""


def made_of(whole: type, bugs: list[str]) -> Any:
    """`Desk`, `Ramp` or `Web` with these bugs."""
    parts = [part for name in bugs for part in BUGS[name] if issubclass(part, whole)]
    return type(whole.__name__, (*parts, whole), {})
