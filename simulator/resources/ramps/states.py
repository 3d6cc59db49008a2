"""The state tables of ramp transactions: the table "Ramp transaction" of the specification, one per direction.

Decisions S3 (declined payer), S5 (refunds) and S6 (short payments and deposits) add the cells marked so.
"""

from __future__ import annotations

from simulator.kernel.machine import Machine, Move

_FAILED = ("transaction.failed",)
_REFUNDED = ("transaction.refunded",)
_IN_FLIGHT = (
    Move("complete", "completed", ("transaction.completed",)),
    Move("fail", "failed", _FAILED),
    Move("refund", "refunded", _REFUNDED),
)
_ENDED = {
    "completed": (Move("refund", "refunded", _REFUNDED),),
    "failed": (Move("refund", "refunded", _REFUNDED),),
    "expired": (),
    "refunded": (),
}

ONRAMP = Machine(
    "onramp transaction",
    initial=(Move("confirm", "awaiting_payment", ("transaction.created", "transaction.awaiting_payment")),),
    rows={
        "awaiting_payment": (
            Move("payment_arrives", "processing", ("transaction.processing",), when="in full"),
            Move("payment_arrives", "failed", _FAILED, when="short", basis="S6"),
            Move("payment_declined", "failed", _FAILED, basis="S3"),
            Move("expire", "expired", ("transaction.expired",)),
        ),
        "processing": _IN_FLIGHT,
        **_ENDED,
    },
)

OFFRAMP = Machine(
    "offramp transaction",
    initial=(Move("confirm", "awaiting_deposit", ("transaction.created", "transaction.awaiting_deposit")),),
    rows={
        "awaiting_deposit": (
            Move("deposit_arrives", "processing", ("transaction.processing",), when="in full"),
            Move("deposit_arrives", "failed", _FAILED, when="short", basis="S6"),
            Move("expire", "expired", ("transaction.expired",)),
        ),
        "processing": _IN_FLIGHT,
        **_ENDED,
    },
)

MEANINGS = {
    "awaiting_payment": "The onramp waits for the payer's fiat.",
    "awaiting_deposit": "The offramp waits for the crypto deposit.",
    "processing": "The money has arrived; conversion or payout is under way.",
    "completed": "The recipient has it: the crypto was delivered (onramp), the fiat paid out (offramp).",
    "failed": "It came to nothing; `failure_code` says why. What was received is refunded when possible.",
    "expired": "Nothing arrived before the quote's `expires_at`.",
    "refunded": "What was received went back, to the payer or to the `refund_address`.",
}
"""What each status of a ramp says to the integrator."""
