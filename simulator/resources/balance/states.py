"""The state tables of wallet transactions, one per type.

"Wallet transaction (send, swap, buy, withdraw)" of the specification names the states; the moves between them are
decisions S3, S5 to S11 and S17.
"""

from __future__ import annotations

from simulator.kernel.machine import Machine, Move

_PROCESSING = ("transaction.processing",)
_COMPLETED = ("transaction.completed",)
_FAILED = ("transaction.failed",)
_REFUND = Move("refund", "refunded", ("transaction.refunded",), basis="S5")

SEND = Machine(
    "send transaction",
    initial=(
        Move("send", "pending", when="on-chain"),
        Move("send", "processing", _PROCESSING, when="internal", basis="S9"),
    ),
    rows={
        "pending": (
            Move("broadcast", "processing", _PROCESSING, basis="S9"),
            Move("fail", "failed", _FAILED, basis="S11"),
        ),
        "processing": (
            Move("settle", "completed", _COMPLETED, basis="S9"),
            Move("complete", "completed", _COMPLETED, basis="S9"),
            Move("fail", "failed", _FAILED, basis="S11"),
        ),
        "completed": (),
        "failed": (),
    },
)
"""`settle` is what happens to internal transfers at once, `complete` what the chain does."""

SWAP = Machine(
    "swap transaction",
    initial=(Move("swap", "pending"),),
    rows={
        "pending": (
            Move("complete", "completed", _COMPLETED, basis="S8"),
            Move("fail", "failed", _FAILED, basis="S8"),
        ),
        "completed": (),
        "failed": (),
    },
)

BUY = Machine(
    "buy transaction",
    initial=(Move("buy", "pending"),),
    rows={
        "pending": (
            Move("payment_arrives", "processing", _PROCESSING, when="in full"),
            Move("payment_arrives", "failed", _FAILED, when="short", basis="S6"),
            Move("payment_declined", "failed", _FAILED, basis="S3"),
            Move("fail", "failed", _FAILED, basis="S11"),
        ),
        "processing": (
            Move("complete", "completed", _COMPLETED, basis="S7"),
            Move("fail", "failed", _FAILED, basis="S7"),
        ),
        "completed": (),
        "failed": (),
    },
)

WITHDRAW = Machine(
    "withdraw transaction",
    initial=(Move("withdraw", "processing", _PROCESSING),),
    rows={
        "processing": (
            Move("complete", "completed", _COMPLETED, basis="S10"),
            Move("fail", "failed", _FAILED, basis="S10"),
            _REFUND,
        ),
        "completed": (_REFUND,),
        "failed": (_REFUND,),
        "refunded": (),
    },
)
