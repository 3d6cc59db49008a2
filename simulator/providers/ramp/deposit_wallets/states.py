"""The state tables of deposit wallets, Lightning entries and deposits.

Tables "Lightning invoice" and "Other status sets" of the specification; decisions S12, S13 and S15 fill the gaps.
"""

from __future__ import annotations

from simulator.kernel.machine import Machine, Move

_CREATED = ("wallet.created",)
_CONFIRMED = ("deposit.confirmed",)
_FAILED = ("deposit.failed",)

WALLET = Machine(
    "deposit wallet",
    initial=(Move("create", "active", _CREATED),),
    rows={
        "active": (Move("disable", "disabled"),),
        "disabled": (Move("enable", "active", basis="S15"),),
    },
)

LIGHTNING_ADDRESS = Machine(
    "Lightning address",
    initial=(Move("create", "active", _CREATED),),
    rows={
        "active": (
            Move("lightning_payment_arrives", "active", basis="S13"),
            Move("delete", "disabled"),
        ),
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
    "disabled": "It receives nothing any more: a deposit that arrives fails. It can be enabled again.",
}

LIGHTNING_ADDRESS_MEANINGS = {
    "active": "It can be paid any number of times.",
    "disabled": "It can be paid no more.",
}

INVOICE_MEANINGS = {
    "pending": "It waits for its one payment until `expires_at`, or until a payment in flight by then has ended.",
    "paid": "It was paid, and the balance is credited.",
    "expired": "It was not paid in time and cannot be paid any more.",
    "disabled": "It was withdrawn before it was paid.",
}

LIGHTNING_MEANINGS = {
    "active": "A Lightning address that can be paid.",
    **INVOICE_MEANINGS,
    "disabled": "A Lightning address or an invoice that can be paid no more.",
}

DEPOSIT_MEANINGS = {
    "detected": "Seen on the chain, without the confirmations it needs; nothing is credited yet.",
    "confirmed": "Credited to the balance.",
    "failed": "It could not be credited; `reason` says why.",
}
