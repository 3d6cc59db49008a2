"""The business: transfers of two legs, which web handlers, two workers and a nightly job move forward."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from tests.tools.exploration.remittances.ramp import Document, Ramp, Refused, Unclear
from tests.tools.exploration.remittances.store import Leg, Store, Task

RANK = {
    "new": 0, "awaiting_payment": 1, "awaiting_deposit": 1, "processing": 2, "completed": 3, "failed": 3, "expired": 3,
    "refunded": 4, "refused": 4,
}  # fmt: skip
"""Statuses in the order in which a transaction has them. A leg never goes back."""
WALLET = "0x52908400098527886E0F7030069857D2E4169EE7"
LEASE_SECONDS = 600.0
TRIES = 8
"""Then a task waits for the nightly job."""
NEVER = 1e12
DAYS_TO_LOOK_BACK = 8


class Desk:
    """`now` returns seconds since 1970: the queue's clock."""

    def __init__(self, store: Store, ramp: Ramp, now: Callable[[], float]) -> None:
        self.store = store
        self.ramp = ramp
        self.now = now

    # Web handlers

    def send(self, reference: str, wanted: Mapping[str, Any]) -> None:
        """Accept a transfer. A second request with the same reference changes nothing."""
        with self.store.transaction():
            if self.store.add_transfer(reference, wanted):
                self.add_leg(f"{reference}-in", reference, "onramp", str(wanted["amount"]))

    def notified(self, event: Document) -> None:
        """Queue an event. The web handler responds when this returns."""
        with self.store.transaction():
            if event["type"].startswith("transaction.") and self.is_new(event):
                self.store.add_task("look", event["data"]["object"]["id"])

    def is_new(self, event: Document) -> bool:
        return self.store.changed("INSERT OR IGNORE INTO events VALUES (?)", event["id"])

    def add_leg(self, reference: str, transfer: str, kind: str, amount: str) -> None:
        currency = "USDC" if kind == "onramp" else "KES"
        self.store.add_leg(reference, transfer, kind, amount, currency)
        self.store.add_task("place", reference)

    # Workers

    def claim(self, worker: str) -> Task | None:
        """Lease the next task. The lease ends by itself, in case the worker dies."""
        with self.store.transaction():
            task = self.store.due_task(self.now())
            if task is not None:
                until = self.now() + LEASE_SECONDS
                self.store.do("UPDATE tasks SET worker = ?, leased_until = ? WHERE id = ?", worker, until, task.id)
            return task

    def work(self, task: Task) -> None:
        """Do a task. It leaves the queue when it is done, and is tried again after any trouble."""
        try:
            if task.kind == "place":
                self.place(task)
            else:
                self.look(task)
        except Exception as trouble:
            logging.getLogger(__name__).info("task %s %s: %s", task.kind, task.subject, trouble)
            self.try_later(task)
        else:
            self.store.do("DELETE FROM tasks WHERE id = ?", task.id)

    def try_later(self, task: Task) -> None:
        due = self.now() + 2.0**task.tries if task.tries < TRIES else NEVER
        self.store.do(
            "UPDATE tasks SET tries = tries + 1, due = ?, worker = NULL, leased_until = 0 WHERE id = ?", due, task.id
        )

    def drain(self, settle: Callable[[], object] = lambda: None) -> None:
        """Let both workers work until no task is due. Each claims its task before either of them works.

        `settle` waits for the events that the workers' own calls caused. Without it, the order of the tasks depends on
        which is faster, an event or the next claim.
        """
        settle()
        while tasks := [task for worker in ("one", "two") if (task := self.claim(worker)) is not None]:
            for task in tasks:
                self.work(task)
            settle()

    # Placing a leg

    def place(self, task: Task) -> None:
        """Make the transaction of a leg. All attempts use one quote and one key, unless the quote expires."""
        leg = self.store.leg(task.subject)
        if leg is None or leg.state != "new":
            return
        try:
            if leg.quote_id is None:
                leg = self.quote(leg)
            self.apply(leg.reference, self.confirm(leg, task))
        except Refused as refusal:
            self.refused(leg, refusal)

    def refused(self, leg: Leg, refusal: Refused) -> None:
        """A refusal is final only if no earlier attempt succeeded and no other quote can help."""
        if leg.quote_id is not None and (made := self.found(leg)):
            self.apply(leg.reference, made)
        elif refusal.code == "quote_expired":
            self.store.note(leg.reference, quote_id=None)
            raise Unclear("the quote has expired")
        else:
            self.store.note(leg.reference, state="refused")

    def quote(self, leg: Leg) -> Leg:
        onramp = leg.kind == "onramp"
        body = {
            "type": leg.kind, "network": "celo", "asset": "USDC", "fiat_currency": "KES", "amount": leg.amount,
            "amount_currency": "KES" if onramp else "USDC", "method": "mobile_money",
        }  # fmt: skip
        quote = self.ramp.post("/quotes", body)
        self.store.note(
            leg.reference, quote_id=quote["id"], expires_at=quote["expires_at"], promised=quote["destination_amount"]
        )
        return self.store.legs("WHERE reference = ?", leg.reference)[0]

    def confirm(self, leg: Leg, task: Task) -> Document:
        wanted = self.store.wanted(leg.transfer)
        if leg.kind == "onramp":
            parties: dict[str, Any] = {"wallet_address": WALLET, "payer": {"phone_number": wanted["payer"]}}
        else:
            parties = {"beneficiary_id": self.beneficiary(leg.transfer, wanted), "refund_address": WALLET}
        body = {**parties, "reference": leg.reference}
        return self.ramp.post(f"/quotes/{leg.quote_id}/confirm", body, self.key(leg, task))

    def key(self, leg: Leg, task: Task) -> str:
        return f"{leg.reference}/{leg.quote_id}"

    def beneficiary(self, transfer: str, wanted: Mapping[str, Any]) -> str:
        body = {
            "type": "phone_number", "name": wanted["recipient"], "country": "KE", "fiat_currency": "KES",
            "phone_number": {"phone_number": wanted["phone_number"], "provider": "mpesa"},
        }  # fmt: skip
        return str(self.ramp.post("/beneficiaries", body, f"{transfer}/beneficiary")["id"])

    def found(self, leg: Leg) -> Document | None:
        """The transaction of a leg, by its reference. The search also matches parts of references."""
        matching = self.ramp.transactions(search=leg.reference)
        return next((one for one in matching if one.get("reference") == leg.reference), None)

    # Following a transaction

    def look(self, task: Task) -> None:
        """Read the transaction that an event named. The order of events does not matter."""
        transaction = self.ramp.get(f"/transactions/{task.subject}")
        self.apply(str(transaction.get("reference")), transaction)

    def apply(self, reference: str, transaction: Document) -> None:
        """Move a leg to its transaction's status, and the transfer with it, in one database transaction."""
        with self.store.transaction():
            leg = self.store.leg(reference)
            if leg is None:
                return
            if transaction["status"] not in RANK:
                raise Unclear(f"unknown status {transaction['status']}")
            if self.is_news(leg, transaction):
                received = self.received(leg, transaction) if transaction["status"] == "completed" else "0"
                self.store.note(
                    reference, transaction_id=transaction["id"], state=transaction["status"], received=received
                )
                self.go_on(leg, transaction)

    def is_news(self, leg: Leg, transaction: Document) -> bool:
        return RANK[transaction["status"]] > RANK[leg.state]

    def received(self, leg: Leg, transaction: Document) -> str:
        return str(Decimal(transaction["destination_amount"]))

    def go_on(self, leg: Leg, transaction: Document) -> None:
        """Start the next leg: a payout when the money is here, and one more when it came back."""
        if leg.kind == "onramp" and transaction["status"] == "completed":
            amount = transaction["destination_amount"]
            self.add_leg(f"{leg.transfer}-out", leg.transfer, "offramp", amount)
        elif leg.kind == "offramp" and transaction["status"] == "refunded" and leg.reference.endswith("-out"):
            self.add_leg(f"{leg.reference}-2", leg.transfer, "offramp", leg.amount)

    # The nightly job

    def reconcile(self) -> None:
        """Compare with the API's list, and let tasks that were given up run again."""
        self.store.do("UPDATE tasks SET tries = 0, due = 0 WHERE due = ?", NEVER)
        for transaction in self.ramp.transactions(start_date=self.first_day(), size=100):
            if (reference := transaction.get("reference")) and transaction["status"] in RANK:
                self.apply(reference, transaction)

    def first_day(self) -> str:
        return f"{datetime.fromtimestamp(self.now(), UTC) - timedelta(days=DAYS_TO_LOOK_BACK):%Y-%m-%d}"

    # For staff

    def books(self) -> list[dict[str, str]]:
        """Each leg, and each transfer: `pending` for as long as it is not over."""
        legs = [
            {"order": leg.reference, "state": leg.state, "amount": leg.received, "currency": leg.currency}
            for leg in self.store.legs()
        ]
        transfers = [str(row["reference"]) for row in self.store.do("SELECT reference FROM transfers")]
        return legs + [{"order": one, "state": self.status(one), "amount": "0", "currency": ""} for one in transfers]

    def status(self, reference: str) -> str:
        """`paid`, `pending`, or the state of the leg that ended the transfer or that waits for a refund."""
        last = self.store.legs("WHERE transfer = ?", reference)[-1]
        if last.kind == "offramp" and last.state == "completed":
            return "paid"
        returned = last.state == "refunded" and not last.reference.endswith("-out")
        return f"over: {last.state}" if returned or last.state in ("failed", "expired", "refused") else "pending"
