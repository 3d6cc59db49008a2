"""The catalogue of event types and the making of an event: its envelope once, as raw bytes (decision W7).

Chapter "Events" of the specification, decision W8.
"""

from __future__ import annotations

from dataclasses import dataclass

from simulator.kernel.clock import format_timestamp
from simulator.kernel.journal import Event
from simulator.kernel.world import World
from simulator.wire.json import Shown, dumps


@dataclass(frozen=True, slots=True)
class EventType:
    """One row of the event catalogue: the type, when it is sent, and what `data.object` is."""

    name: str
    sent_when: str
    object: str


_ROWS = (
    EventType("transaction.created", "an onramp or offramp transaction is created", "transaction"),
    EventType("transaction.awaiting_payment", "an onramp waits for the fiat payment", "transaction"),
    EventType("transaction.awaiting_deposit", "an offramp waits for the crypto deposit", "transaction"),
    EventType("transaction.processing", "payment or deposit received, or a wallet operation accepted", "transaction"),
    EventType("transaction.completed", "crypto delivered, fiat paid out, or a send is final", "transaction"),
    EventType("transaction.failed", "the transaction failed; carries failure_code", "transaction"),
    EventType("transaction.expired", "the quote expired before payment or deposit", "transaction"),
    EventType("transaction.refunded", "funds returned to the payer, the refund_address or the balance", "transaction"),
    EventType("wallet.created", "a deposit wallet or Lightning address was created", "wallet"),
    EventType("deposit.detected", "an incoming deposit was seen on-chain, unconfirmed", "deposit"),
    EventType("deposit.confirmed", "a deposit reached its confirmations and is credited", "deposit"),
    EventType("deposit.failed", "a deposit could not be credited", "deposit"),
    EventType("lightning.invoice_paid", "a Lightning invoice was paid", "lightning_entry"),
    EventType("lightning.invoice_expired", "a Lightning invoice expired unpaid", "lightning_entry"),
    EventType("quote.expired", "a quote passed its 30 minute validity unused", "quote"),
    EventType("beneficiary.created", "a beneficiary was added", "beneficiary"),
    EventType("beneficiary.deleted", "a beneficiary was removed", "beneficiary"),
    EventType("kyc.approved", "KYC was approved", "kyc"),
    EventType("kyc.action_required", "compliance needs more information", "kyc"),
    EventType("kyc.rejected", "KYC was rejected", "kyc"),
    EventType("network.status_changed", "a network moved between operational, degraded and down", "network"),
    EventType("webhook.test", "sent by POST /webhooks/{id}/test", "webhook"),
    EventType("recurring_payment.activated", "a recurring payment was activated", "recurring_payment"),
    EventType("recurring_payment.run_upcoming", "a run is due within the next 24 hours", "recurring_payment"),
    EventType("recurring_payment.run_succeeded", "a run created its transaction", "recurring_payment"),
    EventType("recurring_payment.run_failed", "a run failed", "recurring_payment"),
    EventType("recurring_payment.paused", "paused by hand or after repeated failures", "recurring_payment"),
    EventType("recurring_payment.completed", "the final scheduled run finished", "recurring_payment"),
    EventType("recurring_payment.restarted", "a paused recurring payment was restarted", "recurring_payment"),
    EventType("recurring_payment.deleted", "a recurring payment was deleted", "recurring_payment"),
)

EVENT_TYPES = {row.name: row for row in _ROWS}


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
