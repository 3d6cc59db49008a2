"""The state tables of ramp transactions, one for each direction (table "Ramp transaction"). The specification does not
contain the transitions from decisions S3 (declined payer), S5 (refunds) and S6 (payments and deposits that are too
low).
"""

from __future__ import annotations

from simulator.kernel.machine import Machine, Move

_FAILED = ("transaction.failed",)
_REFUND = Move("refund", "refunded", ("transaction.refunded",))
_IN_FLIGHT = (Move("complete", "completed", ("transaction.completed",)), Move("fail", "failed", _FAILED), _REFUND)
_ENDED = {"completed": (_REFUND,), "failed": (_REFUND,), "expired": (), "refunded": ()}

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

_END_MEANINGS = {
    "failed": "It failed. `failure_code` contains the reason. Received funds are refunded if possible.",
    "expired": "Nothing arrived before the quote's `expires_at`.",
}

ONRAMP_MEANINGS = {
    "awaiting_payment": "The payer was asked for the fiat. Nothing has arrived yet.",
    "processing": "The fiat has arrived and the crypto is on its way to `wallet_address`.",
    "completed": "The crypto has been delivered.",
    **_END_MEANINGS,
    "refunded": "The fiat was returned to the payer, fee included.",
}

OFFRAMP_MEANINGS = {
    "awaiting_deposit": "The service waits for the crypto at `deposit.address`. Nothing has arrived yet.",
    "processing": "The deposit is confirmed on-chain and the payout is in progress.",
    "completed": "The beneficiary has received the fiat.",
    **_END_MEANINGS,
    "refunded": "The deposit was returned to the `refund_address`, fee included.",
}

FAILURE_MEANINGS = {
    "payment_failed": "The payer's provider declined the payment.",
    "payout_failed": "The beneficiary's bank or provider rejected the payout.",
    "insufficient_payment": "The payer paid less than the full amount.",
    "insufficient_deposit": "The deposit was less than the quoted amount.",
    "network_unavailable": "The network was down for too long.",
    "slippage_exceeded": "The rate moved beyond the slippage tolerance.",
    "internal_error": "An unexpected error in the service.",
}
"""The failure codes of transactions of all types (decision S4)."""
