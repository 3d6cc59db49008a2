"""The events that this room declares: chapter "Events" of the specification."""

from __future__ import annotations

from simulator.engine.rows.event import EventType

EVENTS = (
    EventType(
        "wallet.created",
        "a deposit wallet or Lightning address was created",
        "wallet",
        "`data.object` is the wallet, or the Lightning address: that one has a `type`.",
        narrows=False,
        after="transaction.refunded",
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
)
