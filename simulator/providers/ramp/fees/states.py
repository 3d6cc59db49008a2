"""The state table of fee products, and the error codes of this package. The specification defines no transitions."""

from __future__ import annotations

from simulator.engine.rows.error import ErrorCode
from simulator.kernel.machine import Machine, Move

STATUSES = {"active": "It prices new operations.", "inactive": "It does not price new operations."}

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
