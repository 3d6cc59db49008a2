"""The state table of fee products: inactive ones cannot be used for new transactions. No moves are specified."""

from __future__ import annotations

from simulator.engine.rows.error import ErrorCode
from simulator.kernel.machine import Machine, Move

STATUSES = {"active": "New operations may use it.", "inactive": "It prices no new operation."}

FEE_PRODUCT = Machine(
    "fee product",
    initial=tuple(Move("publish", status, when=status, basis="R9") for status in STATUSES),
    rows={
        state: tuple(Move("set_fee_product", target, when=target, basis="fee-moves") for target in STATUSES)
        for state in STATUSES
    },
)

AMOUNT_TOO_LOW = ErrorCode(
    "amount_too_low", 422, "below the minimum for the pair or asset", after="unsupported_pair", lasting=True
)

ERRORS = (AMOUNT_TOO_LOW,)
