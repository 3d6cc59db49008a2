"""The catalogue of event types and the making of an event: its envelope once, as raw bytes (decision W7).

Chapter "Events" of the specification, decision W8.
"""

from __future__ import annotations

from dataclasses import field

from simulator.engine.faults import wording
from simulator.engine.records.origins import present_origin
from simulator.engine.rows.by_name import by_name
from simulator.engine.text.json import JsonObject, Shown, dumps
from simulator.kernel.clock import format_timestamp
from simulator.kernel.dataclass import dataclass
from simulator.kernel.journal import Event
from simulator.kernel.texts import Text
from simulator.kernel.world import World


@dataclass(frozen=True, slots=True)
class EventType:
    """One row of the event catalogue: the type, when it is sent, what `data.object` is, and what a receiver learns.

    Which kinds of resource it tells of, and in which statuses, say the state tables that name it in their cells; of an
    event that no move emits, `in_status` says where its object can be. Every receiver may rely on the members of the
    object that it `requires` (`run.failure_code`: a member of a member), and on its status where the contract
    `narrows` that; `also` are further statuses that the contract leaves open. `is_last`: after it an integrator looks
    at the resource itself.

    `example` is how a realistic object of this event differs from the example of its kind: of the first kind that the
    event tells of, or of `example_of`. A text `@`, `@+30m` or `@-1d` stands for a moment counted from now.
    """

    name: str
    sent_when: str
    object: str
    tells: str = ""
    requires: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    narrows: bool = True
    in_status: str = ""
    is_last: bool = False
    example_of: str = ""
    example: JsonObject = field(default_factory=dict)

    @property
    def description(self) -> str:
        return f"Sent when {self.sent_when}. {self.tells}".rstrip()


_TX_HASH = "0x3f1c9a7be2d4058617c3f9ab24de6071859bc3f2a7d0e416582b9cf3a1d7e604"

_ROWS = (
    EventType(
        "transaction.created",
        "an onramp or offramp transaction is created",
        "transaction",
        "The first event of a ramp; the one that says what is waited for follows at once.",
    ),
    EventType(
        "transaction.awaiting_payment",
        "an onramp waits for the fiat payment",
        "transaction",
        "`payment_instructions` tell the payer how to pay, before the quote's `expires_at`.",
    ),
    EventType(
        "transaction.awaiting_deposit",
        "an offramp waits for the crypto deposit",
        "transaction",
        "`deposit` tells where to send how much, before `deposit_by`.",
        example_of="offramp",
    ),
    EventType(
        "transaction.processing",
        "the payment or deposit of a transaction has arrived, or a wallet operation was accepted or broadcast",
        "transaction",
        "The money is in the service's hands; completed, failed or refunded follows.",
        example_of="offramp",
        example={"tx_hash": _TX_HASH},
    ),
    EventType(
        "transaction.completed",
        "the crypto was delivered, the fiat was paid out, or a send or swap is final",
        "transaction",
        "Nothing more happens to the transaction, but for a refund by hand.",
        is_last=True,
        example_of="offramp",
        example={"tx_hash": _TX_HASH},
    ),
    EventType(
        "transaction.failed",
        "a transaction has failed",
        "transaction",
        "`failure_code` says why. What had been received is refunded where possible: transaction.refunded follows.",
        requires=("failure_code",),
        also=("refunded",),
        is_last=True,
        example_of="offramp",
        example={"tx_hash": _TX_HASH, "failure_code": "payout_failed"},
    ),
    EventType(
        "transaction.expired",
        "neither payment nor deposit came before the deadline",
        "transaction",
        "Nothing was received, so nothing goes back. Make a new quote to try again.",
        is_last=True,
    ),
    EventType(
        "transaction.refunded",
        "the money went back to the payer, the refund_address or the balance",
        "transaction",
        "The amount went back in full, fee included.",
        is_last=True,
        example_of="offramp",
        example={"tx_hash": _TX_HASH, "failure_code": "payout_failed"},
    ),
    EventType(
        "wallet.created",
        "a deposit wallet or Lightning address was created",
        "wallet",
        "`data.object` is the wallet, or the Lightning address: that one has a `type`.",
        narrows=False,
    ),
    EventType(
        "deposit.detected",
        "an incoming deposit was seen on-chain, unconfirmed",
        "deposit",
        "Nothing is credited yet: deposit.confirmed or deposit.failed follows.",
    ),
    EventType(
        "deposit.confirmed",
        "a deposit reached its confirmations and is credited",
        "deposit",
        "The balance has it, and there is a transaction of the type `deposit`.",
        is_last=True,
        example={"confirmations": 3},
    ),
    EventType(
        "deposit.failed",
        "a deposit could not be credited",
        "deposit",
        "`reason` says why; nothing is credited.",
        requires=("reason",),
        is_last=True,
        example={
            "id": "dep_6n1sv4x8b2f5j9p3t7wa",
            "wallet_id": "wal_4t8wz2d6h1m5q9s3v7xa",
            "network": "stellar",
            "asset": "USDC",
            "amount": "25.00",
            "tx_hash": "b1946ac92492d2347c6235b4d2611184f0c2a3d95e7b8146c0d9e3f5a7b2c481",
            "confirmations": 1,
            "reason": "missing_memo",
            "created_at": "@-1m",
        },
    ),
    EventType(
        "lightning.invoice_paid",
        "a Lightning invoice was paid",
        "lightning_entry",
        "The balance has it: deposit.confirmed follows with the amount.",
        is_last=True,
    ),
    EventType(
        "lightning.invoice_expired",
        "a Lightning invoice expired unpaid",
        "lightning_entry",
        "It can be paid no more; make a new one.",
        example={"expires_at": "@", "created_at": "@-30m"},
    ),
    EventType(
        "quote.expired",
        "a quote passed its 30 minute validity unused",
        "quote",
        "Of quotes of all four kinds; `data.object` is the quote as its own kind is shown. Make a new one.",
        narrows=False,
    ),
    EventType(
        "beneficiary.created", "a beneficiary was added", "beneficiary", "It can be paid from now on.", narrows=False
    ),
    EventType(
        "beneficiary.deleted",
        "a beneficiary was removed",
        "beneficiary",
        "`data.object` is its last state. It can be paid no more.",
        narrows=False,
        example={"created_at": "@-1d"},
    ),
    EventType(
        "kyc.approved",
        "KYC was approved",
        "kyc",
        "Operations that move money are open to the account. `data.object` is the answer of GET /profile/kyc.",
    ),
    EventType(
        "kyc.action_required",
        "compliance needs more information",
        "kyc",
        "`required_actions` in `data.object` say what is missing.",
        example={
            "required_actions": [
                {"code": "identity_document", "message": "Upload a readable copy of your identity document."}
            ]
        },
    ),
    EventType("kyc.rejected", "KYC was rejected", "kyc", "Operations that move money are refused with kyc_required."),
    EventType(
        "network.status_changed",
        "a network moved between operational, degraded and down",
        "network",
        "`status` in `data.object` is the new one; while it is `down`, make no quotes or transactions there.",
        narrows=False,
    ),
    EventType(
        "webhook.test",
        "POST /webhooks/{id}/test asks for it",
        "webhook",
        "It shows that the receiver checks signatures rightly; nothing has happened.",
        in_status="enabled",
        narrows=False,
    ),
    EventType(
        "recurring_payment.activated", "a recurring payment was activated", "recurring_payment", "`next_run_at` is set."
    ),
    EventType(
        "recurring_payment.run_upcoming",
        "a run is due within the next 24 hours",
        "recurring_payment",
        "`run` tells which run it is and when; see to the balance.",
        narrows=False,
        example={"runs_completed": 3, "activated_at": "@-29d", "run": {"number": 4, "scheduled_for": "@+1d"}},
    ),
    EventType(
        "recurring_payment.run_succeeded",
        "a run created its transaction",
        "recurring_payment",
        "`run.transaction_id` names the transaction, which has events of its own.",
        requires=("run.transaction_id",),
        narrows=False,
        example={
            "runs_completed": 4,
            "activated_at": "@-29d",
            "run": {"number": 4, "scheduled_for": "@", "transaction_id": "txn_1w5yb9f3k7n2r6v4x8za"},
        },
    ),
    EventType(
        "recurring_payment.run_failed",
        "a run failed",
        "recurring_payment",
        "`run.failure_code` says why. The run is not tried again; the next one is as planned.",
        requires=("run.failure_code",),
        narrows=False,
        example={
            "runs_completed": 3,
            "activated_at": "@-29d",
            "run": {"number": 4, "scheduled_for": "@", "failure_code": "insufficient_balance"},
        },
    ),
    EventType(
        "recurring_payment.paused",
        "a recurring payment was paused, by request or after three failed runs in a row",
        "recurring_payment",
        "No run is planned until it is restarted; `pause_reason` says why.",
        example={
            "next_run_at": None,
            "runs_completed": 3,
            "activated_at": "@-29d",
            "paused_at": "@",
            "pause_reason": "repeated_failures",
        },
    ),
    EventType(
        "recurring_payment.completed",
        "the final scheduled run finished",
        "recurring_payment",
        "There are no further runs.",
        example={"next_run_at": None, "runs_completed": 12, "activated_at": "@-29d"},
    ),
    EventType(
        "recurring_payment.restarted",
        "a paused recurring payment was restarted",
        "recurring_payment",
        "`next_run_at` is set; runs that were missed stay so.",
        example={"runs_completed": 3, "activated_at": "@-29d"},
    ),
    EventType(
        "recurring_payment.deleted",
        "a recurring payment was deleted",
        "recurring_payment",
        "There are no further runs; what it has paid stays.",
        example={"next_run_at": None, "runs_completed": 3, "activated_at": "@-29d"},
    ),
)

EVENT_TYPES = by_name("events", _ROWS, lambda row: row.name)
EVENT_MEANINGS = {row.name: f"Sent when {row.sent_when}." for row in _ROWS}


def make(world: World, environment: str, event_type: str, subject: Shown, object_id: str) -> Event:
    """An event with its raw envelope, not yet in the journal; KeyError for a type outside the catalogue."""
    _ = EVENT_TYPES[event_type]
    now_ms, event_id = world.now_ms, world.streams.identifier("evt_", "ids.event")
    envelope: JsonObject = {
        "id": event_id,
        "type": event_type,
        "created_at": format_timestamp(now_ms),
        "livemode": environment == "production",
        "data": {"object": wording.told(world, event_type, subject)},
    }
    raw = dumps(wording.answer(world, envelope))
    return Event(
        id=event_id,
        sequence=world.next_sequence("event"),
        environment=environment,
        type=event_type,
        object_id=object_id,
        at_ms=now_ms,
        text=Text(raw),
        cause=world.cause,
        trace=present_origin(world).trace,
    )


def emit(world: World, environment: str, event_type: str, subject: Shown, object_id: str) -> Event:
    """Emit an event: into the journal, then to everything that listens (webhooks, scenarios); inside a change."""
    event = make(world, environment, event_type, subject, object_id)
    publish(world, event, subject)
    return event


def publish(world: World, event: Event, subject: Shown) -> None:
    """Put an event that was made into the journal and tell everything that listens; inside a change."""
    world.journal.append(event)
    for listener in world.wiring.on_event:
        listener(world, event, subject)
