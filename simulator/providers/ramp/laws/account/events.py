"""Events: which are sent for what, what their envelope is, and that their object is the resource."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

from simulator.conformance.bench import Bench
from simulator.conformance.laws import guess, promise
from simulator.conformance.world import Delivery
from simulator.engine.rows.vocabulary import collected
from simulator.providers.ramp.laws import steering, stock
from simulator.providers.ramp.laws.account.webhooks import Receiver, receiving, shown_of
from simulator.providers.ramp.laws.money import recurring
from simulator.providers.ramp.laws.money.quotes import instant
from simulator.providers.ramp.provider import PROVIDER

TYPES = "Events: Event types"
ENVELOPE = "Event envelope"


def _everything(bench: Bench) -> None:
    """A little of everything that events tell of."""
    world = bench.world
    onramp, offramp = stock.onramp(bench).text("id"), stock.offramp(bench).text("id")
    world.act("payment_arrives", onramp)
    world.act("complete", onramp)
    world.act("deposit_arrives", offramp)
    world.act("fail", offramp, failure_code="payout_failed")
    world.act("refund", offramp)
    send = bench.done("POST /wallet/send", stock.SEND).text("id")
    world.act("broadcast", send)
    world.act("complete", send)
    home = stock.wallet(bench, "celo").text("id")
    arrived = world.act("deposit_arrives", home, asset="USDC", amount="25")["resource"]["id"]
    world.act("deposit_confirms", arrived)


def _types(got: list[Delivery], name: str) -> list[str]:
    return [row.type for row in got if row.object.get("id") == name]


def _came(bench: Bench, receiver: Receiver, name: str, due: list[str]) -> None:
    types = _types(receiver.got(), name)
    for kind in due:
        words = f"{kind} of {name} did not come; there came {', '.join(types) or 'nothing'}"
        bench.holds(kind in types, receiver.made, words, kind)


@promise("webhook.sent", TYPES, "writes", "control")
def ramps_tell(bench: Bench) -> None:
    """Every step of a ramp is told: created, awaiting, processing, completed, failed, refunded."""
    world = bench.world
    with receiving(bench) as receiver:
        paid, failed = stock.onramp(bench).text("id"), stock.offramp(bench).text("id")
        world.act("payment_arrives", paid)
        world.act("complete", paid)
        world.act("deposit_arrives", failed)
        world.act("fail", failed, failure_code="payout_failed")
        world.act("refund", failed)
        _came(bench, receiver, paid, [f"transaction.{word}" for word in (
            "created", "awaiting_payment", "processing", "completed")])  # fmt: skip
        _came(bench, receiver, failed, [f"transaction.{word}" for word in (
            "created", "awaiting_deposit", "processing", "failed", "refunded")])  # fmt: skip


@promise("event.once", "Events: deduplicate on the event id", "writes", "control")
def told_once(bench: Bench) -> None:
    """What happens once is told under one id, however often it comes."""
    with receiving(bench, "transaction.created", "transaction.awaiting_payment") as receiver:
        ramp = stock.onramp(bench).text("id")
        ids = {(row.type, row.id) for row in receiver.got() if row.object.get("id") == ramp}
        bench.holds(len(ids) == 2, receiver.made, f"two events have {len(ids)} ids", "id")


@promise("event.created_at", ENVELOPE, "writes", "control")
def created_at(bench: Bench) -> None:
    """The created_at of an event is the moment of what it tells."""
    with receiving(bench, "transaction.created") as receiver:
        ramp = stock.onramp(bench)
        for row in receiver.got():
            told = str(row.event.get("created_at"))
            apart = abs(instant(told) - instant(ramp.text("created_at")))
            words = f"{row.type} says {told} of what was made at {ramp.text('created_at')}"
            bench.holds(apart < timedelta(minutes=1), receiver.made, words, "created_at")


@promise("event.expired", TYPES, "writes", "control")
def expiry_tells(bench: Bench) -> None:
    """A ramp that got no funds and a quote that was not used tell that they expired."""
    with receiving(bench) as receiver:
        waiting, unused = stock.onramp(bench).text("id"), stock.onramp_quote(bench).text("id")
        bench.world.advance("31m")
        _came(bench, receiver, waiting, ["transaction.expired"])
        _came(bench, receiver, unused, ["quote.expired"])


@promise("event.wallet_transactions", TYPES, "writes", "control")
def wallet_transactions_tell(bench: Bench) -> None:
    """Wallet transactions tell that they are processing, completed or failed."""
    world = bench.world
    with receiving(bench) as receiver:
        sent = bench.done("POST /wallet/send", stock.SEND).text("id")
        world.act("broadcast", sent)
        world.act("complete", sent)
        _came(bench, receiver, sent, ["transaction.processing", "transaction.completed"])
        lost = bench.done("POST /wallet/send", stock.SEND).text("id")
        world.act("fail", lost)
        _came(bench, receiver, lost, ["transaction.failed"])
        quote = stock.withdraw_quote(bench).text("id")
        drawn = bench.done("POST /wallet/withdraw", {"quote_id": quote}).text("id")
        world.act("complete", drawn)
        _came(bench, receiver, drawn, ["transaction.processing", "transaction.completed"])


@promise("event.resources", TYPES, "writes", "control")
def resources_tell(bench: Bench) -> None:
    """Beneficiaries, wallets and deposits tell what happens to them."""
    world = bench.world
    with receiving(bench) as receiver:
        payee = stock.beneficiary(bench).text("id")
        bench.done("DELETE /beneficiaries/{id}", id=payee)
        _came(bench, receiver, payee, ["beneficiary.created", "beneficiary.deleted"])
        home = stock.wallet(bench, "stellar").text("id")
        _came(bench, receiver, home, ["wallet.created"])
        good = world.act("deposit_arrives", home, asset="USDC", amount="25")["resource"]["id"]
        world.act("deposit_confirms", good)
        _came(bench, receiver, good, ["deposit.detected", "deposit.confirmed"])
        bad = world.act("deposit_arrives", home, asset="USDC", amount="25", memo="")["resource"]["id"]
        _came(bench, receiver, bad, ["deposit.failed"])


@promise("event.lightning", TYPES, "writes", "control")
def lightning_tells(bench: Bench) -> None:
    """A Lightning invoice tells that it was paid, or that it expired."""
    with receiving(bench) as receiver:
        home = stock.wallet(bench, "bitcoin").text("id")
        body = {"type": "invoice", "amount_sats": 1000, "expires_in": 600}
        paid, unpaid = (bench.done("POST /wallets/{id}/lightning", body, id=home).text("id") for _ in "ab")
        bench.world.act("invoice_paid", paid)
        bench.world.advance("11m")
        _came(bench, receiver, paid, ["lightning.invoice_paid"])
        _came(bench, receiver, unpaid, ["lightning.invoice_expired"])


@promise("event.account", TYPES, "writes", "control")
def account_tells(bench: Bench) -> None:
    """KYC decisions and changes of a network are told."""
    with receiving(bench, "kyc.action_required", "kyc.approved", "network.status_changed") as receiver:
        bench.world.act("set_kyc", status="action_required")
        bench.world.act("set_kyc", status="approved")
        with steering.network_status(bench.world, "celo", "degraded"):
            pass
        types = [got.type for got in receiver.got()]
        due = ["kyc.action_required", "kyc.approved", "network.status_changed", "network.status_changed"]
        bench.holds(types == due, receiver.made, f"there came {', '.join(types) or 'nothing'}", "type")


@promise("event.recurring", TYPES, "writes", "control")
def recurring_tells(bench: Bench) -> None:
    """A recurring payment tells of its activation, its runs, its pauses and its end."""
    with receiving(bench) as receiver:
        name = recurring.active(bench)
        bench.done("POST /recurring-payments/{id}/pause", {}, id=name)
        bench.done("POST /recurring-payments/{id}/restart", {}, id=name)
        recurring.past(bench, name, 1)
        bench.world.act("set_balance", symbol="USDC", network="CELO", amount="0")
        recurring.past(bench, name, 1)
        _came(bench, receiver, name, [f"recurring_payment.{word}" for word in (
            "activated", "paused", "restarted", "run_upcoming", "run_succeeded", "run_failed")])  # fmt: skip
        bench.done("DELETE /recurring-payments/{id}", id=name)
        _came(bench, receiver, name, ["recurring_payment.deleted"])
        steering.provide(bench.world)
        last = recurring.active(bench, end={"type": "after_occurrences", "occurrences": 1})
        recurring.past(bench, last, 1)
        _came(bench, receiver, last, ["recurring_payment.completed"])


@promise("event.upcoming", "Limits: Recurring run upcoming notice", "writes", "control")
def upcoming(bench: Bench) -> None:
    """A run is announced 24 hours before, not earlier."""
    with receiving(bench, "recurring_payment.run_upcoming") as receiver:
        name = recurring.active(bench, days=3)
        run = instant(bench.done("GET /recurring-payments/{id}", id=name).text("next_run_at"))
        bench.world.advance_to(run - recurring.DAY - recurring.MINUTE)
        early = len(receiver.got())
        bench.holds(early == 0, receiver.made, "announced more than 24 hours before", "recurring_payment.run_upcoming")
        bench.world.advance_to(run - recurring.DAY + recurring.MINUTE)
        count = len(receiver.got())
        words = f"{count} announcements 24 hours before a run"
        bench.holds(count == 1, receiver.made, words, "recurring_payment.run_upcoming")


@promise("event.envelope", ENVELOPE, "writes", "control")
def envelope(bench: Bench) -> None:
    """An event has an id that starts with evt_, a type of the catalogue, created_at and its object."""
    with receiving(bench) as receiver:
        _everything(bench)
        for got in receiver.got():
            bench.holds(got.id.startswith("evt_"), receiver.made, f"the id is {got.id}", "id")
            bench.holds(
                got.type in collected(PROVIDER).events,
                receiver.made,
                f"{got.type} is no event of the catalogue",
                "type",
            )
            at = str(got.event.get("created_at"))
            bench.holds(at.endswith("Z") and bool(instant(at)), receiver.made, f"created_at is {at}", "created_at")
            bench.holds(bool(got.object), receiver.made, f"{got.type} has no object", "data.object")


def _judge_shapes(bench: Bench, *, promises: bool) -> None:
    with receiving(bench) as receiver:
        _everything(bench)
        stock.beneficiary(bench)
        recurring.active(bench)
        for got in receiver.got():
            faults = [fault for fault in bench.event_faults(got.type, got.raw) if fault[2] is promises]
            for place, message, _ in faults:
                bench.holds(False, receiver.made, f"{got.type}: {message}", f"{got.type} {place}")
            if not faults:
                bench.holds(True, receiver.made, "")


@promise("event.shape", ENVELOPE, "writes", "control")
def shape(bench: Bench) -> None:
    """An event has the members that the specification gives it and its object."""
    _judge_shapes(bench, promises=True)


@guess("event.assumed_shape", "W8", "writes", "control")
def assumed_shape(bench: Bench) -> None:
    """An event is as the contract says, as far as assumed."""
    _judge_shapes(bench, promises=False)


@promise("webhook.livemode", ENVELOPE, "writes", "control")
def livemode(bench: Bench) -> None:
    """Events of the sandbox say livemode false, those of production true."""
    with receiving(bench) as receiver:
        stock.beneficiary(bench)
        for got in receiver.got():
            told = got.event.get("livemode")
            bench.holds(told is False, receiver.made, f"livemode is {told} in the sandbox", "livemode")
    live = bench.other_environment
    name = bench.fresh("inbox")
    made = live.call("POST /webhooks", {"url": bench.world.inbox(name), "events": ["beneficiary.created"]})
    live.call("POST /beneficiaries", stock.BENEFICIARY)
    for got in bench.world.received(name)[1:]:
        told = got.event.get("livemode")
        bench.holds(told is True, made, f"livemode is {told} in production", "livemode")
    live.call("DELETE /webhooks/{id}", id=made.text("id"))


@promise("webhook.unique_id", "Event envelope: id, unique, for deduplication", "writes", "control")
def unique_id(bench: Bench) -> None:
    """Each event has an id of its own."""
    with receiving(bench) as receiver:
        _everything(bench)
        ids = Counter(got.id for got in receiver.got())
        for name, times in ids.items():
            bench.holds(times == 1, receiver.made, f"{times} events have the id {name}", "id")


@promise("webhook.object", "Event envelope: the full resource at the time of the event", "writes", "control")
def full_object(bench: Bench) -> None:
    """The object of the newest event of a resource is what GET shows of it."""
    with receiving(bench) as receiver:
        _everything(bench)
        stock.wallet(bench, "bitcoin")
        newest = {str(got.object.get("id")): got for got in receiver.got()}
        for got in newest.values():
            answer = shown_of(bench, got)
            if answer is not None and answer.ok:
                bench.like(answer, got.object, answer.body)


@promise("event.status", TYPES, "writes", "control")
def status_of_type(bench: Bench) -> None:
    """The object of a transaction's event has the status that the event is named after."""
    with receiving(bench) as receiver:
        _everything(bench)
        for got in receiver.got():
            kind, _, word = got.type.partition(".")
            if kind == "transaction" and word != "created":
                told = got.object.get("status")
                held = told == word or (word == "failed" and told == "refunded")
                bench.holds(held, receiver.made, f"{got.type} tells of status {told}", "data.object.status")


@promise("event.failure_code", "Events: payload carries failure_code", "writes", "control")
def failure_code(bench: Bench) -> None:
    """transaction.failed carries a failure_code."""
    with receiving(bench, "transaction.failed") as receiver:
        _everything(bench)
        for got in receiver.got():
            code = got.object.get("failure_code")
            bench.holds(
                bool(code), receiver.made, "transaction.failed without failure_code", "data.object.failure_code"
            )


@promise("event.order", "States: Ramp transaction", "writes", "control")
def in_order(bench: Bench) -> None:
    """The events of a ramp are made in the order of its states."""
    with receiving(bench, "transaction.processing", "transaction.completed") as receiver:
        _everything(bench)
        by_object: dict[str, list[Delivery]] = {}
        for got in receiver.got():
            by_object.setdefault(str(got.object.get("id")), []).append(got)
        for rows in by_object.values():
            made = sorted(rows, key=lambda row: str(row.event.get("created_at")))
            types = [row.type for row in made]
            held = types == sorted(types, key=("transaction.processing", "transaction.completed").index)
            bench.holds(held, receiver.made, f"they come as {', '.join(types)}", "created_at")


LAWS = (
    ramps_tell, told_once, created_at, expiry_tells, wallet_transactions_tell, resources_tell, lightning_tells,
    account_tells, recurring_tells, upcoming, envelope, shape, assumed_shape, livemode, unique_id, full_object,
    status_of_type, failure_code, in_order,
)  # fmt: skip
