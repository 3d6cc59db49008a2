"""The state table of beneficiaries, which the API does not return, with the events and error codes of this package."""

from __future__ import annotations

from simulator.engine.rows.error import ErrorCode
from simulator.engine.rows.event import EventType
from simulator.kernel.machine import Machine, Move

BENEFICIARY = Machine(
    "beneficiary",
    initial=(Move("create", "active", ("beneficiary.created",)),),
    rows={"active": (Move("delete", "deleted", ("beneficiary.deleted",)),), "deleted": ()},
)

MEANINGS = {"active": "Saved and not deleted. All listed beneficiaries are active."}
"""The states that lists can be filtered by. Deleted beneficiaries are not listed."""

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
        "beneficiary.created", "a beneficiary was added", "It can now be paid.", narrows=False, after="quote.expired"
    ),
    EventType(
        "beneficiary.deleted",
        "a beneficiary was removed",
        "`data.object` is its last state. It can no longer be paid.",
        narrows=False,
        example={"created_at": "@-1d"},
    ),
)
