"""The state tables of wallet transactions, one for each type, and the error codes of this package. The specification
lists the states, and the transitions come from decisions S3, S5 to S11 and S17.
"""

from __future__ import annotations

from simulator.engine.rows.error import ErrorCode
from simulator.engine.rows.operation import specified
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
"""An internal transfer makes the transition `settle` immediately. A blockchain decides when `complete` happens."""

SWAP = Machine(
    "swap transaction",
    initial=(Move("swap", "pending"),),
    rows={
        "pending": (Move("complete", "completed", _COMPLETED, basis="S8"), Move("fail", "failed", _FAILED, basis="S8")),
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

SEND_MEANINGS = {
    "pending": "Accepted, but not broadcast or routed yet. The amount is held.",
    "processing": "Broadcast on the chain, or being routed. Internal transfers complete immediately from here.",
    "completed": "Final: the recipient has the money.",
    "failed": "It failed. `failure_code` contains the reason, and the amount is back in the balance.",
}

SWAP_MEANINGS = {
    "pending": "Accepted. The source amount is held.",
    "completed": "The source amount is spent and the target amount is credited.",
    "failed": "Nothing was exchanged. `failure_code` contains the reason, and the held amount is available again.",
}

BUY_MEANINGS = {
    "pending": "It waits for the payer's fiat. Nothing is credited yet.",
    "processing": "The fiat has arrived and the balance is credited. The settlement is in progress.",
    "completed": "Settled: the credit is final.",
    "failed": "The payment was declined or too small, or the purchase was reversed. `failure_code` gives the reason.",
}

WITHDRAW_MEANINGS = {
    "processing": "The payout is in progress and the amount is held.",
    "completed": "The beneficiary has received the fiat.",
    "failed": "The payout was rejected. `failure_code` gives the reason. The amount stays held until it is refunded.",
    "refunded": "The full amount, fee included, is back in the balance.",
}

INSUFFICIENT_BALANCE = ErrorCode(
    "insufficient_balance", 422, "the wallet balance is too low", after="insufficient_deposit"
)
SLIPPAGE_EXCEEDED = ErrorCode("slippage_exceeded", 422, "the swap rate moved beyond the slippage tolerance")

NO_ASSET = ("unsupported_network", "unsupported_asset")
NO_AMOUNT = ("amount_too_low", "amount_too_high")
NO_QUOTE = (
    {"quote_not_found": "S2", "quote_already_used": "S2"}
    | specified("quote_expired")
    | {"unsupported_pair": "M15"}
    | specified("network_unavailable")
)
"""Errors of requests for quotes and estimates (NO_ASSET, NO_AMOUNT), and of requests that use a quote (NO_QUOTE)."""

ERRORS = (INSUFFICIENT_BALANCE, SLIPPAGE_EXCEEDED)
