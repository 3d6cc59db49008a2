"""The catalogue of event types and the making of an event: its envelope once, as raw bytes (decision W7).

Chapter "Events" of the specification, decision W8.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from simulator.kernel.clock import format_timestamp
from simulator.kernel.journal import Event
from simulator.kernel.world import World
from simulator.wire.json import JsonObject, Shown, dumps
from simulator.wire.rows import by_name


@dataclass(frozen=True, slots=True)
class EventType:
    """One row of the event catalogue: the type, when it is sent, and what `data.object` is.

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
    requires: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    narrows: bool = True
    in_status: str = ""
    is_last: bool = False
    example_of: str = ""
    example: JsonObject = field(default_factory=dict)


_TX_HASH = "0x3f1c9a7be2d4058617c3f9ab24de6071859bc3f2a7d0e416582b9cf3a1d7e604"

_ROWS = (
    EventType("transaction.created", "an onramp or offramp transaction is created", "transaction"),
    EventType("transaction.awaiting_payment", "an onramp waits for the fiat payment", "transaction"),
    EventType(
        "transaction.awaiting_deposit", "an offramp waits for the crypto deposit", "transaction", example_of="offramp"
    ),
    EventType(
        "transaction.processing",
        "payment or deposit received, or a wallet operation accepted",
        "transaction",
        example_of="offramp",
        example={"tx_hash": _TX_HASH},
    ),
    EventType(
        "transaction.completed",
        "crypto delivered, fiat paid out, or a send is final",
        "transaction",
        is_last=True,
        example_of="offramp",
        example={"tx_hash": _TX_HASH},
    ),
    EventType(
        "transaction.failed",
        "the transaction failed; carries failure_code",
        "transaction",
        requires=("failure_code",),
        also=("refunded",),
        is_last=True,
        example_of="offramp",
        example={"tx_hash": _TX_HASH, "failure_code": "payout_failed"},
    ),
    EventType("transaction.expired", "the quote expired before payment or deposit", "transaction", is_last=True),
    EventType(
        "transaction.refunded",
        "funds returned to the payer, the refund_address or the balance",
        "transaction",
        is_last=True,
        example_of="offramp",
        example={"tx_hash": _TX_HASH, "failure_code": "payout_failed"},
    ),
    EventType("wallet.created", "a deposit wallet or Lightning address was created", "wallet", narrows=False),
    EventType("deposit.detected", "an incoming deposit was seen on-chain, unconfirmed", "deposit"),
    EventType(
        "deposit.confirmed",
        "a deposit reached its confirmations and is credited",
        "deposit",
        is_last=True,
        example={"confirmations": 3},
    ),
    EventType(
        "deposit.failed",
        "a deposit could not be credited",
        "deposit",
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
    EventType("lightning.invoice_paid", "a Lightning invoice was paid", "lightning_entry", is_last=True),
    EventType(
        "lightning.invoice_expired",
        "a Lightning invoice expired unpaid",
        "lightning_entry",
        example={"expires_at": "@", "created_at": "@-30m"},
    ),
    EventType("quote.expired", "a quote passed its 30 minute validity unused", "quote", narrows=False),
    EventType("beneficiary.created", "a beneficiary was added", "beneficiary", narrows=False),
    EventType(
        "beneficiary.deleted", "a beneficiary was removed", "beneficiary", narrows=False, example={"created_at": "@-1d"}
    ),
    EventType("kyc.approved", "KYC was approved", "kyc"),
    EventType(
        "kyc.action_required",
        "compliance needs more information",
        "kyc",
        example={
            "required_actions": [
                {"code": "identity_document", "message": "Upload a readable copy of your identity document."}
            ]
        },
    ),
    EventType("kyc.rejected", "KYC was rejected", "kyc"),
    EventType(
        "network.status_changed", "a network moved between operational, degraded and down", "network", narrows=False
    ),
    EventType("webhook.test", "sent by POST /webhooks/{id}/test", "webhook", in_status="enabled", narrows=False),
    EventType("recurring_payment.activated", "a recurring payment was activated", "recurring_payment"),
    EventType(
        "recurring_payment.run_upcoming",
        "a run is due within the next 24 hours",
        "recurring_payment",
        narrows=False,
        example={"runs_completed": 3, "activated_at": "@-29d", "run": {"number": 4, "scheduled_for": "@+1d"}},
    ),
    EventType(
        "recurring_payment.run_succeeded",
        "a run created its transaction",
        "recurring_payment",
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
        "paused by hand or after repeated failures",
        "recurring_payment",
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
        example={"next_run_at": None, "runs_completed": 12, "activated_at": "@-29d"},
    ),
    EventType(
        "recurring_payment.restarted",
        "a paused recurring payment was restarted",
        "recurring_payment",
        example={"runs_completed": 3, "activated_at": "@-29d"},
    ),
    EventType(
        "recurring_payment.deleted",
        "a recurring payment was deleted",
        "recurring_payment",
        example={"next_run_at": None, "runs_completed": 3, "activated_at": "@-29d"},
    ),
)

EVENT_TYPES = by_name("events", _ROWS, lambda row: row.name)


def make(world: World, environment: str, event_type: str, subject: Shown, object_id: str) -> Event:
    """An event with its raw envelope, not yet in the journal; KeyError for a type outside the catalogue."""
    _ = EVENT_TYPES[event_type]
    event_id = world.streams.identifier("evt_", "ids.event")
    raw = dumps(
        {
            "id": event_id,
            "type": event_type,
            "created_at": format_timestamp(world.now_ms),
            "livemode": environment == "production",
            "data": {"object": subject},
        }
    )
    return Event(
        id=event_id,
        sequence=world.next_sequence("event"),
        environment=environment,
        type=event_type,
        object_id=object_id,
        at_ms=world.now_ms,
        raw=raw,
        cause=world.cause,
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
