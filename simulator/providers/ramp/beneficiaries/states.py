"""The state table of a beneficiary: saved, then deleted. The state is not shown on the wire."""

from __future__ import annotations

from simulator.engine.rows.error import ErrorCode
from simulator.engine.rows.event import EventType
from simulator.kernel.machine import Machine, Move

BENEFICIARY = Machine(
    "beneficiary",
    initial=(Move("create", "active", ("beneficiary.created",)),),
    rows={"active": (Move("delete", "deleted", ("beneficiary.deleted",)),), "deleted": ()},
)

MEANINGS = {"active": "Saved, and not deleted: every beneficiary that is listed."}
"""Of the states that a list can be asked for; a deleted beneficiary is not listed."""

BENEFICIARY_MISMATCH = ErrorCode(
    "beneficiary_mismatch",
    422,
    "the beneficiary's currency or method does not match the quote",
    after="invalid_wallet_address",
    lasting=True,
)
UNSUPPORTED_PROVIDER = ErrorCode(
    "unsupported_provider",
    422,
    "the mobile money provider is not supported in the country",
    after="invalid_bank_account",
    lasting=True,
)

ERRORS = (BENEFICIARY_MISMATCH, UNSUPPORTED_PROVIDER)

EVENTS = (
    EventType(
        "beneficiary.created",
        "a beneficiary was added",
        "beneficiary",
        "It can be paid from now on.",
        narrows=False,
        after="quote.expired",
    ),
    EventType(
        "beneficiary.deleted",
        "a beneficiary was removed",
        "beneficiary",
        "`data.object` is its last state. It can be paid no more.",
        narrows=False,
        example={"created_at": "@-1d"},
    ),
)
