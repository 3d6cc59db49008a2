"""The events that this room declares: chapter "Events" of the specification."""

from __future__ import annotations

from simulator.engine.rows.event import EventType

EVENTS = (
    EventType(
        "kyc.approved",
        "KYC was approved",
        "kyc",
        "Operations that move money are open to the account. `data.object` is the answer of GET /profile/kyc.",
        after="beneficiary.deleted",
    ),
    EventType(
        "kyc.action_required",
        "compliance needs more information",
        "kyc",
        "`required_actions` in `data.object` say what is missing.",
        example={
            "required_actions": [
                {"code": "identity_document", "message": "Upload a readable copy of your identity document."}
            ]
        },
    ),
    EventType("kyc.rejected", "KYC was rejected", "kyc", "Operations that move money are refused with kyc_required."),
)
