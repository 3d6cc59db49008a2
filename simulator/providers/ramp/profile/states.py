"""The state tables of KYC and of the profile's status, with the events and error codes of this package. The
specification lists no transitions, so every transition to another status is an assumption.
"""

from __future__ import annotations

from collections.abc import Collection

from simulator.engine.rows.error import ErrorCode
from simulator.engine.rows.event import EventType
from simulator.kernel.machine import Machine, Move

KYC_STATUSES = {
    "not_started": "No documents have been submitted.",
    "pending": "Documents were submitted. Compliance has not decided yet.",
    "action_required": "Compliance requires more. See `required_actions` of the KYC detail.",
    "approved": "The account can move money.",
    "rejected": "Compliance rejected the account.",
}
PROFILE_STATUSES = {
    "active": "The account can be used.",
    "suspended": "The account is temporarily closed. Only the profile can be read.",
    "closed": "The account is permanently closed. Only the profile can be read.",
}

_KYC_EVENTS = {
    "approved": ("kyc.approved",),
    "action_required": ("kyc.action_required",),
    "rejected": ("kyc.rejected",),
}


def _rows(on: str, states: Collection[str], basis: str) -> dict[str, tuple[Move, ...]]:
    """Return a transition from each state to each other state."""
    moves = [Move(on, target, _KYC_EVENTS.get(target, ()), when=target, basis=basis) for target in states]
    return {state: tuple(move for move in moves if move.target != state) for state in states}


KYC = Machine("kyc", (Move("open", "approved", basis="fresh-account"),), _rows("set_kyc", KYC_STATUSES, "kyc-moves"))
PROFILE = Machine(
    "profile", (Move("open", "active", basis="fresh-account"),), _rows("set_profile", PROFILE_STATUSES, "profile-moves")
)

KYC_REQUIRED = ErrorCode(
    "kyc_required", 403, "the account has not passed KYC", anywhere=True, after="environment_mismatch"
)
PRODUCTION_ACCESS_REQUIRED = ErrorCode(
    "production_access_required", 403, "live keys before production access was approved", anywhere=True
)
AMOUNT_TOO_HIGH = ErrorCode("amount_too_high", 422, "above the limit for the pair or account", after="amount_too_low")

ERRORS = (KYC_REQUIRED, PRODUCTION_ACCESS_REQUIRED, AMOUNT_TOO_HIGH)

EVENTS = (
    EventType(
        "kyc.approved",
        "KYC was approved",
        "The account can now move money. `data.object` is the response of GET /profile/kyc.",
        after="beneficiary.deleted",
    ),
    EventType(
        "kyc.action_required",
        "compliance needs more information",
        "`required_actions` in `data.object` has the missing information.",
        example={
            "required_actions": [
                {"code": "identity_document", "message": "Upload a readable copy of your identity document."}
            ]
        },
    ),
    EventType("kyc.rejected", "KYC was rejected", "Operations that move money are refused with kyc_required."),
)
