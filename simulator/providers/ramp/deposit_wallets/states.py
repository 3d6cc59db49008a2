"""The state tables of deposit wallets, Lightning entries and deposits, with the events and error codes of this
package. Decisions S12, S13 and S15 complete the tables "Lightning invoice" and "Other status sets" of the
specification.
"""

from __future__ import annotations

from simulator.engine.rows.error import ErrorCode
from simulator.engine.rows.event import EventType
from simulator.kernel.machine import Machine, Move

_CREATED = ("wallet.created",)
_CONFIRMED = ("deposit.confirmed",)
_FAILED = ("deposit.failed",)

WALLET = Machine(
    "deposit wallet",
    initial=(Move("create", "active", _CREATED),),
    rows={"active": (Move("disable", "disabled"),), "disabled": (Move("enable", "active", basis="S15"),)},
)

LIGHTNING_ADDRESS = Machine(
    "Lightning address",
    initial=(Move("create", "active", _CREATED),),
    rows={
        "active": (Move("lightning_payment_arrives", "active", basis="S13"), Move("delete", "disabled")),
        "disabled": (),
    },
)

INVOICE = Machine(
    "Lightning invoice",
    initial=(Move("create", "pending"),),
    rows={
        "pending": (
            Move("invoice_paid", "paid", ("lightning.invoice_paid",)),
            Move("expire", "expired", ("lightning.invoice_expired",)),
            Move("delete", "disabled", basis="S13"),
        ),
        "paid": (),
        "expired": (),
        "disabled": (),
    },
)

DEPOSIT = Machine(
    "deposit",
    initial=(
        Move("deposit_arrives", "detected", ("deposit.detected",)),
        Move("deposit_arrives", "failed", _FAILED, when="not creditable", basis="S12"),
        Move("invoice_paid", "confirmed", _CONFIRMED, basis="S13"),
        Move("lightning_payment_arrives", "confirmed", _CONFIRMED, basis="S13"),
    ),
    rows={
        "detected": (
            Move("deposit_confirms", "confirmed", _CONFIRMED),
            Move("confirmation_arrives", "detected", when="too few", basis="S12"),
            Move("confirmation_arrives", "confirmed", _CONFIRMED, when="enough", basis="S12"),
            Move("deposit_fails", "failed", _FAILED),
        ),
        "confirmed": (),
        "failed": (),
    },
)

WALLET_MEANINGS = {
    "active": "Deposits to it are credited.",
    "disabled": "Deposits to it fail. It can be enabled again.",
}

LIGHTNING_ADDRESS_MEANINGS = {"active": "It can be paid any number of times.", "disabled": "It can no longer be paid."}

INVOICE_MEANINGS = {
    "pending": "It waits for its payment until `expires_at`, or until a payment in flight at that time has ended.",
    "paid": "It was paid, and the balance is credited.",
    "expired": "It was not paid in time and can no longer be paid.",
    "disabled": "It was disabled before it was paid.",
}

LIGHTNING_MEANINGS = {
    "active": "A Lightning address that can be paid.",
    **INVOICE_MEANINGS,
    "disabled": "A Lightning address or an invoice that can no longer be paid.",
}

DEPOSIT_MEANINGS = {
    "detected": "Detected on the chain, without enough confirmations. Nothing is credited yet.",
    "confirmed": "Credited to the balance.",
    "failed": "It could not be credited. `reason` contains the reason.",
}

INVOICE_EXPIRED = ErrorCode(
    "invoice_expired", 422, "the Lightning invoice expired before payment", after="unsupported_asset", lasting=True
)
WALLET_DISABLED = ErrorCode("wallet_disabled", 409, "the wallet is disabled and cannot receive funds")

ERRORS = (INVOICE_EXPIRED, WALLET_DISABLED)

EVENTS = (
    EventType(
        "wallet.created",
        "a deposit wallet or Lightning address was created",
        "`data.object` is the wallet or the Lightning address. Only a Lightning address has a `type`.",
        narrows=False,
        after="transaction.refunded",
    ),
    EventType(
        "deposit.detected",
        "an incoming deposit was seen on-chain, unconfirmed",
        "Nothing is credited yet. deposit.confirmed or deposit.failed follows.",
    ),
    EventType(
        "deposit.confirmed",
        "a deposit reached its confirmations and is credited",
        "The balance is credited, and there is a transaction of type `deposit`.",
        is_last=True,
        example={"confirmations": 3},
    ),
    EventType(
        "deposit.failed",
        "a deposit could not be credited",
        "`reason` contains the reason. Nothing is credited.",
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
        "The balance is credited. deposit.confirmed follows with the amount.",
        is_last=True,
        of="lightning_entry",
    ),
    EventType(
        "lightning.invoice_expired",
        "a Lightning invoice expired unpaid",
        "It can no longer be paid. Create a new one.",
        example={"expires_at": "@", "created_at": "@-30m"},
        of="lightning_entry",
    ),
)
