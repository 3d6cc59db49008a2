"""Events: when they are sent, the envelope, and the object in the envelope."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from simulator.conformance.bench import Bench
from simulator.conformance.laws import guess, promise
from simulator.conformance.world import Delivery
from simulator.engine.vocabulary.vocabulary import collected
from simulator.providers.ramp.laws import stock
from simulator.providers.ramp.laws.account.webhooks import Receiver, receiving, shown_of
from simulator.providers.ramp.laws.money import recurring
from simulator.providers.ramp.laws.money.quotes import instant
from simulator.providers.ramp.provider import PROVIDER

TYPES = "Events: Event types"
ENVELOPE = "Event envelope"


def _ramps(bench: Bench) -> tuple[str, str]:
    paid, failed = stock.onramp(bench).text("id"), stock.offramp(bench).text("id")
    stock.act(bench, paid, "payment_arrives", "complete")
    stock.act(bench, failed, "deposit_arrives", "fail", "refund")
    return paid, failed


def _send(bench: Bench) -> str:
    return stock.act(bench, stock.sent(bench).text("id"), "broadcast", "complete")


def _delivered(bench: Bench, *events: str) -> Iterator[tuple[Receiver, Delivery]]:
    """Cause events of most types. Yield each delivery with its receiver."""
    with receiving(bench, *events) as receiver:
        _ramps(bench)
        _send(bench)
        stock.act(bench, stock.deposit(bench, stock.wallet(bench, "celo").text("id")), "deposit_confirms")
        stock.wallet(bench, "bitcoin")
        recurring.active(bench)
        for got in receiver.got():
            yield receiver, got


@promise("webhook.sent", TYPES, "writes", "control")
def ramp_events(bench: Bench) -> None:
    """An event is sent for each status change of a ramp: created, awaiting, processing, completed, failed, refunded."""
    with receiving(bench) as receiver:
        paid, failed = _ramps(bench)
        receiver.came(paid, "transaction", "created", "awaiting_payment", "processing", "completed")
        receiver.came(failed, "transaction", "created", "awaiting_deposit", "processing", "failed", "refunded")


@promise("event.once", "Events: deduplicate on the event id", "writes", "control")
def one_id(bench: Bench) -> None:
    """An event has the same id in every delivery."""
    with receiving(bench, "transaction.created", "transaction.awaiting_payment") as receiver:
        ramp = stock.onramp(bench).text("id")
        ids = {(row.type, row.id) for row in receiver.got() if row.object.get("id") == ramp}
        receiver.holds(len(ids) == 2, f"two events have {len(ids)} ids", "id")


@promise("event.created_at", ENVELOPE, "writes", "control")
def created_at(bench: Bench) -> None:
    """An event's created_at is the time at which the event occurred."""
    with receiving(bench, "transaction.created") as receiver:
        created = stock.onramp(bench).text("created_at")
        for row in receiver.got():
            at = str(row.event.get("created_at"))
            held = abs(instant(at) - instant(created)) < timedelta(minutes=1)
            receiver.holds(held, f"created_at of {row.type} is {at}, of its transaction {created}", "created_at")


@promise("event.expired", TYPES, "writes", "control")
def expiry_events(bench: Bench) -> None:
    """An event is sent when an unpaid ramp or an unused quote expires."""
    with receiving(bench) as receiver:
        waiting, unused = stock.onramp(bench).text("id"), stock.onramp_quote(bench).text("id")
        bench.world.advance("31m")
        receiver.came(waiting, "transaction", "expired")
        receiver.came(unused, "quote", "expired")


@promise("event.wallet_transactions", TYPES, "writes", "control")
def wallet_transaction_events(bench: Bench) -> None:
    """An event is sent when the status of a wallet transaction changes to processing, completed or failed."""
    with receiving(bench) as receiver:
        receiver.came(_send(bench), "transaction", "processing", "completed")
        receiver.came(stock.act(bench, stock.sent(bench).text("id"), "fail"), "transaction", "failed")
        drawn = stock.act(bench, stock.withdrawal(bench).text("id"), "complete")
        receiver.came(drawn, "transaction", "processing", "completed")


@promise("event.resources", TYPES, "writes", "control")
def resource_events(bench: Bench) -> None:
    """An event is sent when a beneficiary is created or deleted, a wallet is created, or a deposit changes status."""
    with receiving(bench) as receiver:
        payee = stock.beneficiary(bench).text("id")
        bench.done("DELETE /beneficiaries/{id}", id=payee)
        receiver.came(payee, "beneficiary", "created", "deleted")
        home = stock.wallet(bench, "stellar").text("id")
        receiver.came(home, "wallet", "created")
        good = stock.act(bench, stock.deposit(bench, home), "deposit_confirms")
        receiver.came(good, "deposit", "detected", "confirmed")
        receiver.came(stock.deposit(bench, home, memo=""), "deposit", "failed")


@promise("event.lightning", TYPES, "writes", "control")
def lightning_events(bench: Bench) -> None:
    """An event is sent when a Lightning invoice is paid or expires."""
    with receiving(bench) as receiver:
        home = stock.wallet(bench, "bitcoin").text("id")
        body = {"type": "invoice", "amount_sats": 1000, "expires_in": 600}
        paid, unpaid = (bench.done("POST /wallets/{id}/lightning", body, id=home).text("id") for _ in "ab")
        bench.world.act("invoice_paid", paid)
        bench.world.advance("11m")
        receiver.came(paid, "lightning", "invoice_paid")
        receiver.came(unpaid, "lightning", "invoice_expired")


@promise("event.account", TYPES, "writes", "control")
def account_events(bench: Bench) -> None:
    """An event is sent when the account's KYC status or a network's status changes."""
    with receiving(bench, "kyc.action_required", "kyc.approved", "network.status_changed") as receiver:
        bench.world.act("set_kyc", status="action_required")
        bench.world.act("set_kyc", status="approved")
        with stock.network_status(bench.world, "celo", "degraded"):
            pass
        types = [got.type for got in receiver.got()]
        due = ["kyc.action_required", "kyc.approved", "network.status_changed", "network.status_changed"]
        receiver.holds(types == due, f"delivered: {', '.join(types) or 'nothing'}", "type")


@promise("event.recurring", TYPES, "writes", "control")
def recurring_events(bench: Bench) -> None:
    """An event is sent when a recurring payment is activated, runs, is paused, or ends."""
    with receiving(bench) as receiver:
        name = recurring.active(bench)
        bench.done("POST /recurring-payments/{id}/pause", {}, id=name)
        bench.done("POST /recurring-payments/{id}/restart", {}, id=name)
        recurring.past(bench, name, 1)
        stock.set_balance(bench.world, "0")
        recurring.past(bench, name, 1)
        words = "activated", "paused", "restarted", "run_upcoming", "run_succeeded", "run_failed"
        receiver.came(name, "recurring_payment", *words)
        bench.done("DELETE /recurring-payments/{id}", id=name)
        receiver.came(name, "recurring_payment", "deleted")
        stock.provide(bench.world)
        last = recurring.active(bench, end={"type": "after_occurrences", "occurrences": 1})
        recurring.past(bench, last, 1)
        receiver.came(last, "recurring_payment", "completed")


@promise("event.upcoming", "Limits: Recurring run upcoming notice", "writes", "control")
def upcoming(bench: Bench) -> None:
    """An event announces each run of a recurring payment 24 hours in advance, not earlier."""
    kind = "recurring_payment.run_upcoming"
    with receiving(bench, kind) as receiver:
        name = recurring.active(bench, days=3)
        run = instant(bench.done("GET /recurring-payments/{id}", id=name).text("next_run_at"))
        bench.world.advance_to(run - recurring.DAY - recurring.MINUTE)
        receiver.holds(not receiver.got(), "announced more than 24 hours before", kind)
        bench.world.advance_to(run - recurring.DAY + recurring.MINUTE)
        count = len(receiver.got())
        receiver.holds(count == 1, f"{count} announcements 24 hours before a run", kind)


@promise("event.envelope", ENVELOPE, "writes", "control")
def envelope(bench: Bench) -> None:
    """An event has an id that starts with evt_, a type from the event catalogue, created_at, and an object."""
    for receiver, got in _delivered(bench):
        receiver.holds(got.id.startswith("evt_"), f"the id is {got.id}", "id")
        known = got.type in collected(PROVIDER).events
        receiver.holds(known, f"{got.type} is not an event of the catalogue", "type")
        at = str(got.event.get("created_at"))
        receiver.holds(at.endswith("Z") and bool(instant(at)), f"created_at is {at}", "created_at")
        receiver.holds(bool(got.object), f"{got.type} has no object", "data.object")


def _judge_shapes(bench: Bench, *, promises: bool) -> None:
    for receiver, got in _delivered(bench):
        faults = [fault for fault in bench.event_faults(got.type, got.raw) if fault.promise is promises]
        for fault in faults:
            receiver.holds(False, f"{got.type}: {fault.message}", f"{got.type} {fault.place}")
        if not faults:
            receiver.holds(True, "", "")


@promise("event.shape", ENVELOPE, "writes", "control")
def shape(bench: Bench) -> None:
    """An event and its object contain the fields that the specification lists."""
    _judge_shapes(bench, promises=True)


@guess("event.assumed_shape", "W8", "writes", "control")
def assumed_shape(bench: Bench) -> None:
    """An event matches the parts of the contract that are assumptions."""
    _judge_shapes(bench, promises=False)


@promise("webhook.livemode", ENVELOPE, "writes", "control")
def livemode(bench: Bench) -> None:
    """livemode is false in sandbox events and true in production events."""
    live = bench.in_other_environment()
    for environment, due in ((bench, False), (live, True)):
        with receiving(environment, "beneficiary.created") as receiver:
            stock.beneficiary(environment)
            for got in receiver.got():
                found = got.event.get("livemode")
                words = f"livemode is {found} in {'production' if due else 'the sandbox'}"
                receiver.holds(found is due, words, "livemode")


@promise("webhook.unique_id", "Event envelope: id, unique, for deduplication", "writes", "control")
def unique_id(bench: Bench) -> None:
    """Each event has its own id."""
    ids: set[str] = set()
    for receiver, got in _delivered(bench):
        receiver.holds(got.id not in ids, f"two events have the id {got.id}", "id")
        ids.add(got.id)


@promise("webhook.object", "Event envelope: the full resource at the time of the event", "writes", "control")
def full_object(bench: Bench) -> None:
    """The object in a resource's newest event equals the GET response for the resource."""
    # Events about runs also contain the run, which GET does not return.
    newest = {str(got.object.get("id")): got for _, got in _delivered(bench) if ".run_" not in got.type}
    for got in newest.values():
        answer = shown_of(bench, got)
        if answer is not None and answer.ok:
            bench.like(answer, got.object, answer.body)


@promise("event.status", TYPES, "writes", "control")
def status_of_type(bench: Bench) -> None:
    """The object in a transaction event has the status that the event type names."""
    for receiver, got in _delivered(bench):
        kind, _, word = got.type.partition(".")
        if kind == "transaction" and word != "created":
            status = got.object.get("status")
            held = status == word or (word == "failed" and status == "refunded")
            receiver.holds(held, f"the object of {got.type} has status {status}", "data.object.status")


@promise("event.failure_code", "Events: payload carries failure_code", "writes", "control")
def failure_code(bench: Bench) -> None:
    """A transaction.failed event contains a failure_code."""
    for receiver, got in _delivered(bench, "transaction.failed"):
        held = bool(got.object.get("failure_code"))
        receiver.holds(held, "transaction.failed without failure_code", "data.object.failure_code")


@promise("event.order", "States: Ramp transaction", "writes", "control")
def in_order(bench: Bench) -> None:
    """A ramp's events are created in the order of its status changes."""
    kinds = ("transaction.processing", "transaction.completed")
    delivered = [*_delivered(bench, *kinds)]
    for name in {got.object.get("id") for _, got in delivered}:
        rows = [got for _, got in delivered if got.object.get("id") == name]
        types = [row.type for row in sorted(rows, key=lambda row: str(row.event.get("created_at")))]
        held = types == sorted(types, key=kinds.index)
        delivered[0][0].holds(held, f"the order is {', '.join(types)}", "created_at")
